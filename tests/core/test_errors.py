from __future__ import annotations

import pytest

from ghost_core import errors
from ghost_core.errors import GhostError

CODES = {
    "GhostError": (1, "failed"),
    "FailedError": (1, "failed"),
    "UsageError": (2, "usage"),
    "ConfigError": (3, "config"),
    "NotFoundError": (4, "not_found"),
    "UnavailableError": (4, "unavailable"),
    "DeniedError": (5, "denied"),
    "LimitError": (6, "limit"),
    "IntegrityError": (7, "integrity"),
    "IncompleteError": (8, "incomplete"),
}


def test_every_error_keeps_its_exit_code_and_its_name() -> None:
    found = {
        name: (each.exit_code, each.default_code)
        for name, each in vars(errors).items()
        if isinstance(each, type) and issubclass(each, GhostError)
    }
    assert found == CODES


def test_an_error_carries_message_code_and_hint() -> None:
    error = errors.DeniedError("no", code="session.token", hint="ghost spawn")
    assert (str(error), error.code, error.hint) == ("no", "session.token", "ghost spawn")


def test_without_a_code_of_its_own_an_error_has_its_kinds() -> None:
    with pytest.raises(GhostError) as caught:
        raise errors.LimitError("too much")
    assert (caught.value.code, caught.value.hint) == ("limit", None)
