"""What an agent reads when it is refused: one JSON shape, one status, never a secret."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ghost_core.errors import DeniedError, GhostError, UnavailableError
from ghost_hooks.request import Verdict

SESSION_STATUS = 407


@dataclass(frozen=True, slots=True)
class Refusal:
    """One refusal: HTTP status, dotted code, the stage and rule that said no, and how to be allowed."""

    status: int
    code: str
    message: str
    stage: str
    rule: str = ""
    hint: str = ""

    def body(self, *, session_id: str = "", action_id: str = "") -> bytes:
        """Return the JSON body of the refusal, UTF-8."""
        error = {
            "code": self.code,
            "message": self.message,
            "rule": self.rule,
            "session_id": session_id,
            "action_id": action_id,
            "hint": self.hint,
        }
        return json.dumps({"error": error}, ensure_ascii=False).encode() + b"\n"

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return the headers of the answer; a session refusal closes the connection.

        Clients that authenticate only after a challenge send their second CONNECT on a new connection
        (RFC 9110 §11.7); on the old one the engine would ignore it.
        """
        headers = [(b"content-type", b"application/json"), (b"x-ghost-reason", self.code.encode())]
        if self.status == SESSION_STATUS:
            headers += [(b"proxy-authenticate", b'Basic realm="ghost"'), (b"connection", b"close")]
        return headers


def unauthenticated(message: str, *, code: str = "session.missing") -> Refusal:
    """Return the 407 of a client that named no live session."""
    return Refusal(
        status=SESSION_STATUS,
        code=code,
        message=message,
        stage="session",
        rule="session",
        hint='run: eval "$(ghost possess --env --session-id ID)"',
    )


_STATUS = {
    "target.host": 400,
    "target.path": 400,
    "target.query": 400,
    "target.scheme": 400,
    "target.mismatch": 421,
    "target.unresolved": 502,
    "body.too_large": 413,
    "body.charset": 502,
    "body.coding": 502,
    "body.malformed": 502,
    "body.truncated": 502,
    "body.expands": 502,
    "reply.record": 502,
    "reply.lines": 502,
    "reply.status": 502,
    "reply.upgrade": 502,
    "request.malformed": 400,
    "credential.body": 400,
    "credential.media": 415,
    "params.encoding": 415,
}
_STAGE = {
    "target": "authority",
    "session": "session",
    "credential": "credential",
    "scope": "scope",
    "rule": "rule",
    "schema": "schema",
    "params": "schema",
    "hook": "hook",
    "limit": "limit",
    "ledger": "ledger",
    "database": "ledger",
    "body": "limit",
    "reply": "limit",
    "request": "authority",
}


def refusal_of(reason: GhostError | Verdict) -> Refusal:
    """Return the refusal that an error or a denying verdict stands for."""
    code = reason.code
    stage = "address" if code in _ADDRESS else _STAGE.get(code.partition(".")[0], "guard")
    if isinstance(reason, Verdict):
        rule = f"{reason.by}:{reason.rule}"
        return Refusal(reason.status, code, reason.reason, stage, rule=rule, hint=reason.hint)
    status = _STATUS.get(code) or _status_of(reason)
    message = reason.message if status < 500 or code == "target.unresolved" else _INTERNAL
    return Refusal(status, code, message, stage, rule=stage, hint=reason.hint or "")


def _status_of(error: GhostError) -> int:
    if isinstance(error, DeniedError):
        return 403
    if isinstance(error, UnavailableError):
        return 503
    return 500


_INTERNAL = "the proxy cannot serve this call; the operator's log says why"
_ADDRESS = frozenset({"target.address", "target.own", "target.unresolved"})


NESTED = Refusal(
    status=400,
    code="request.nested",
    message="a CONNECT comes first on a connection of its own, in plain HTTP/1.1",
    stage="authority",
    rule="grammar",
    hint="open a connection to the proxy for each tunnel",
)

TOO_LONG = Refusal(
    status=413,
    code="body.too_large",
    message="the body is longer than may be held for the gates that read it",
    stage="limit",
    rule="limit",
    hint="send it in smaller parts; a human can raise proxy.buffer_limit",
)


def failure(code: str) -> Refusal:
    """Return the refusal that stands for a gate that failed."""
    return Refusal(
        status=500,
        code=f"guard.{code}",
        message="a gate failed, so the call was refused",
        stage="guard",
        rule="guard",
        hint="ask the operator to look at the proxy's log",
    )


def failure_of(error: Exception) -> Refusal:
    """Return the refusal that an exception of a handler stands for; the text of a foreign one is not told."""
    if isinstance(error, GhostError):
        return refusal_of(error)
    return failure("failed")


def no_ledger(code: str) -> Refusal:
    """Return the refusal of a call that could not be entered."""
    return Refusal(
        status=503,
        code=code,
        message="the ledger cannot be written, so nothing is sent",
        stage="ledger",
        rule="ledger",
        hint="ask the operator to look at the database",
    )
