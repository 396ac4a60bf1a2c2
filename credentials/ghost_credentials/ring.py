"""Secrets of the system's keyring, through the optional package `keyring`, loaded when one is read."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from ghost_core.errors import ConfigError, UnavailableError
from ghost_core.secret import SecretBytes

_PACKAGE = "keyring"


def is_entry(place: str) -> bool:
    """Tell whether the text is `SERVICE/USER`; the service may hold slashes."""
    service, _, user = place.rpartition("/")
    return place.isprintable() and bool(service.strip()) and bool(user.strip())


def require_package(*, subject: str) -> None:
    """Check that the package is there; raises ConfigError `credential.keyring`."""
    if importlib.util.find_spec(_PACKAGE) is None:
        raise ConfigError(
            f"{subject}: the package keyring is not installed",
            code="credential.keyring",
            hint="pip install 'ghost-ledger[keyring]'",
        )


def find(place: str, *, subject: str) -> SecretBytes | None:
    """Return the secret of `SERVICE/USER`, or None if the keyring has none; it may ask to be unlocked.

    Raises ConfigError `credential.keyring` without the package, UnavailableError
    `credential.unavailable` if the keyring fails.
    """
    require_package(subject=subject)
    # Any: the package is not there when types are checked
    keyring: Any = importlib.import_module(_PACKAGE)
    service, _, user = place.rpartition("/")
    try:
        found = keyring.get_password(service, user)
    except Exception as error:  # back ends raise what their systems raise
        raise UnavailableError(
            f"{subject}: the keyring failed, {type(error).__name__}",
            code="credential.unavailable",
            hint="unlock the keyring, or choose another back end: keyring diagnose",
        ) from error
    return None if found is None else SecretBytes(str(found).encode("utf-8", "surrogateescape"))
