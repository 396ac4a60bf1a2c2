"""How the values of `ghost.toml` are read: sizes, paths, the database address, references to secrets."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

from ghost_core.paths import Home, expand

REFERENCES = ("env:", "file:", "cmd:", "keyring:", "vault:")
"""What a reference to a secret begins with."""

PASSWORDS = frozenset({"password", "sslpassword"})
"""What the address of a database must not hold: it is shown, and lies in files."""

FIELD_PATH = r"(?:\$\.)?([A-Za-z_][\w-]*(?:\.[\w-]+|\[\d+\])*)"
"""How a field of the parameters is named: `amount`, `order.amount`, `items[0].amount`, also after `$.`."""

_SIZE = re.compile(r"(\d{1,15})\s*([kKMG]?i?B)?\Z")
_UNITS = {
    "B": 1,
    "kB": 1000,
    "KB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "KiB": 1024,
    "kiB": 1024,
    "MiB": 1024**2,
    "GiB": 1024**3,
}


def size_bytes(value: object) -> int:
    """Read a size: whole bytes, or text such as "64MB" (powers of 1000) or "64MiB" (powers of 1024).

    Raises ValueError for anything else; its text never repeats the value.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    found = _SIZE.match(value) if isinstance(value, str) else None
    factor = _UNITS.get(found.group(2) or "B") if found else None
    if found is None or factor is None:
        raise ValueError("expected a size such as 65536, '64MB' or '64MiB'")
    return int(found.group(1)) * factor


def database_url(text: str, *, base: Home | None = None) -> str:
    """Expand `~` and `$GHOST_HOME` in the path of a sqlite address; refuse a password in any address.

    Raises ValueError; its text never repeats the value.
    """
    scheme, mark, path = text.partition(":///")
    if scheme == "sqlite" and mark and path:
        return f"sqlite:///{expand(path, base=base)}"
    parts = urlsplit(text)
    if parts.scheme not in {"postgresql", "postgresql+psycopg"} or not parts.path.strip("/"):
        raise ValueError("expected sqlite:///PATH or postgresql+psycopg://user@host/db")
    asked = {name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    if parts.password is not None or asked & PASSWORDS:
        raise ValueError("expected no password in the address, use a .pgpass file")
    return text


def reference(text: str) -> str:
    """Check that the text points to a secret and is none; raises ValueError without repeating it."""
    prefix = next((each for each in REFERENCES if text.startswith(each)), None)
    if prefix is None or not text[len(prefix) :].strip():
        raise ValueError(f"expected a reference to a secret: {' '.join(REFERENCES)}")
    return text


def field_path(text: str) -> str:
    """Check that the text names a field; raises ValueError."""
    if not re.fullmatch(FIELD_PATH, text):
        raise ValueError(
            "expected the name of a field such as amount, order.amount, items[0].amount"
        )
    return text
