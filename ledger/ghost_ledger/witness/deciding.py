"""What a witness answers: a pure function of the request, the logs it was told of, and what it signed last.

The statuses are those of C2SP tlog-witness. Nothing is taken from a request but what a known key signed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ghost_core.errors import IntegrityError
from ghost_ledger import tree
from ghost_ledger.checkpoint import Checkpoint
from ghost_ledger.note import Vkey, open_note
from ghost_ledger.witness.request import Request, decode_request

__all__ = ["SIZE_TYPE", "Answer", "Logs", "admit", "by_origin", "judge"]

SIZE_TYPE = "text/x.tlog.size"
_TEXT = "text/plain; charset=utf-8"
_BAD, _FORBIDDEN, _UNKNOWN, _CONFLICT, _UNPROVEN = 400, 403, 404, 409, 422

type Logs = Mapping[str, tuple[Vkey, ...]]
"""The keys of each log, by its origin."""
type Evidence = Literal["", "fork", "proof"]
"""What a refused head may prove of its log: two trees of one size, or a tree that does not continue."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request, and what its checkpoint may prove."""

    status: int
    body: str
    media: str = _TEXT
    evidence: Evidence = ""


def by_origin(keys: Iterable[Vkey]) -> Logs:
    """Sort keys of logs by the origin that they name."""
    logs = dict[str, tuple[Vkey, ...]]()
    for key in keys:
        logs[key.name] = (*logs.get(key.name, ()), key)
    return logs


def admit(body: bytes, logs: Logs) -> Request | Answer:
    """Read a request and check that a known log signed its checkpoint; else the refusal."""
    try:
        asked = decode_request(body)
    except IntegrityError as error:
        return _refused(_BAD, error.message)
    keys = logs.get(asked.head.origin)
    if keys is None:
        return _refused(_UNKNOWN, "this witness does not know the log")
    try:
        open_note(asked.note, keys)
    except IntegrityError as error:
        return _refused(_FORBIDDEN, error.message)
    if asked.old > asked.head.size:
        return _refused(_BAD, f"old size {asked.old} is above the checkpoint's {asked.head.size}")
    return asked


def judge(asked: Request, last: Checkpoint | None) -> Answer | None:
    """Compare an admitted request with the last cosigned head of its log; None: it may be cosigned."""
    head = asked.head
    size, root = (0, tree.EMPTY) if last is None else (last.size, last.root)
    fork = head.size == size and head.root != root
    if asked.old != size:
        return Answer(_CONFLICT, f"{size}\n", SIZE_TYPE, "fork" if fork else "")
    try:
        _check_proof(asked, size, root)
    except IntegrityError as error:
        return Answer(_UNPROVEN, f"{error.message}\n", evidence="fork" if fork else "proof")
    return None


def _check_proof(asked: Request, size: int, root: bytes) -> None:
    """Check that the head continues the last one; any tree continues the empty one, without a proof."""
    head = asked.head
    if size > 0:
        tree.verify_consistency(size, head.size, asked.proof, root, head.root)
    elif asked.proof or (head.size == 0 and head.root != tree.EMPTY):
        raise IntegrityError(
            "tree: expected no proof from size 0, and the root of nothing", code="ledger.proof"
        )


def _refused(status: int, reason: str) -> Answer:
    return Answer(status, f"{reason}\n")
