"""Names of headers as servers compare them."""

from __future__ import annotations

from functools import lru_cache

# CGI writes a header as a variable (RFC 3875 §4.1.18): whatever is no letter or digit is the same there
_AS_VARIABLE = bytes(
    each if chr(each).isalnum() and each < 128 else ord("-") for each in bytes(range(256)).lower()
)


@lru_cache(maxsize=1024)
def folded(name: bytes) -> bytes:
    """Return the name as servers compare it: lower case, and with `-` for all that CGI mixes up with it."""
    return name.translate(_AS_VARIABLE)
