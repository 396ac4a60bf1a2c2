"""A part of the path, as in `/bot<secret>/send`: the secret takes the place of the placeholder there.

The agent's path holds the placeholder, so that is what is judged and recorded. The secret is
percent-encoded (RFC 3986 §3.3) and stays inside its segment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from ghost_core.errors import ConfigError, DeniedError
from ghost_credentials.head import Head
from ghost_credentials.placeholder import parse_placeholder, placeholder_for

if TYPE_CHECKING:
    from ghost_core.settings import CredentialSettings

# what may stand in a segment as it is, less ";", which begins a parameter
_SEGMENT_SAFE = "!$&'()*+,=:@"
_SLASH = re.compile(rb"[/\\]")
_DOTS = re.compile(r"/\.{1,2}(?:/|\Z)")


@dataclass(frozen=True, slots=True)
class Path:
    """The secret stands where the agent wrote `placeholder`, once, anywhere in the path."""

    placeholder: bytes
    name: str

    def inject(self, head: Head, secret: bytes) -> Head:
        """Return the head for the path with the secret.

        Raises DeniedError `credential.place` where the placeholder does not stand once in the path,
        ConfigError `credential.malformed` for a secret that would be more than a part of a segment.
        """
        path, mark, query = head.path.partition("?")
        held = self.placeholder.decode("ascii")
        forms = {held, quote(held, safe="~")}
        found = [form for form in forms if form in path]
        if sum(path.count(form) for form in forms) != 1:
            raise DeniedError(
                f"credential {self.name!r}: expected its placeholder once in the path",
                code="credential.place",
                hint=f"send {held} where the service expects the secret",
            )
        made = path.replace(found[0], quote(secret, safe=_SEGMENT_SAFE))
        if _SLASH.search(secret) or _DOTS.search(made):
            raise ConfigError(
                f"credential {self.name!r}: the secret would change the path's segments",
                code="credential.malformed",
            )
        return head.with_path(made + mark + query)

    def exposures(self, secret: bytes) -> tuple[bytes, ...]:
        """Return the secret; its percent forms are the scrubber's matter."""
        return (secret,)


def build(settings: CredentialSettings, *, name: str) -> Path:
    """Make the kind; raises ConfigError for a placeholder that cannot stand in one segment."""
    text = settings.placeholder or placeholder_for(name)
    if "/" in text:
        raise ConfigError(
            f"credential {name!r}: expected a placeholder without a slash, for it stands in a path",
            code="credential.placeholder",
        )
    return Path(parse_placeholder(text, subject=f"credential {name!r}"), name)
