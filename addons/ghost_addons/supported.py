"""Which settings this version can honour; what it cannot is refused at the start."""

from __future__ import annotations

from collections.abc import Callable

from ghost_addons import cosigning, events
from ghost_core import settings as configuration
from ghost_core.errors import ConfigError
from ghost_core.settings import Settings
from ghost_core.settings_tables import RotateSettings
from ghost_credentials.binding import Credentials
from ghost_hooks import rules
from ghost_hooks.known import Known, require_credentials
from ghost_hooks.tools import Catalogue

__all__ = ["refuse_unsupported"]


def refuse_unsupported(
    settings: Settings, *, note: Callable[[str], None] = configuration.note
) -> None:
    """Refuse what this version does not do; a setting that is taken must never be ignored.

    `note` hears of what a project's untrusted file cannot break.

    Raises ConfigError, `config.unsupported` or what a rule, webhook, witness or credential is refused for.
    """
    rotated = (
        f"credentials.{name}.{'issuer' if each.issuer != 'static' else 'rotate'}"
        for name, each in settings.credentials.items()
        if each.issuer != "static" or each.rotate != RotateSettings()
    )
    asked = {
        "proxy.upstream_proxy": bool(settings.proxy.upstream_proxy),
        "proxy.workers": settings.proxy.workers != 1,
        **dict.fromkeys(rotated, True),
    }
    events.check(settings)
    cosigning.check(settings)
    Credentials.from_settings(settings)  # a kind or reference that cannot be used is told now
    require_credentials(settings)
    # A condition that cannot be read would refuse every call, a name that points nowhere none.
    known = Known.of(Catalogue.from_settings(settings))
    known.require(rules.from_settings(settings.rules), note=note)
    for name, wanted in asked.items():
        if wanted:
            raise ConfigError(
                f"{name}: not available in this version, and it may not be ignored",
                code="config.unsupported",
                hint="remove it from ghost.toml",
            )
