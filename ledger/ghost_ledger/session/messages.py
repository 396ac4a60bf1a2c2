"""What goes over `control.sock`: JSON lines (contract §3).

One request is one line, one object; so is the answer: `{"result": {…}}` or `{"error": {…}}`. A line is
at most 16 MiB.
"""

from __future__ import annotations

import json

from ghost_core import errors
from ghost_core.errors import FailedError, GhostError, UsageError

LINE_LIMIT_BYTES = 16 << 20

type Message = dict[str, object]

_KINDS = {
    kind.__name__: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, GhostError)
}


def line_of(message: Message) -> bytes:
    """Return a message as it travels; raises UsageError `control.too_long`."""
    line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
    if len(line) > LINE_LIMIT_BYTES:
        raise too_long()
    return line


def request_in(line: bytes) -> Message:
    """Return the request of a line; raises UsageError `control.malformed`."""
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError("control request: not a line of JSON", code="control.malformed") from error
    if not isinstance(request, dict):
        raise UsageError("control request: expected one JSON object", code="control.malformed")
    return request


def result_in(line: bytes) -> Message | None:
    """Return what a request came to; None for what is no answer. Raises the error that it came to."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict):
        return None
    if isinstance(answer.get("error"), dict):
        raise revive(answer["error"])
    result = answer.get("result")
    return result if isinstance(result, dict) else None


def describe(error: GhostError) -> Message:
    """Return an error as it travels: contract §6's fields, and the kind that raises it again."""
    return {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "exit_code": error.exit_code,
        "kind": type(error).__name__,
    }


def revive(described: Message) -> GhostError:
    """Return the error that was described: the same child, or the one with its exit code."""
    exit_code = described.get("exit_code")
    kind = _KINDS.get(str(described.get("kind"))) or next(
        (each for each in GhostError.__subclasses__() if each.exit_code == exit_code), FailedError
    )
    hint = described.get("hint")
    return kind(
        str(described.get("message", "the owner refused")),
        code=str(described.get("code", kind.default_code)),
        hint=hint if isinstance(hint, str) else None,
    )


def too_long() -> UsageError:
    """Return what is said of a line over the limit."""
    return UsageError(
        f"control message: over the limit of {LINE_LIMIT_BYTES} bytes", code="control.too_long"
    )
