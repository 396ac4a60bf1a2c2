"""The JSON document that hooks read: a request, later the reply, in plain values."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ghost_hooks.params import Json, Kind, Params, of_reply
from ghost_hooks.request import Headers, Reply, Request
from ghost_hooks.spelling import Steps, read_params
from ghost_hooks.target import Target

SCHEMA = "ghost/hook-request/v1"


@dataclass(frozen=True, slots=True)
class Call:
    """What a request is, by name: the action's id, tool and action, and how it sends parameters."""

    action_id: str
    tool: str
    action: str
    kind: Kind | None = None


def document(
    call: Call, session: Mapping[str, object], request: Request, reply: Reply | None = None
) -> dict[str, object]:
    """Build the document of a hook from scrubbed values; bodies as text, else as base64."""
    found: dict[str, object] = {
        "schema": SCHEMA,
        "session": dict(session),
        "action": {
            "id": call.action_id,
            "tool": call.tool,
            "action": call.action,
            "params": call.kind,
        },
        "request": {
            "method": request.method,
            "scheme": request.target.scheme,
            "host": request.target.host,
            "port": request.target.port,
            "path": request.target.path,
            "query": request.target.query,
            "url": request.target.url,
            "headers": _headers(request.headers),
            "body": _body(request.body),
        },
    }
    if reply is not None:
        found["response"] = {
            "status": reply.status,
            "headers": _headers(reply.headers),
            "body": _body(reply.body),
        }
    return found


def params_of(document: Mapping[str, object], reads: Iterable[Steps] = ()) -> Params:
    """Read the parameters of the document's request for a gate of these fields; raises UnreadableError."""
    action = _part(document, "action")
    kinds: dict[object, Kind] = {"json": "json", "form": "form", "query": "query"}
    return read_params(request_of(document), kinds.get(action.get("params")), reads)


def response_of(document: Mapping[str, object]) -> Json:
    """Read the JSON of the document's response; raises UnreadableError."""
    found = _part(document, "response")
    return of_reply(Reply(200, _pairs(found.get("headers")), _bytes(found.get("body"))))


def call_of(document: Mapping[str, object]) -> tuple[str, Target, str, str]:
    """Return method, target, tool and action, as rules match them."""
    request, action = request_of(document), _part(document, "action")
    return request.method, request.target, str(action["tool"]), str(action["action"])


def request_of(document: Mapping[str, object]) -> Request:
    """Return the request of the document."""
    found = _part(document, "request")
    return Request(
        str(found["method"]),
        Target.parse(str(found["url"])),
        _pairs(found.get("headers")),
        _bytes(found.get("body")),
    )


def _headers(headers: Headers) -> dict[str, str]:
    """Return headers by lower-case name; repeated ones are joined by a comma (RFC 9110 §5.3)."""
    found: dict[str, str] = {}
    for name, value in headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _pairs(headers: object) -> Headers:
    named = headers if isinstance(headers, dict) else {}
    return tuple(
        (str(name).encode("latin-1"), str(value).encode("latin-1")) for name, value in named.items()
    )


def _body(body: bytes | None) -> object:
    if body is None:
        return None
    try:
        return body.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


def _bytes(body: object) -> bytes | None:
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, dict):
        return base64.b64decode(str(body["base64"]), validate=True)
    return None


def _part(document: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = document.get(name)
    return found if isinstance(found, dict) else {}
