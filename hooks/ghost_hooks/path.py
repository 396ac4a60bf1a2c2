"""One spelling of a path: the form that is judged is the form that is sent."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from ghost_core.errors import DeniedError

PATH_LIMIT = 32 * 1024
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~")
# Nothing in here needs a second look: no escape, no dot segment, no parameter, no empty segment.
_PLAIN = re.compile(r"(?:/(?!\.{1,2}(?:/|\Z))[A-Za-z0-9._~!$&'()*+,=:@-]+)+/?\Z")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
_CONTROL = re.compile(r"[\x00-\x20\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_UNSAFE = re.compile(r"[^A-Za-z0-9._~!$&'()*+,;=:@/%-]")
# A second decoding upstream must not find what the first one was refused for.
_TWICE = re.compile(r"%(?:25)+(?:2[eEfF]|5[cC]|[01][0-9A-Fa-f]|7[fF])")
_SEPARATOR = re.compile(r"/|%2F")
_SLASHES = re.compile(r"//+")
_DECODINGS_LIMIT = 4
_PARAMETER = re.compile(r";|%3B")


def canonical_path(raw: str) -> str:
    """Return the one spelling of a path: plain escapes decoded, the rest as upper-case hex.

    An encoded slash stays `%2F` inside its segment. Dot segments, backslashes, empty segments,
    controls, double encodings and malformed escapes are refused; at most 32 KiB.
    Raises: DeniedError `target.path`.
    """
    if raw in {"", "/"}:
        return "/"
    if len(raw) > PATH_LIMIT:
        raise _refused(f"is longer than {PATH_LIMIT} characters")
    if _PLAIN.match(raw):
        return raw
    if not raw.startswith("/"):
        raise _refused("does not start with a slash")
    if _CONTROL.search(raw) or "\\" in raw or "?" in raw or "#" in raw:
        raise _refused("holds a control character, space, backslash, ? or #")
    path = _UNSAFE.sub(_encoded, _ESCAPE.sub(_unescaped, raw))
    if _TWICE.search(path):
        raise _refused("is encoded twice")
    _check(path)
    return path


def canonical_query(raw: str) -> str:
    """Return the query as it is, but what is not ASCII as the escapes that it stands for (RFC 3986 §2.1).

    Controls, spaces, fragments and broken text are refused.

    Raises: DeniedError `target.query`.
    """
    if _CONTROL.search(raw) or "#" in raw or _SURROGATE.search(raw):
        raise DeniedError("query: holds a control character, space or #", code="target.query")
    return raw if raw.isascii() else _FOREIGN.sub(_encoded, raw)


def folded(path: str) -> str:
    """Decode every escape but the slash: how a server reads a path that keeps its segments apart."""
    if "%" not in path:
        return path
    parts = path.split("%2F")
    return "%2F".join(unquote_to_bytes(part).decode("utf-8", "replace") for part in parts)


def readings(path: str) -> tuple[str, ...]:
    """Return how servers may read a canonical path: segments first, or all escapes first, even again.

    A server that decodes all escapes often merges slashes too.
    """
    plain = folded(path)
    found = [plain, plain.replace("%2F", "/")]
    for _ in range(_DECODINGS_LIMIT):
        if "%" not in path:
            break
        path = _SLASHES.sub("/", unquote_to_bytes(path).decode("utf-8", "replace"))
        found.append(path)
    return tuple(dict.fromkeys(found))


def _refused(why: str) -> DeniedError:
    return DeniedError(f"path: {why}", code="target.path")


def _unescaped(found: re.Match[str]) -> str:
    digits = found.group(1)
    if digits is None:
        raise _refused("holds a % without two hex digits")
    char = chr(int(digits, 16))
    if char in "\\." or char < "\x20" or char == "\x7f":
        raise _refused("holds an encoded dot, backslash or control character")
    return char if char in _UNRESERVED else f"%{digits.upper()}"


def _encoded(found: re.Match[str]) -> str:
    try:
        data = found.group().encode()
    except UnicodeEncodeError as error:
        raise _refused("is no UTF-8") from error
    return "".join(f"%{byte:02X}" for byte in data)


def _check(path: str) -> None:
    """Refuse what has a second reading, as it is and decoded again and again."""
    for _ in range(_DECODINGS_LIMIT):
        _check_text(path)
        _check_segments(path)
        if "%25" not in path:
            return
        path = path.replace("%25", "%")
    raise _refused(f"is encoded more than {_DECODINGS_LIMIT} times")


def _check_text(path: str) -> None:
    try:
        unquote_to_bytes(path).decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        # Also overlong forms of dot and slash, which lax decoders accept.
        raise _refused("holds escapes that are no UTF-8") from error


def _check_segments(path: str) -> None:
    if "//" in path:
        raise _refused("holds an empty segment")
    for segment in path.split("/"):
        for part in _SEPARATOR.split(segment):
            name = _PARAMETER.split(part)[0]
            if name in {".", ".."} or (part and not name):
                raise _refused("holds a dot segment or a segment that is only parameters")
