"""Everything that a view of one session is computed from, gathered in one place.

The verdict comes from `ghost_ledger.verify` over the bundle; what only the home knows, the head memory
and the derived columns, is judged here and joins it as further axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ghost_core.errors import GhostError, IncompleteError, IntegrityError, NotFoundError
from ghost_core.paths import Home
from ghost_ledger import bundle as bundles
from ghost_ledger import heads, identity
from ghost_ledger.bundle import BUNDLE_LIMIT, Bundle
from ghost_ledger.entry import Entry, check_content, open_leaf, parse_envelope
from ghost_ledger.export import columns, stock
from ghost_ledger.export.actions import Signed
from ghost_ledger.export.columns import Difference
from ghost_ledger.export.source import Source, Witnessed
from ghost_ledger.export.stock import Erasure, Stock
from ghost_ledger.handovers import KeptHandovers
from ghost_ledger.keys import SecretKey
from ghost_ledger.note import Vkey
from ghost_ledger.stored import StoredEntry, StoredHead
from ghost_ledger.tree import leaf_hash
from ghost_ledger.verify import Axis, Report, verify_bundle

__all__ = ["Pin", "Record", "gather"]

_OURS = "the log key in keys/ of this home"
_GIVEN = "the key given with --key"
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Pin:
    """The key that the verdict rests on, and where it came from."""

    key: str | None
    source: str


@dataclass(frozen=True, slots=True)
class Record:
    """A session as stored, what was found when it was verified, and what others said of it."""

    sid: str
    bundle: Bundle
    stored: Sequence[StoredEntry]
    signed: tuple[Signed, ...]
    report: Report
    pin: Pin
    head: StoredHead | None
    stock: Stock
    columns: tuple[Difference, ...]
    lost: Mapping[str, str]
    abandoned: str | None


def gather(source: Source, home: Home, sid: str, *, key: str | None) -> Record:
    """Read and judge one session; if it grows meanwhile, read it again.

    Raises:
        NotFoundError: codes `session.unknown`, `ledger.pruned`.
        IntegrityError: code `ledger.entries`, the session is known and has no entry any more.
    """
    attempts = _ATTEMPTS
    while True:
        before = source.mark(sid)
        record = _gather(source, home, sid, key=key)
        attempts -= 1
        if source.mark(sid) == before:
            return record
        if not attempts:
            return _unsteady(record)


def _unsteady(record: Record) -> Record:
    """Take back what cannot be said of a session that never stood still while it was read."""
    detail = "the session grew while it was read"
    axes = _without(record.report.axes, {"columns"})
    report = replace(record.report, axes=(*axes, Axis("columns", "incomplete", detail)))
    return replace(record, report=report, columns=())


def _gather(source: Source, home: Home, sid: str, *, key: str | None) -> Record:
    stored = _entries(source, sid)
    head = source.ledger.head()
    pin = Pin(key, _GIVEN) if key else Pin(_log_key(home, head), _OURS)
    bundle, memory = _bundle(source, home, sid, given=key is not None)
    signed = _signed(bundle.entries)
    about = [item for item in source.about_others() if item.entry.fields.get("session") == sid]
    held, disclosed = _stock(source, sid, signed)
    found, matching = _columns(source, sid, stored, about, held)
    base = _verify(bundle, pin)
    axes = (*_without(base.axes, {"head", "disclosure"}), memory, matching, disclosed)
    return Record(
        sid=sid,
        bundle=bundle,
        stored=stored,
        signed=signed,
        report=Report(axes, base.sid, base.entries, base.keys),
        pin=pin,
        head=head,
        stock=held,
        columns=found,
        lost=_reasons(about),
        abandoned=_abandoned(about),
    )


def _entries(source: Source, sid: str) -> list[StoredEntry]:
    stored = source.ledger.entries(sid)
    for item in stored:
        if not all(isinstance(value, bytes) for value in (item.body, item.sig, item.leaf_hash)):
            raise IntegrityError(
                f"session {sid}: a row of entry {item.seq} does not hold bytes",
                code="ledger.entries",
            )
    if stored:
        return stored
    if source.has_row(sid):
        raise IntegrityError(
            f"session {sid}: is known, and has no entry any more", code="ledger.entries"
        )
    raise NotFoundError(
        f"session {sid[:64]}: is not in this ledger",
        code="session.unknown",
        hint="ghost session list",
    )


def _log_key(home: Home, head: StoredHead | None) -> str | None:
    if head is None:
        return None
    # While it is being replaced, the one that the head names goes before the file's.
    if _is_left(home, head):
        return head.vkey
    key = _named_key(home, head.vkey) or identity.existing_log_key(home)
    if key is None:
        return None
    try:
        return Vkey(head.origin, key.public).format()
    finally:
        key.wipe()


def _is_left(home: Home, head: StoredHead) -> bool:
    """Tell whether this home has left the log, with its key, and kept a last head of it."""
    try:
        return KeptHandovers.of(home, head.origin).last(Vkey.parse(head.vkey)) is not None
    except IntegrityError:
        return False


def _named_key(home: Home, vkey: str) -> SecretKey | None:
    try:
        return identity.key_of_log(home, Vkey.parse(vkey).public)
    except IntegrityError:
        return None


def _bundle(source: Source, home: Home, sid: str, *, given: bool) -> tuple[Bundle, Axis]:
    """Build the bundle and judge the head memory; a log that went back still shows its entries."""
    memory = _memory(source, home, given=given)
    if memory.state == "invalid":
        return _bare(source, sid), memory
    try:
        return source.ledger.bundle(sid, home, leaves=False), memory
    except NotFoundError:
        raise
    except IntegrityError as error:
        state = _of_failure(error, home)
        return _bare(source, sid), state


def _memory(source: Source, home: Home, *, given: bool) -> Axis:
    head = source.ledger.head()
    if head is None:
        return Axis("head", "invalid", "the database has no log")
    try:
        known = heads.recall(home, head.origin)
        other = heads.remembered_in(home, source.database) if known is None else None
    except IntegrityError as error:
        return Axis("head", "invalid", error.message)
    if other is not None:
        return Axis("head", "invalid", f"this database held log {other.origin}, now {head.origin}")
    if known is None:
        return Axis("head", "absent" if given else "incomplete", "no head is remembered")
    return Axis("head", "valid", f"size {head.size} contains the remembered size {known[0]}")


def _of_failure(error: IntegrityError, home: Home) -> Axis:
    """Say why no head could be signed: without any key it is not broken, only undecided."""
    keyless = error.code == "ledger.log_key" and identity.existing_log_key(home) is None
    return Axis("head", "incomplete" if keyless else "invalid", error.message)


def _bare(source: Source, sid: str) -> Bundle:
    """Return what the entries alone give; no proof, because no head can be signed."""
    try:
        notes = tuple(source.ledger.notes(sid))
    except IntegrityError:
        return Bundle(())
    seals = [item for item in _signed(notes) if item.type == "session.seal"]
    seal = seals[-1].entry.fields.get("note") if seals else None
    return Bundle(notes, seal=seal.encode() if isinstance(seal, str) else None)


def _signed(notes: Sequence[bytes]) -> tuple[Signed, ...]:
    """Read the entries that can be read; the verdict already says if one cannot."""
    found = []
    for note in notes:
        try:
            body, line = open_leaf(note)
            entry = parse_envelope(body)
        except GhostError:
            continue
        found.append(Signed(entry, line.signature, leaf_hash(note), _problem(entry)))
    return tuple(found)


def _problem(entry: Entry) -> str:
    try:
        check_content(entry)
    except GhostError as error:
        return error.message
    return ""


def _verify(bundle: Bundle, pin: Pin) -> Report:
    keys = [pin.key] if pin.key else []
    size = sum(len(note) for note in bundle.entries)
    if size > BUNDLE_LIMIT:
        detail = f"{size} bytes of entries, a bundle holds {BUNDLE_LIMIT}"
        return Report((Axis("content", "incomplete", detail),))
    try:
        return verify_bundle(bundles.encode(bundle), keys)
    except IntegrityError as error:
        return Report((Axis("content", "invalid", error.message),))
    except IncompleteError as error:
        return Report((Axis("content", "incomplete", error.message),))


def _without(axes: Sequence[Axis], names: set[str]) -> list[Axis]:
    return [axis for axis in axes if axis.name not in names]


def _stock(source: Source, sid: str, signed: Sequence[Signed]) -> tuple[Stock, Axis]:
    erased = _erasures(source)
    try:
        held = stock.gather(signed, source.ledger.payloads(sid), erased)
    except IntegrityError as error:
        return stock.gather(signed, (), erased), Axis("disclosure", "invalid", error.message)
    return held, held.axis()


def _erasures(source: Source) -> dict[str, dict[str, Erasure]]:
    """Return the first entry that says of a payload that it is erased."""
    erased: dict[str, dict[str, Erasure]] = {}
    for item in source.about_others():
        said, names = item.entry, item.entry.fields.get("fields")
        if said.type != "payload.erased" or not isinstance(names, list):
            continue
        basis, actor = str(said.fields.get("basis")), str(said.fields.get("actor"))
        found = Erasure(item.stored.leaf_hash, said.ts, basis, actor)
        known = erased.setdefault(str(said.fields.get("entry")), {})
        for name in names:
            known.setdefault(str(name), found)
    return erased


def _columns(
    source: Source, sid: str, stored: Sequence[StoredEntry], about: Sequence[Witnessed], held: Stock
) -> tuple[tuple[Difference, ...], Axis]:
    intent = held.find(0, "intent")
    text = intent.data.decode("utf-8", "replace") if intent and intent.state == "stored" else None
    try:
        told = [Witnessed(parse_envelope(item.body), item) for item in stored]
        found = columns.differences(source.ledger, sid, [*told, *about], intent=text)
    except (IntegrityError, IncompleteError) as error:
        return (), Axis("columns", "invalid", error.message)
    return found, columns.axis(found)


def _reasons(about: Sequence[Witnessed]) -> dict[str, str]:
    return {
        str(item.entry.fields.get("intent")): str(item.entry.fields.get("reason"))
        for item in about
        if item.entry.type == "action.unknown"
    }


def _abandoned(about: Sequence[Witnessed]) -> str | None:
    for item in about:
        if item.entry.type == "session.abandoned":
            return str(item.entry.fields.get("reason"))
    return None
