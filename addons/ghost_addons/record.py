"""From a call to entries: the drafts of intent, outcome and denial, and the payloads beside them.

Nothing here may hold a secret: heads are built from the request before injection, with a mark in the place
of the credential, and pass the scrubber once more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ghost_addons.action import Action
from ghost_addons.refusal import Refusal
from ghost_core import ids
from ghost_credentials.head import Head
from ghost_credentials.scrub import Scrubber
from ghost_hooks.limits import Spent
from ghost_hooks.request import Verdict
from ghost_ledger.canonical import Value
from ghost_ledger.commitment import commit
from ghost_ledger.recorder import Draft, Payload

type Fields = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Keeping:
    """How much of a payload is stored: `full`, `headers` or `none`, and the limit in bytes."""

    policy: str
    limit: int

    def payload(  # the parts of one row
        self, field: str, salt: bytes, commitment: str, *, head: bytes, body: bytes, size: int
    ) -> Payload | None:
        """Return what is stored beside the commitment, or None where nothing is."""
        if self.policy == "none":
            return None
        stored = head + body if self.policy == "full" else head
        return Payload(
            field=field,
            salt=salt,
            commitment=commitment,
            data=stored[: self.limit],
            size=size,
            media="message/http",
            truncated=len(stored) < size or len(stored) > self.limit,
        )


def head_text(head: Head, scrubber: Scrubber) -> bytes:
    """Write a request head in HTTP/1.1 form (RFC 9112 §2.1), scrubbed."""
    lines = [f"{head.method} {head.path} HTTP/1.1".encode()]
    lines += [name + b": " + value for name, value in head.headers]
    return scrubber.clean(b"\r\n".join(lines) + b"\r\n\r\n")[0]


def reply_text(status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Write a reply head in HTTP/1.1 form; the headers are scrubbed already."""
    lines = [b"HTTP/1.1 %d" % status, *(name + b": " + value for name, value in headers)]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def intent(  # the parts of one entry
    action: Action,
    *,
    agent_head: bytes,
    forwarded_head: bytes,
    body: bytes,
    keeping: Keeping,
    forwarded_body: bytes = b"",
    spent: Spent | None = None,
) -> Draft:
    """Draft the entry that is durable before the first byte leaves.

    `forwarded_body` is the body with a mark for the secret, where a credential changes it; `spent` is
    what a limit counted.
    """
    params_salt, params = commit("params", agent_head + body)
    forwarded_salt, forwarded = commit("forwarded", forwarded_head + forwarded_body)
    target = action.request.target
    fields: Fields = {
        "tool": action.tool,
        "action": action.name,
        "scheme": target.scheme,
        "method": action.request.method,
        "host": target.host,
        "port": target.port,
        "params": params,
        "forwarded": forwarded,
        "body": action.body_mode,
        "policy": action.decision.policy or action.governance.policy.hash,
        "verdicts": entries_of(action.verdicts),
    }
    if action.body_mode != "streamed":
        fields["size"] = len(body)
    if action.credential:
        fields["credential"] = action.credential
    if action.ticket and action.ticket.operation:
        fields["operation"] = action.ticket.operation
        fields["attempt"] = action.ticket.attempt
    if spent is not None:
        fields["counted"] = counted(spent)
    size = len(agent_head) + len(body)
    payloads = (
        keeping.payload("params", params_salt, params, head=agent_head, body=body, size=size),
        keeping.payload(
            "forwarded",
            forwarded_salt,
            forwarded,
            head=forwarded_head,
            body=forwarded_body,
            size=len(forwarded_head) + len(forwarded_body),
        ),
    )
    return Draft(
        sid=action.session.sid,
        type="action.intent",
        id=action.id,
        fields=fields,
        payloads=tuple(payload for payload in payloads if payload is not None),
    )


def counted(spent: Spent) -> Value:
    """Return what a limit counted of one call, as the next owner reads it."""
    found: Fields = {"bytes": spent.bytes}
    return {**found, "sum": format(spent.sum, "f")} if spent.sum else found


def outcome(
    action: Action,
    *,
    status: str,
    ended: str,
    keeping: Keeping,
    post: tuple[Verdict, ...] = (),
    error: str = "",
) -> Draft:
    """Draft the entry that is durable before the agent has the whole answer."""
    fields: Fields = {
        "intent": action.intent.leaf_hash.hex() if action.intent else "",
        "status": status,
        "sent": action.sent,
        "received": action.received,
        "latency_us": action.latency_us,
        "ended": ended,
        "scrubbed": action.scrubbed,
        "verdicts": entries_of(post),
    }
    optional: Fields = {
        "http_status": action.http_status,
        "peer": action.peer,
        "error": error,
        "flags": list(action.flags),
    }
    fields.update({name: value for name, value in optional.items() if value})
    if action.websocket:
        fields["frames_in"] = action.frames_in
        fields["frames_out"] = action.frames_out
    payloads: list[Payload] = []
    if action.request_body is not None:
        fields["request_body"] = action.request_body.hex()
    if action.response is not None:
        fields["response"] = action.response.hex()
        kept = keeping.payload(
            "response",
            action.response.salt,
            action.response.hex(),
            head=action.response_head,
            body=bytes(action.response_excerpt),
            size=len(action.response_head) + action.received,
        )
        payloads += [kept] if kept else []
    return Draft(
        sid=action.session.sid,
        type="action.outcome",
        id=action.id,
        fields=fields,
        payloads=tuple(payloads),
    )


_BARE = ("intent", "sent", "received", "latency_us", "scrubbed")


def bare(draft: Draft, *, error: str) -> Draft:
    """Draft an outcome that says no more than that the call failed, for one that no entry can hold."""
    fields: Fields = {name: draft.fields[name] for name in _BARE}
    fields |= {"status": "failed", "ended": "aborted", "verdicts": [], "error": error}
    return Draft(draft.sid, draft.type, draft.id, fields)


@dataclass(frozen=True, slots=True)
class Attempt:
    """What is known of a call that was refused, perhaps before it had a session or a target."""

    sid: str
    method: str
    host: str
    port: int = 0
    path: str = ""
    tool: str = ""
    action: str = ""
    verdicts: tuple[Verdict, ...] = ()
    policy: str = ""
    agent_head: bytes = b""
    body: bytes = b""
    id: str = ""
    alone: bool = False


def denied(attempt: Attempt, refusal: Refusal, keeping: Keeping, *, count: int = 1) -> Draft:
    """Draft the entry of a refusal; `count` stands for equal ones within a second."""
    fields: Fields = {
        "tool": plain(attempt.tool or attempt.host, 256),
        "action": plain(attempt.action or attempt.method, 256),
        "method": plain(attempt.method, 64),
        "host": plain(attempt.host, 256),
        "code": refusal.status,
        "error": refusal.code,
        "stage": refusal.stage,
        "rule": refusal.rule[:1024],
        "verdicts": entries_of(attempt.verdicts),
    }
    if attempt.port:
        fields["port"] = attempt.port
    if attempt.policy:
        fields["policy"] = attempt.policy
    if count > 1:
        fields["count"] = count
    payloads: tuple[Payload, ...] = ()
    if attempt.agent_head:
        salt, fields["params"] = commit("params", attempt.agent_head + attempt.body)
        size = len(attempt.agent_head) + len(attempt.body)
        kept = keeping.payload(
            "params",
            salt,
            str(fields["params"]),
            head=attempt.agent_head,
            body=attempt.body,
            size=size,
        )
        payloads = (kept,) if kept else ()
    return Draft(
        sid=attempt.sid,
        type="action.denied",
        id=attempt.id or ids.action_id(),
        fields=fields,
        payloads=payloads,
    )


def plain(text: str, limit: int) -> str:
    """Return text that nobody has judged in a form that an entry may hold: no surrogates, cut to `limit`."""
    return text.encode("utf-8", "backslashreplace").decode()[:limit] or "unknown"


def entries_of(verdicts: Iterable[Verdict]) -> list[Value]:
    """Return the verdicts as the entry holds them."""
    return [{**verdict.entry()} for verdict in verdicts]
