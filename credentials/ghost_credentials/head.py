"""The head of a request as a plain value: what injection changes and what strip takes away."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import override


@dataclass(frozen=True, slots=True, repr=False)
class Head:
    """Method, path with query, and header lines in order; its `repr` shows no value and no query."""

    method: str
    path: str
    headers: tuple[tuple[bytes, bytes], ...] = ()

    def get(self, name: str | bytes) -> bytes | None:
        """Return the first value of the header, in any case of its name."""
        wanted = _lower(name)
        for found, value in self.headers:
            if found.lower() == wanted:
                return value
        return None

    def values(self, name: str | bytes) -> tuple[bytes, ...]:
        """Return every value of the header, in order."""
        wanted = _lower(name)
        return tuple([value for found, value in self.headers if found.lower() == wanted])

    def without(self, *names: str | bytes) -> Head:
        """Return the head without any line of these names."""
        gone = {_lower(name) for name in names}
        kept = tuple(line for line in self.headers if line[0].lower() not in gone)
        return replace(self, headers=kept)

    def with_header(self, name: str | bytes, value: bytes) -> Head:
        """Return the head with exactly one line of this name, lower case, where the first one stood."""
        wanted = _lower(name)
        names = [found.lower() for found, _ in self.headers]
        if wanted not in names:
            return Head(self.method, self.path, (*self.headers, (wanted, value)))
        place = names.index(wanted)
        rest = [
            line
            for found, line in zip(names[place:], self.headers[place:], strict=True)
            if found != wanted
        ]
        return Head(self.method, self.path, (*self.headers[:place], (wanted, value), *rest))

    def with_path(self, path: str) -> Head:
        """Return the head for another path and query."""
        return replace(self, path=path)

    @override
    def __repr__(self) -> str:
        return f"Head({self.method!r}, {len(self.headers)} headers)"


def _lower(name: str | bytes) -> bytes:
    return (name.encode("ascii") if isinstance(name, str) else name).lower()
