"""The one place that puts a secret on the wire, as the last step before sending.

`outgoing` builds what goes upstream from the stripped head of the agent and its body. It runs twice: with a
mark for the record, before the intent is durable, and with the secret afterwards. The record therefore
cannot hold what the wire holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mitmproxy import http

from ghost_core.header_name import folded
from ghost_core.secret import SecretBytes
from ghost_credentials.binding import CLIENT_CREDENTIAL_HEADERS, Credential
from ghost_credentials.decode import supported_accept_encoding
from ghost_credentials.head import Head
from ghost_credentials.strip import strip

WITHHELD = b"[withheld]"
_MASKED = frozenset((*CLIENT_CREDENTIAL_HEADERS, b"x-ghost-token"))


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What goes upstream: the head, and the body where it is held."""

    head: Head
    body: bytes | None


def head_of(request: http.Request, *, path: str) -> Head:
    """Return the request's head as plain values, with the canonical path."""
    return Head(method=request.method, path=path, headers=tuple(request.headers.fields))


def mark(credential: Credential) -> SecretBytes:
    """Return what stands for the secret in the record."""
    return SecretBytes(b"[credential " + credential.name.encode() + b"]")


def stripped(head: Head, credential: Credential | None, *, websocket: bool) -> Head:
    """Return the head without what may not go on: the client's credentials, the lines of this hop."""
    keep = credential.replaced if credential is not None else None
    accepted = supported_accept_encoding(head.get("accept-encoding") or b"identity")
    return strip(head, websocket=websocket, placeholder=keep).with_header(
        "accept-encoding", accepted
    )


def injected(
    base: Head, *, credential: Credential | None, secret: SecretBytes | None, wire_token: bytes
) -> Head:
    """Return a stripped head with the credential and our own token set, each exactly once."""
    if credential is not None and secret is not None:
        base = credential.inject(base, secret)
    return base.with_header("x-ghost-token", wire_token) if wire_token else base


def outgoing(
    base: Head,
    body: bytes | None,
    *,
    credential: Credential | None,
    secret: SecretBytes | None,
    wire_token: bytes,
) -> Outgoing:
    """Return a stripped head and a held body with the credential in its one place, framed anew.

    Raises DeniedError `credential.place`, `credential.body` or `credential.media` without a place for it.
    """
    head = injected(base, credential=credential, secret=secret, wire_token=wire_token)
    if credential is None or secret is None or not credential.fills_body:
        return Outgoing(head, body)
    filled = credential.fill(base, body or b"", secret)
    framed = head.without("transfer-encoding").with_header("content-length", b"%d" % len(filled))
    return Outgoing(framed, filled)


def put(request: http.Request, sent: Outgoing) -> None:
    """Write what is sent into the request that the engine is about to send.

    An expectation stays in it for the engine, which meets it and takes it away before it sends
    (RFC 9110 §10.1.1).
    """
    expects = [line for line in request.headers.fields if line[0].lower() == b"expect"]
    request.headers = http.Headers([*sent.head.headers, *expects])
    request.path = sent.head.path
    if sent.body is not None and sent.body != request.raw_content:
        request.raw_content = sent.body


def masked(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers as a record may hold them: the client's own credentials are named, not kept."""
    return [(name, WITHHELD if folded(name) in _MASKED else value) for name, value in headers]
