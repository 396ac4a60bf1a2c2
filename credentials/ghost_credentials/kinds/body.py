"""One field of a JSON or form body, `body = "token"`; for JSON also a pointer (RFC 6901), "/auth/token".

The body is held, only the field's bytes change, and a body that cannot be read in one way is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ghost_core.errors import ConfigError, DeniedError
from ghost_core.media import utf8_type
from ghost_credentials.head import Head
from ghost_credentials.splice import set_form, set_json

if TYPE_CHECKING:
    from ghost_core.settings import CredentialSettings

_JSON = re.compile(r"(?:application/json|[a-z]+/[a-z0-9.+-]+\+json)\Z")
_FORM = "application/x-www-form-urlencoded"
_NAME = re.compile(r"(?!\s)[^\[\]]+(?:\[[^\[\]]*\])*(?<!\s)\Z")
_POINTER = re.compile(r"(?:/(?:[^/~]|~[01])+)+\Z")


@dataclass(frozen=True, slots=True)
class Body:
    """The secret is the value of the field at the end of the steps."""

    steps: tuple[str, ...]
    name: str

    def inject(self, head: Head, _secret: bytes) -> Head:
        """Return the head as it is."""
        return head

    def fill(self, head: Head, body: bytes, secret: bytes) -> bytes:
        """Return the body with the secret in its field.

        Raises DeniedError `credential.media` for a type or coding that cannot be read, `credential.body`
        for a body without a place for it, ConfigError for a secret that is no text.
        """
        media = _media(head)
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DeniedError("body: expected UTF-8", code="credential.body") from error
        value = self.text(secret)
        if _JSON.match(media):
            return set_json(text, self.steps, value).encode()
        if media == _FORM and len(self.steps) == 1:
            return set_form(text, self.steps[0], value).encode()
        raise _unreadable("JSON, or a form where the credential names one field")

    def text(self, secret: bytes) -> str:
        """Return the secret as text; raises ConfigError `credential.malformed`."""
        try:
            return secret.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ConfigError(
                f"credential {self.name!r}: expected a secret in UTF-8, for it stands in a body",
                code="credential.malformed",
            ) from error

    def exposures(self, secret: bytes) -> tuple[bytes, ...]:
        """Return the secret; its JSON and form encodings are the scrubber's matter."""
        return (secret,)


def build(settings: CredentialSettings, *, name: str) -> Body:
    """Make the kind; raises ConfigError without the field's name, or with a pointer that is none."""
    place = settings.body or ""
    pointer = place.startswith("/")
    grammar = _POINTER if pointer else _NAME
    if not place.isprintable() or not grammar.match(place):
        raise ConfigError(
            f"credential {name!r}: expected the name of a body field, or a JSON pointer",
            code="credential.body",
            hint=f'set credentials.{name}.body to "token" or "/auth/token"',
        )
    steps = place[1:].split("/") if pointer else [place]
    # RFC 6901 §4: first ~1, then ~0
    unescaped = [step.replace("~1", "/").replace("~0", "~") for step in steps] if pointer else steps
    return Body(tuple(unescaped), name)


def _media(head: Head) -> str:
    coding = head.get("content-encoding") or b""
    kinds = head.values("content-type")
    plain = coding.strip().lower() in {b"", b"identity"}
    try:
        media = utf8_type(kinds[0].decode("latin-1")) if len(kinds) == 1 and plain else ""
    except ValueError:
        media = ""
    if not media:
        raise _unreadable("one content type, UTF-8 and no content encoding")
    return media


def _unreadable(expected: str) -> DeniedError:
    return DeniedError(f"body: expected {expected}", code="credential.media")
