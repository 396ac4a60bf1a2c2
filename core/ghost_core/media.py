"""A `Content-Type` in the one way that everybody reads alike (RFC 9110 §8.3.1)."""

from __future__ import annotations

import re

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_TYPE = re.compile(rf"\s*({_WORD}/{_WORD})[ \t]*(?=;|\Z)")
_PARAMETER = re.compile(
    rf';[ \t]*(?:({_WORD})=(?:({_WORD})|"((?:[^"\\\x00-\x1f\x7f]|\\.)*)"))?[ \t]*(?=;|\Z)'
)


def content_type(text: str) -> tuple[str, dict[str, str]]:
    """Return the media type and its parameters, type and names in lower case.

    Raises ValueError for what readers take differently: a parameter twice, another form, two types, names
    of RFC 2231 such as `charset*`.
    """
    found = _TYPE.match(text)
    if found is None:
        raise ValueError("expected one media type")
    parameters: dict[str, str] = {}
    at = found.end()
    while at < len(text):
        parameter = _PARAMETER.match(text, at)
        name = (parameter[1] or "").lower() if parameter else ""
        if parameter is None or "*" in name or name in parameters:
            raise ValueError("expected each parameter once, as name=value")
        if name:
            quoted = parameter[3]
            value = parameter[2] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            parameters[name] = value
        at = parameter.end()
    return found[1].lower(), parameters


def utf8_type(text: str) -> str:
    """Return the media type of a body that is UTF-8, as the text says or leaves open; raises ValueError."""
    media, parameters = content_type(text)
    if parameters.get("charset", "utf-8").lower() not in {"utf-8", "utf8"}:
        raise ValueError("expected UTF-8")
    return media
