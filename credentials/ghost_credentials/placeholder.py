"""Stand-ins: harmless strings that the agent holds instead of a secret, and where they occur in a head."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from ghost_core.errors import ConfigError
from ghost_credentials.head import Head

MIN_BYTES = 8
"""A shorter placeholder would occur by chance."""

_SHAPE = re.compile(r"[A-Za-z0-9._~+/=:-]+\Z")


@dataclass(frozen=True, slots=True)
class BasicPair:
    """The value of a Basic header: the scheme as it was written, and the decoded `user:password`."""

    scheme: bytes
    pair: bytes

    def encoded(self) -> bytes:
        """Return the header value."""
        return self.scheme + b" " + base64.b64encode(self.pair)


def placeholder_for(name: str) -> str:
    """Return the stand-in of a credential that configures none: the same one every time."""
    return f"ghost_{re.sub(r'[^A-Za-z0-9]', '_', name)}_placeholder"


def parse_placeholder(text: str, *, subject: str) -> bytes:
    """Check a configured placeholder: 8 or more characters of a token; raises ConfigError."""
    if len(text) < MIN_BYTES or not _SHAPE.match(text):
        raise ConfigError(
            f"{subject}: expected a placeholder of {MIN_BYTES} or more letters, digits or ._~+/=:-",
            code="credential.placeholder",
        )
    return text.encode("ascii")


def occurs_in(value: bytes, placeholder: bytes) -> bool:
    """Tell whether a header value holds the placeholder, as it is or inside Basic."""
    if placeholder in value:
        return True
    basic = basic_pair(value)
    return basic is not None and placeholder in basic.pair


def exposed(head: Head) -> bytes:
    """Return all that a head says as one text: path and query, names, values, and these decoded."""
    path = head.path.encode("utf-8", "surrogateescape")
    lines = [path, *(part for line in head.headers for part in line)]
    if b"%" in path:
        lines.append(unquote_to_bytes(path))
    said = b"\n".join(lines)
    if b"basic" not in said.lower():
        return said
    pairs = (basic_pair(value) for _, value in head.headers)
    return b"\n".join([said, *(each.pair for each in pairs if each is not None)])


def is_a_value(body: bytes, placeholder: bytes, *, form: bool) -> bool:
    """Tell whether the placeholder is all of a field or of a JSON string, not part of a longer text."""
    if form:
        values = (unquote_to_bytes(part.partition(b"=")[2]) for part in body.split(b"&"))
        return any(value == placeholder for value in values)
    return re.search(rb'(?<!\\)"' + re.escape(placeholder) + rb'"', body) is not None


def basic_pair(value: bytes) -> BasicPair | None:
    """Open the value of a Basic header (RFC 7617); None for anything else."""
    scheme, _, encoded = value.strip().partition(b" ")
    if scheme.lower() != b"basic":
        return None
    encoded = encoded.strip().rstrip(b"=")
    try:
        pair = base64.b64decode(encoded + b"=" * (-len(encoded) % 4), validate=True)
    except binascii.Error:
        return None
    return BasicPair(scheme, pair)
