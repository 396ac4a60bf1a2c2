"""The demo's own home in a temporary folder: nothing of the user's is read or written.

Commands run in that folder, so that no project's `ghost.toml` takes part.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ghost_cli.demo import certificate
from ghost_core.errors import UnavailableError
from ghost_core.files import write_file
from ghost_core.secret import SecretBytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ghost_cli.demo.api import Api

TOOL = "payments"

_CONFIG = """\
# written by `ghost demo`
[proxy]
port = {port}
record = "all"
upstream_ca = "{root}/api.pem"
allow_private = ["{authority}"]

[credentials.payments_key]
kind = "bearer"
secret = "file:{root}/payments.key"
hosts = ["{authority}"]
placeholder = "{placeholder}"

[tools.{tool}]
credential = "payments_key"
base_url = "https://{authority}"
actions.create_payment = {{ method = "POST", path = "/v1/payments" }}
actions.read_balance = {{ method = "GET", path = "/v1/balance" }}
actions.read_feed = {{ method = "GET", path = "/v1/feed" }}
actions.who_am_i = {{ method = "GET", path = "/v1/whoami" }}
"""


@dataclass(frozen=True, slots=True)
class Place:
    """One temporary folder with home, runtime folder, certificate and the API's real key."""

    root: Path
    port: int
    key: SecretBytes
    placeholder: str
    certificate: certificate.Certificate

    @property
    def home(self) -> Path:
        """The GHOST_HOME."""
        return self.root / "home"

    @property
    def key_file(self) -> Path:
        """The one file that holds the real key."""
        return self.root / "payments.key"

    @property
    def environment(self) -> dict[str, str]:
        """What a `ghost` command gets, and nothing of the user's own environment."""
        return {
            **self.bare,
            "GHOST_HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.root / "run"),
        }

    @property
    def bare(self) -> dict[str, str]:
        """What every child gets: where programs are, a folder to call home, UTF-8."""
        path = os.pathsep.join((str(Path(sys.executable).parent), os.defpath))
        return {"PATH": path, "HOME": str(self.root), "LC_ALL": "C.UTF-8"}

    def configure(self, api: Api, *, actions: str = "") -> None:
        """Write the `ghost.toml` that puts the API behind the tool `payments`; `actions` are more of it."""
        text = _CONFIG.format(
            port=self.port,
            root=self.root,
            authority=api.authority,
            placeholder=self.placeholder,
            tool=TOOL,
        )
        write_file(self.home / "ghost.toml", (text + actions).encode(), mode=0o600)

    def files(self) -> list[Path]:
        """Every file of the home and the runtime folder."""
        folders = (self.home, self.root / "run")
        return [path for folder in folders for path in folder.rglob("*") if path.is_file()]


@contextmanager
def prepare() -> Iterator[Place]:
    """Make the folder with a fresh key; it is removed when the block ends."""
    # A socket path has room for about 100 characters, so not below a long TMPDIR.
    short = "/tmp" if os.access("/tmp", os.W_OK) else None  # noqa: S108
    root = Path(tempfile.mkdtemp(prefix="ghost-demo-", dir=short))
    try:
        for folder in ("home", "run"):
            (root / folder).mkdir(mode=0o700)
        key = SecretBytes(f"sk_live_{secrets.token_hex(16)}".encode())
        placeholder = f"sk_ghost_{secrets.token_hex(16)}"
        place = Place(root, _free_port(), key, placeholder, certificate.make(root))
        # The nearest file is the project's: with this one, none of the folders above.
        write_file(root / "ghost.toml", b"", mode=0o600)
        write_file(place.key_file, key.reveal() + b"\n", mode=0o600)
        yield place
        key.wipe()
    finally:
        shutil.rmtree(root, ignore_errors=True)


def program(name: str) -> str:
    """Return the path of a program; raises UnavailableError."""
    found = shutil.which(name, path=os.defpath) or shutil.which(name)
    if found is None:
        raise UnavailableError(
            f"program {name!r}: not found", code="demo.program", hint=f"install {name}"
        )
    return found


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
