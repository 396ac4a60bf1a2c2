"""The log's end of the protocol: ask one witness to cosign a head, from whatever size it knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ghost_core.errors import GhostError, IntegrityError
from ghost_ledger.checkpoint import parse_checkpoint, parse_size
from ghost_ledger.cosignature import WitnessKey, cosigned
from ghost_ledger.note import split
from ghost_ledger.witness.request import encode_request

__all__ = ["REPLY_LIMIT", "Post", "Prove", "Reply", "ask"]

type Post = Callable[[bytes], tuple[int, bytes]]
"""Send a request; returns status and body, or raises GhostError."""
type Prove = Callable[[int], Sequence[bytes]]
"""Give the consistency proof from a size to the head that is to be cosigned."""
type State = Literal["signed", "unreachable", "refused", "conflict"]

REPLY_LIMIT = 16 * 1024
_TRIES = 3
_OK, _CONFLICT, _UNPROVEN = 200, 409, 422


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of asking: the line of a cosignature, or why there is none.

    In a conflict the witness knows another history of the log, or signs what it should not; `request`,
    `status` and `answer` are then the evidence.
    """

    witness: WitnessKey
    state: State
    detail: str = ""
    line: str = ""
    request: bytes = b""
    status: int = 0
    answer: bytes = b""


def ask(witness: WitnessKey, note: bytes, old: int, prove: Prove, post: Post) -> Reply:
    """Ask for a cosignature; where the witness knows another size, go on from there."""
    size = parse_checkpoint(split(note)[0]).size
    for _ in range(_TRIES):
        request = encode_request(old, _proof(old, size, prove), note)
        try:
            status, answer = post(request)
        except GhostError as error:
            return Reply(witness, "unreachable", error.message)
        if status != _CONFLICT:
            return _read(Reply(witness, "refused", "", "", request, status, answer), note)
        told = _told(answer)
        if told is not None and (told > size or told == old == size):
            return _contradicted(witness, told, size, (request, status, answer))
        if told in {None, old}:
            return Reply(witness, "refused", "answered 409 without another size")
        old = told
    return Reply(witness, "refused", "its size keeps changing")


def _proof(old: int, size: int, prove: Prove) -> Sequence[bytes]:
    return prove(old) if 0 < old < size else ()


def _read(reply: Reply, note: bytes) -> Reply:
    """Judge every answer but a conflict of sizes."""
    if reply.status == _UNPROVEN:
        return _changed(reply, "conflict", "what it signed last is no part of this log")
    if reply.status != _OK:
        return _changed(reply, "refused", f"answered {reply.status}")
    try:
        made = cosigned(note + reply.answer, [reply.witness]).get(reply.witness)
    except IntegrityError as error:
        state: State = "conflict" if error.code == "ledger.cosignature" else "refused"
        return _changed(reply, state, error.message)
    if made is None:
        return _changed(reply, "refused", "answered without its cosignature")
    return Reply(reply.witness, "signed", line=made.line)


def _contradicted(
    witness: WitnessKey, told: int, size: int, said: tuple[bytes, int, bytes]
) -> Reply:
    detail = (
        f"it signed another log of size {size}"
        if told == size
        else f"it has signed size {told}, this log has {size}"
    )
    return Reply(witness, "conflict", detail, "", *said)


def _changed(reply: Reply, state: State, detail: str) -> Reply:
    return Reply(reply.witness, state, detail, "", reply.request, reply.status, reply.answer)


def _told(answer: bytes) -> int | None:
    """Return the size in the body of a 409; None for anything else."""
    text = answer.decode("ascii", "replace")
    try:
        return parse_size(text[:-1]) if text.endswith("\n") else None
    except IntegrityError:
        return None
