"""Where secrets come from: `env:`, `file:`, `cmd:`, `keyring:` and `vault:`, resolved anew for each request.

Kept are the answer of a command, for a minute at most, and a file until it changes: a secret that was
rotated or removed holds, or fails, from the next request on. Resolving can wait for a command, a keyring or
the database: call it in a thread.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from ghost_core.clock import Clock, SystemClock
from ghost_core.errors import ConfigError, NotFoundError, UnavailableError
from ghost_core.paths import Home, expand
from ghost_core.secret import SecretBytes
from ghost_credentials import ring
from ghost_credentials.command import Commands
from ghost_credentials.grammar import require_value

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ghost_credentials.vault import Vault

MAX_SECRET_BYTES = 16_384
"""Longer than any header that servers accept."""

type Mark = tuple[int, int, int, int, int]

_SETTLED_NS = 200_000_000
_SCHEMES = ("env", "file", "cmd", "keyring", "vault")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_VAULT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")


@dataclass(frozen=True, slots=True)
class Reference:
    """Where one secret lies; never the secret. `credential` is who asks, for messages."""

    scheme: str
    place: str
    credential: str = ""

    @classmethod
    def parse(cls, text: str, *, credential: str = "") -> Self:
        """Read `scheme:place`; raises ConfigError `credential.reference`, not repeating a possible secret."""
        scheme, _, place = text.partition(":")
        if scheme not in _SCHEMES or not place.strip():
            name = credential or "NAME"
            raise ConfigError(
                f"{_who(credential)}: expected a reference {' '.join(f'{each}:…' for each in _SCHEMES)}, "
                "found something else, not shown because it may be the secret",
                code="credential.reference",
                hint=f'ghost credential add {name}, then secret = "vault:{name}"',
            )
        found = cls(scheme, place, credential)
        found._require_place()
        return found

    @property
    def shown(self) -> str:
        """The reference as messages name it; of a command only the program, for arguments can be secrets."""
        if self.scheme == "cmd":
            return f"cmd:{shlex.split(self.place)[0]} …"
        return f"{self.scheme}:{self.place}"

    @property
    def subject(self) -> str:
        """Credential and reference, to begin a message with."""
        return f"{_who(self.credential)} from {self.shown}"

    def require_package(self) -> None:
        """Check that what reads the secret is installed; raises ConfigError `credential.keyring`."""
        if self.scheme == "keyring":
            ring.require_package(subject=self.subject)

    def _require_place(self) -> None:
        fits = {
            "env": lambda: _ENV_NAME.match(self.place) is not None,
            "file": lambda: "\0" not in self.place,
            "cmd": lambda: _splits(self.place),
            "keyring": lambda: ring.is_entry(self.place),
            "vault": lambda: is_vault_name(self.place),
        }
        if not fits[self.scheme]():
            raise ConfigError(
                f"{_who(self.credential)}: the part after {self.scheme}: cannot be read",
                code="credential.reference",
            )


class SecretSource:
    """Resolves references to secrets; safe to share between threads."""

    def __init__(
        self,
        home: Home,
        engine: Engine,
        *,
        clock: Clock | None = None,
        environ: Mapping[str, str] | None = None,
        command_seconds: float = 10.0,
    ) -> None:
        self._home = home
        self._engine = engine
        # only what a reference names is looked up here, never a setting
        self._environ = os.environ if environ is None else environ  # noqa: TID251
        self._commands = Commands(
            clock or SystemClock(), folder=home.root, timeout_seconds=command_seconds
        )
        self._vault: Vault | None = None
        self._files: dict[str, tuple[Mark, SecretBytes]] = {}
        self._paths: dict[
            str, str
        ] = {}  # by the place of a reference: there are as many as credentials

    def resolve(self, reference: Reference) -> SecretBytes:
        """Return the secret as it is now, without one trailing newline.

        Raises NotFoundError `credential.missing` if there is none, ConfigError
        `credential.malformed` if it could not be a header value, UnavailableError
        `credential.unavailable` if a file or command fails.
        """
        if reference.scheme == "file":
            return self._file(reference)
        return accept(self._read(reference), subject=reference.subject)

    def forget(self) -> None:
        """Wipe what is kept of secret files; they are read again when they are needed."""
        for _, secret in self._files.values():
            secret.wipe()
        self._files.clear()

    def _file(self, reference: Reference) -> SecretBytes:
        """Return the secret of a file, read again when the file is another or was written.

        What was written in the last moment may be written again within one time stamp, so it is not kept.
        """
        path = self._path(reference.place)
        try:
            found = os.stat(path)  # noqa: PTH116  # at every call, and a Path is slow to look up
        except OSError:
            self._files.pop(path, None)
            return accept(self._from_file(reference), subject=reference.subject)
        mark = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        kept = self._files.get(path)
        if kept is not None and kept[0] == mark:
            return kept[1]
        settled = time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) > _SETTLED_NS
        secret = accept(self._from_file(reference), subject=reference.subject)
        if settled:
            self._files[path] = (mark, secret)
        return secret

    def _path(self, place: str) -> str:
        found = self._paths.get(place)
        if found is None:
            found = self._paths[place] = str(expand(place, base=self._home))
        return found

    def _read(self, reference: Reference) -> SecretBytes:
        match reference.scheme:
            case "env":
                return self._from_environment(reference)
            case "cmd":
                return self._commands.answer(reference.place, subject=reference.subject)
            case "keyring":
                return _from_keyring(reference)
            case _:
                return self._from_vault(reference)

    def _from_environment(self, reference: Reference) -> SecretBytes:
        value = self._environ.get(reference.place)
        if value is None:
            raise _missing(reference, "is not set", hint=f"export {reference.place}=…")
        return SecretBytes(os.fsencode(value))

    def _from_file(self, reference: Reference) -> SecretBytes:
        path = expand(reference.place, base=self._home)
        try:
            # O_NONBLOCK: a pipe in the file's place must not hold the request for ever
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as file:
                regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
                data = file.read(MAX_SECRET_BYTES + 3) if regular else b""
        except FileNotFoundError as error:
            raise _missing(reference, "does not exist") from error
        except OSError as error:
            raise UnavailableError(
                f"{reference.subject}: cannot be read, {error.strerror}",
                code="credential.unavailable",
            ) from error
        if not regular:
            raise ConfigError(
                f"{reference.subject}: expected a regular file", code="credential.reference"
            )
        return SecretBytes(data)

    def _from_vault(self, reference: Reference) -> SecretBytes:
        if self._vault is None:
            # here and not above: most homes have no vault, and the database library is slow to load
            from ghost_credentials.vault import Vault

            self._vault = Vault(self._home, self._engine)
        found = self._vault.find(reference.place)
        if found is None:
            hint = f"ghost credential add {reference.place}"
            raise _missing(reference, "is not in the vault", hint=hint)
        return found


def is_vault_name(text: str) -> bool:
    """Tell whether the text can name a secret in the vault."""
    return _VAULT_NAME.match(text) is not None


def accept(raw: SecretBytes, *, subject: str) -> SecretBytes:
    """Take a secret as it was read, without one trailing newline, and wipe what was read.

    Raises ConfigError `credential.malformed` if it could not be a header value.
    """
    value = raw.reveal()
    raw.wipe()
    value = value[:-2] if value.endswith(b"\r\n") else value.removesuffix(b"\n")
    if len(value) > MAX_SECRET_BYTES:
        raise ConfigError(
            f"{subject}: the secret is longer than {MAX_SECRET_BYTES} bytes",
            code="credential.malformed",
        )
    require_value(value, subject=subject)
    return SecretBytes(value)


def _who(credential: str) -> str:
    return f"credential {credential!r}" if credential else "credential"


def _splits(command: str) -> bool:
    try:
        return bool(shlex.split(command))
    except ValueError:
        return False


def _from_keyring(reference: Reference) -> SecretBytes:
    found = ring.find(reference.place, subject=reference.subject)
    if found is None:
        hint = "keyring set " + " ".join(reference.place.rpartition("/")[::2])
        raise _missing(reference, "is not in the keyring", hint=hint)
    return found


def _missing(reference: Reference, text: str, *, hint: str | None = None) -> NotFoundError:
    return NotFoundError(f"{reference.subject}: {text}", code="credential.missing", hint=hint)
