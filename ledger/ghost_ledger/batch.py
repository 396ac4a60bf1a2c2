"""One transaction of the recorder: entries get their place, are signed, and all lands together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import IntegrityError, NotFoundError
from ghost_ledger import chain, derivation, entry, payloads, rows, seal, statement, tiles, tree
from ghost_ledger.canonical import Value
from ghost_ledger.chain import ChainEnd, LogState, Signer
from ghost_ledger.derivation import Change, Fact, Key
from ghost_ledger.drafts import Draft, Receipt
from ghost_ledger.lending import AT_ONCE, Lender, Part, Run
from ghost_ledger.payloads import DataKeys, PayloadTuple
from ghost_ledger.statement import Sealed

__all__ = ["Batch", "Work"]

type Work = Callable[["Batch"], tuple[Receipt, ...]]
"""What a call does inside the transaction: append its drafts, or look first and then append."""

type EntryTuple = tuple[int, str, int, bytes, str, str, int, bytes, bytes, bytes]

_ENTRIES: Final = (
    "idx", "sid", "seq", "prev", "type", "id", "ts", "body", "sig", "leaf_hash",
)  # fmt: skip
_PAYLOADS: Final = (
    "entry_idx", "field", "salt", "commitment", "data", "size", "truncated", "media",
)  # fmt: skip
_ENDINGS: Final = frozenset({"session.closed", "session.seal"})
_NAMING: Final = frozenset({"session.spawn", "log.init"})  # these name the log key in force
_LEAVES: Final = sa.text("SELECT leaf_hash FROM entries WHERE sid = :sid ORDER BY seq")


@dataclass(slots=True)
class Batch:
    """What one transaction appends; a refused call leaves no trace in it."""

    connection: Connection
    state: LogState
    signers: Mapping[str, Signer]
    ends: dict[str, ChainEnd]
    keys: DataKeys
    now_us: int
    stores_payloads: bool = True
    _written: int = 0
    _vkey: str = ""
    _entries: list[EntryTuple] = field(default_factory=list)
    _payloads: list[PayloadTuple] = field(default_factory=list)
    _facts: list[Fact] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._written, self._vkey = self.state.frontier.size, self.state.vkey

    def perform(self, work: Work) -> tuple[Receipt, ...]:
        """Run one call; if it raises, everything it appended is taken back."""
        state, ends = self.state, dict(self.ends)
        marks = len(self._entries), len(self._payloads), len(self._facts)
        done = False
        try:
            receipts = work(self)
            done = True
        finally:
            if not done:
                self.state, self.ends = state, ends
                del self._entries[marks[0] :], self._payloads[marks[1] :], self._facts[marks[2] :]
        return receipts

    def append(self, drafts: Iterable[Draft]) -> tuple[Receipt, ...]:
        """Give each draft its place, sign it, and keep it for the write.

        Raises:
            NotFoundError: code `ledger.unattached`, the session's key is not here.
            DeniedError: the session is sealed or abandoned.
            IntegrityError: a field is wrong, or the entry is out of order.
        """
        return tuple([self._append(_checked(draft)) for draft in drafts])

    def append_lent(self, drafts: Sequence[Draft], lender: Lender) -> tuple[Receipt, ...]:
        """Append drafts of one session whose key another process holds; it signs many at a time.

        Raises as `append`, and UnsignedError.
        """
        receipts: list[Receipt] = []
        for some in batched(map(_checked, drafts), AT_ONCE):
            end = self._end(some[0], lender.signer)
            _, ts = self._time()
            parts = [Part(draft.type, draft.id, self._fields(draft)) for draft in some]
            lender.lend(Run(end, ts, parts))
            for draft in some:
                receipts.append(self._place(draft, lender.signer, end))
                end = self.ends[draft.sid]
        return tuple(receipts)

    def append_seal(self, sid: str, closed: Draft, seal_id: str) -> tuple[Receipt, ...]:
        """Append `session.closed`, then the seal over every entry of the session so far.

        The key signs the statement too, since it is gone later.
        """
        self.write_rows()
        first = self._append(closed)
        stored = self.connection.execute(_LEAVES, {"sid": sid}).scalars()
        leaves = [*stored, first.leaf_hash]
        key, root = self.signers[sid].key, tree.root(leaves)
        signed = seal.sign_seal(key, self.state.origin, sid, leaves)
        last = entry.parse_envelope(first.body)
        fields: dict[str, Value] = {
            "note": signed.decode(),
            "root": root.hex(),
            "size": len(leaves),
            "dsse": statement.sign(key, Sealed(last, leaves[0], len(leaves), root)),
        }
        return first, self._append(Draft(sid, "session.seal", seal_id, fields))

    def write_rows(self) -> None:
        """Insert what was appended since the last call, and what is derived from it."""
        rows.insert_many(self.connection, "entries", _ENTRIES, self._entries)
        rows.insert_many(self.connection, "payloads", _PAYLOADS, self._payloads)
        folded: dict[Key, Change] = {}
        for fact in self._facts:
            derivation.fold(folded, derivation.changes(fact))
        rows.apply(self.connection, folded.values())
        self._entries, self._payloads, self._facts = [], [], []

    def finish(self) -> None:
        """Write the rest, full tiles and the head; the commit follows."""
        self.write_rows()
        size = self.state.frontier.size
        if size == self._written:
            return
        tiles.write_full(self.connection, old_size=self._written, new_size=size)
        head: dict[str, object] = {
            "size": size,
            "frontier": self.state.frontier.encode(),
            "last_ts": self.state.last_ts,
        }
        if self.state.vkey != self._vkey:
            head["vkey"] = self.state.vkey
        rows.update_head(self.connection, origin=self.state.origin, values=head)

    def _append(self, draft: Draft) -> Receipt:
        signer = self.signers.get(draft.sid)
        if signer is None:
            raise NotFoundError(
                f"session {draft.sid}: its key is not held by this process",
                code="ledger.unattached",
                hint="ghost session list",
            )
        return self._place(draft, signer, self._end(draft, signer))

    def _end(self, draft: Draft, signer: Signer) -> ChainEnd:
        end = self.ends.get(draft.sid)
        if end is None:
            end = chain.load_end(self.connection, draft.sid, signer)
        if end.seq == 0 or draft.type == "session.spawn":
            chain.check_first(draft, end, signer)
        return end

    def _time(self) -> tuple[bool, int]:
        """Return whether the clock was behind the entry before, and the time of the next one."""
        clamped = self.now_us < self.state.last_ts
        return clamped, self.state.last_ts if clamped else self.now_us

    def _fields(self, draft: Draft) -> Mapping[str, Value]:
        clamped, _ = self._time()
        fields = draft.fields
        if draft.type in _NAMING:  # it may have changed since the draft was made
            fields = {**fields, "log_vkey": self.state.vkey}
        return {**fields, "clk": "clamped"} if clamped else fields

    def _place(self, draft: Draft, signer: Signer, end: ChainEnd) -> Receipt:
        state = self.state
        _, ts = self._time()
        body = entry.build(
            draft.type,
            log=state.origin,
            sid=draft.sid,
            seq=end.seq,
            prev=end.prev,
            ts=ts,
            id_=draft.id,
            fields=self._fields(draft),
        )
        signature = signer.key.sign(body + b"\n")
        leaf = tree.leaf_hash(entry.leaf(body, signature, signer.name, signer.key_id))
        idx = state.frontier.size
        receipt = Receipt(idx, draft.sid, end.seq, leaf, body, signature, ts)
        self._keep(draft, receipt, signer, end)
        self.state = LogState(state.origin, state.vkey, state.frontier.append(leaf), ts)
        self.ends[draft.sid] = ChainEnd(end.seq + 1, leaf.hex())
        return receipt

    def _keep(self, draft: Draft, receipt: Receipt, signer: Signer, end: ChainEnd) -> None:
        payloads.check(draft)
        idx, leaf, signature = receipt.idx, receipt.leaf_hash, receipt.signature
        if self.stores_payloads:
            for payload in draft.payloads:
                key = self.keys.obtain(self.connection, draft.sid)
                self._payloads.append(payloads.sealed_row(idx, payload, key))
        prev = bytes.fromhex(end.prev)
        self._entries.append((
            idx, draft.sid, end.seq, prev, draft.type, draft.id, receipt.ts,
            receipt.body, signature, leaf,
        ))  # fmt: skip
        if draft.type in derivation.DERIVED:
            fact = Fact(
                idx=idx,
                sid=draft.sid,
                type=draft.type,
                id=draft.id,
                ts=receipt.ts,
                fields=draft.fields,
                signature=signature,
                leaf_hash=leaf,
                key_hash=signer.key_hash,
                extra=draft.extra,
            )
            self._facts.append(fact)


def _checked(draft: Draft) -> Draft:
    """Refuse the two last entries of a session, which only `append_seal` writes, together."""
    if draft.type in _ENDINGS:
        raise IntegrityError(
            f"session {draft.sid}: {draft.type} is only written by sealing it", code="ledger.order"
        )
    return draft
