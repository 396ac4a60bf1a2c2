"""Requests that ask a server to read another method or path than the one that was judged.

Frameworks take the method from a header, a query, a form or a part of an upload, under names that they
read as laxly as any: PHP makes `.method` the field `_method`, Rack splits at `;` too and takes a POST
without a type for a form, others decode a form as its charset says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from ghost_core.header_name import folded
from ghost_hooks.params import FIELD_LIMIT
from ghost_hooks.percent import PIECE, unquoted
from ghost_hooks.request import Request, Verdict
from ghost_hooks.spelling import beginning, fields, readings

_HEADERS = frozenset(
    {b"x-http-method-override", b"x-http-method", b"x-method-override", b"x-tunneled-method"}
)
_REWRITES = frozenset(
    {b"x-original-url", b"x-rewrite-url"}
)  # IIS, Symfony and others route by them
_TYPE = b"content-type"
# as `spelling` folds them: Rails, Symfony, Laravel; Salesforce; ASP.NET; Plack
_FIELDS = frozenset(
    {"_method", "_httpmethod", "xhttpmethodoverride", "xhttpmethod", "xmethodoverride"}
    | {"xtunneledmethod"}
)
# The name of a part (RFC 7578 §4.2) as lax readers take it: quoted or not, with a charset, in pieces.
_PART = re.compile(
    rb"(?<![a-z])name(?:"
    rb"\s*=[\s\"'=]*(?:[_.\[\]]+(?:http)?method|x-(?:http-|tunneled-)?method(?:-override)?)(?![a-z0-9])"
    rb"|\*\s*[\d*=]|\s*=[\s\"'=]*\?[\w*-]+\?[qb]\?)",
    re.IGNORECASE,
)
_BLANKS = re.compile(rb"[\s\"'=]{2,}|[_.\[\]]{3,}")  # lax readers pass over any number of them
_SEPARATOR = re.compile(rb"[&;]")
_CUT_ESCAPE = re.compile(rb"%[0-9A-Fa-fu]{0,4}\Z")
_WINDOW_BYTES = 256
_LONGEST = 40  # characters of a folded name; a longer one is no method's
_CHARSET = re.compile(rb"charset([*\d]*)\s*=[\s\"']*([^\s;,\"']*)")
# In these the letters of a name are those of ASCII.
_ASCII = re.compile(
    rb"(?:utf-?8|(?:us-)?ascii|iso-?8859-\d+|latin-?\d|windows-\d+|cp125\d|koi8-[ru]|gb(?:k|2312|18030)"
    rb"|big5|shift[_-]jis|euc-(?:jp|kr))?"
)


def asks_otherwise(request: Request) -> Verdict | None:
    """Refuse a request that asks the upstream to read another method or path than the one judged."""
    kind = kind_of(request.headers)
    form = may_be_form(request.method, kind) or b"multipart/" in kind
    if not (request.target.query or form or any(_may_ask(name) for name, _ in request.headers)):
        return None
    if any(folded(name) in _REWRITES for name, _ in request.headers):
        reason = "asks for another path than the one that was judged"
        return Verdict.no("guard", "path-override", reason, code="request.path_override")
    if form and not _is_ascii(kind):
        reason = "a form in this charset cannot be judged"
        return Verdict.no("guard", "method-override", reason, code="params.encoding", status=415)
    texts = _texts(request, kind)
    if any(text.count("&") + text.count(";") >= FIELD_LIMIT for text in texts):
        reason = f"names more than {FIELD_LIMIT} fields"
        return Verdict.no("guard", "method-override", reason, code="params.long", status=413)
    if all(name.strip().upper() in {"", request.method} for name in _named(request, kind, texts)):
        return None
    return Verdict.no(
        "guard",
        "method-override",
        "asks for another method than the one that was judged",
        code="request.method_override",
    )


def may_be_form(method: str, kind: bytes) -> bool:
    """Tell whether some server reads the body as a form: by its type, or a POST that has none."""
    return is_form(kind) or (method == "POST" and not kind)


def is_form(kind: bytes) -> bool:
    """Tell whether the type says that the body is a form."""
    return b"application/x-www-form" in kind


def form_watch() -> Callable[[bytes], bool]:
    """Return what tells, of the pieces of one body, whether a form in it names a method."""
    rest = b""

    def hit(piece: bytes) -> bool:
        nonlocal rest
        text = rest + piece
        last = _SEPARATOR.split(text)[-1]
        whole = text if b"=" in last else text[: len(text) - len(last)]
        rest = b"=" if b"=" in last else _shorter(last)
        if not _mentions_method(whole):
            return False
        return any(_is_override(name) for text in _decoded(whole) for name, _ in fields(text))

    return hit


def part_watch() -> Callable[[bytes], bool]:
    """Return what tells, of the pieces of one body in parts, whether a part names a method."""
    rest = b""

    def hit(piece: bytes) -> bool:
        nonlocal rest
        text = _BLANKS.sub(_shortened, rest + piece.replace(b"\\", b""))
        rest = text[-_WINDOW_BYTES:]
        return _PART.search(text) is not None

    return hit


def _shorter(name: bytes) -> bytes:
    """Return what decides about a name that is not complete, and `=` for one that can be no method's."""
    if len(name) <= _WINDOW_BYTES:
        return name
    cut = _CUT_ESCAPE.search(name)
    end = cut.group() if cut else b""
    short = beginning(name.removesuffix(end).decode("latin-1"))
    return short.encode() + end if short.isascii() and len(short) <= _LONGEST else b"="


def _shortened(found: re.Match[bytes]) -> bytes:
    run = found.group()
    return b"=" if b"=" in run else run[:2].strip() or b" "


def names_method(body: bytes) -> bool:
    """Tell whether a body in parts has a field which some servers take for the method."""
    watch = part_watch()  # a search of all of it would give nobody a turn
    return any(watch(body[at : at + PIECE]) for at in range(0, len(body), PIECE))


def kind_of(headers: tuple[tuple[bytes, bytes], ...]) -> bytes:
    """Return all that a head says of the type, in lower case: of several lines some servers take the last."""
    values = [value for name, value in headers if len(name) == len(_TYPE) and folded(name) == _TYPE]
    return b",".join(values).strip().lower()


def _is_ascii(kind: bytes) -> bool:
    return all(not mark and _ASCII.fullmatch(name) for mark, name in _CHARSET.findall(kind))


def _texts(request: Request, kind: bytes) -> list[str]:
    """Return the query, and the body where it is a form, or one without a type that may name a method."""
    body = request.body or b""
    untyped = may_be_form(request.method, kind) and _mentions_method(body)
    form = _decoded(body) if is_form(kind) or untyped else ()
    return [request.target.query, *form]


def _decoded(body: bytes) -> Iterable[str]:
    """Return a form as it reads in Latin-1 and in UTF-8, where these differ."""
    return dict.fromkeys((body.decode("latin-1"), body.decode("utf-8", "ignore")))


def _mentions_method(text: bytes) -> bool:
    # most bodies without a type are no forms, and their names would take long to read
    return b"method" in unquoted(text).lower()


def _named(request: Request, kind: bytes, texts: Iterable[str]) -> Iterator[str]:
    """Yield the methods that a request names."""
    yield from (
        value.decode("latin-1") for name, value in request.headers if folded(name) in _HEADERS
    )
    if b"multipart/" in kind and names_method(request.body or b""):
        yield "another"
    for text in texts:
        yield from (value for name, value in fields(text) if _is_override(name))


def _is_override(name: str) -> bool:
    return any(reading[0] in _FIELDS for reading in readings(name))


def _may_ask(name: bytes) -> bool:
    return name[:1] in {b"x", b"X"} and folded(name) in _HEADERS | _REWRITES
