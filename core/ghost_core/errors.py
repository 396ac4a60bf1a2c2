"""The one tree of errors: children say what the caller can do, and carry the exit code."""

from __future__ import annotations

from typing import ClassVar


class GhostError(Exception):
    """Any failure that ghost explains itself: a message, a stable code, an exit code, a hint."""

    exit_code: ClassVar[int] = 1
    default_code: ClassVar[str] = "failed"

    def __init__(self, message: str, *, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.hint = hint


class FailedError(GhostError):
    """It ran, and the answer is no; or an upstream failed."""


class UsageError(GhostError):
    """The command line is wrong."""

    exit_code = 2
    default_code = "usage"


class ConfigError(GhostError):
    """A setting, a schema or a hook definition is wrong."""

    exit_code = 3
    default_code = "config"


class NotFoundError(GhostError):
    """Something that was named does not exist."""

    exit_code = 4
    default_code = "not_found"


class UnavailableError(GhostError):
    """Something needed is busy or cannot be used: a port, a lock, a disk."""

    exit_code = 4
    default_code = "unavailable"


class DeniedError(GhostError):
    """A scope, rule, hook, schema or a dead session refused."""

    exit_code = 5
    default_code = "denied"


class LimitError(GhostError):
    """A budget, a count or a time ran out."""

    exit_code = 6
    default_code = "limit"


class IntegrityError(GhostError):
    """Evidence is broken: grammar, signature, chain, proof, fork."""

    exit_code = 7
    default_code = "integrity"


class IncompleteError(GhostError):
    """Evidence is not broken but does not suffice: unsealed, unpinned, unknown version."""

    exit_code = 8
    default_code = "incomplete"
