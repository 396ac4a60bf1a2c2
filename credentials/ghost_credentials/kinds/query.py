"""A named query parameter, percent-encoded (RFC 3986 §3.4); every other parameter keeps its bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_plus

from ghost_core.errors import ConfigError
from ghost_credentials.head import Head

if TYPE_CHECKING:
    from ghost_core.settings import CredentialSettings


@dataclass(frozen=True, slots=True)
class Query:
    """The secret is the value of `parameter`."""

    parameter: str

    def inject(self, head: Head, secret: bytes) -> Head:
        """Set the one parameter of this name, in the place of the first one."""
        path, _, query = head.path.partition("?")
        parts = query.split("&") if query else []
        places = [index for index, part in enumerate(parts) if names(part, self.parameter)]
        made = pair(self.parameter, secret)
        place = places[0] if places else len(parts)
        rest = [part for index, part in enumerate(parts) if index not in places]
        return head.with_path(path + "?" + "&".join((*rest[:place], made, *rest[place:])))

    def exposures(self, secret: bytes) -> tuple[bytes, ...]:
        """Return the secret; its percent forms are the scrubber's matter."""
        return (secret,)


def names(part: str, parameter: str) -> bool:
    """Tell whether a piece of a query sets this parameter, however its name is encoded."""
    return unquote_plus(part.partition("=")[0]) == parameter


def pair(parameter: str, value: bytes) -> str:
    """Return `name=value`, both with everything but unreserved characters encoded."""
    return f"{quote(parameter, safe='')}={quote(value, safe='')}"


def build(settings: CredentialSettings, *, name: str) -> Query:
    """Make the kind; raises ConfigError without the parameter's name."""
    parameter = settings.query or ""
    if not parameter.isprintable() or not parameter.strip():
        raise ConfigError(
            f"credential {name!r}: expected the name of a query parameter",
            code="credential.query",
            hint=f'set credentials.{name}.query to a name such as "key"',
        )
    return Query(parameter)
