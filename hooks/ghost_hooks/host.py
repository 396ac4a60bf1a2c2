"""One spelling of a host: what is compared, dialled, certified and written down is the same text."""

from __future__ import annotations

import ipaddress
import re

from ghost_core.errors import DeniedError

HOST_LIMIT = 253
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\Z")
_NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)\Z")


def canonical_host(text: str) -> str:
    """Return the host in lower case without its trailing dot; IPv6 without brackets.

    Non-ASCII text, look-alikes, and IP literals in any but their normal form are refused.
    Raises: DeniedError `target.host`.
    """
    if not text.isascii():
        raise refused("has characters outside ASCII, use its xn-- form")
    host = text.lower().removesuffix(".")
    if ":" in host or "[" in host:
        return _version_six(host)
    if not 0 < len(host) <= HOST_LIMIT:
        raise refused(f"expected 1 to {HOST_LIMIT} characters, found {len(host)}")
    labels = host.split(".")
    if _NUMBER.match(labels[-1]):
        return _version_four(host)
    for label in labels:
        _check_label(label)
    return host


def is_address(host: str) -> bool:
    """Tell whether a canonical host is an IP literal."""
    return ":" in host or host.rpartition(".")[2].isdigit()


def refused(why: str) -> DeniedError:
    """Return the error of an unusable host; its text never repeats what the agent wrote."""
    return DeniedError(f"host: {why}", code="target.host")


def _check_label(label: str) -> None:
    if not _LABEL.match(label):
        raise refused("has an empty or malformed label")
    if not label.startswith("xn--"):
        return
    # An A-label that does not decode, or decodes to plain ASCII, shows as a name that it is not.
    try:
        plain = label[4:].encode().decode("punycode")
        same = plain.encode("punycode").decode() == label[4:]
    except (UnicodeError, ValueError) as error:
        raise refused("has an xn-- label that is no punycode") from error
    if plain.isascii() or not same:
        raise refused("has an xn-- label that is not in its one form")


def _version_four(host: str) -> str:
    """Hosts that end in a number are addresses to resolvers (WHATWG URL §3.5), however spelled."""
    try:
        address = ipaddress.IPv4Address(host)
    except ValueError as error:
        raise refused("is an IPv4 address in another form than a.b.c.d") from error
    return str(address)


def _version_six(host: str) -> str:
    inner = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    try:
        address = ipaddress.IPv6Address(inner)
    except ValueError as error:
        raise refused("is no IPv6 address") from error
    if address.ipv4_mapped is not None or address.scope_id or str(address) != inner:
        raise refused("is an IPv6 address in another form than its shortest (RFC 5952)")
    return inner
