"""The words in which the two kinds of database differ where memory is read without an ORM; loads nothing."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["DIALECTS", "POSTGRES", "SQLITE", "Dialect"]


class Dialect(NamedTuple):
    """The greater of two numbers, and the age of a memory `m` in days at `:now`."""

    greatest: str
    age: str


SQLITE: Final = Dialect("max", "(julianday(:now) - julianday(m.created_at))")
POSTGRES: Final = Dialect(
    "greatest",
    "(extract(epoch FROM CAST(CAST(:now AS text) AS timestamptz)"
    " - CAST(m.created_at AS timestamptz)) / 86400.0)",
)
DIALECTS: Final = {"sqlite": SQLITE, "postgresql": POSTGRES}
