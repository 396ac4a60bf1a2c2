"""What the steps of the demo share: the place, the API, the session, and what was seen so far."""

from __future__ import annotations

import base64
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ghost_cli.demo import commands
from ghost_cli.demo.place import program
from ghost_cli.demo.seen import Seen, parse
from ghost_core.errors import FailedError

if TYPE_CHECKING:
    from ghost_cli.demo.api import Api
    from ghost_cli.demo.place import Place

AGENT = Path(__file__).with_name("agent.py")


@dataclass(slots=True)
class Stage:
    """One run of the demo; steps read it and leave in it what later steps need."""

    place: Place
    api: Api
    output: Path
    session: str = ""
    public_key: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    seen: dict[str, Seen] = field(default_factory=dict)

    @property
    def audit(self) -> Path:
        """The audit page."""
        return self.output / "audit.html"

    @property
    def bundle(self) -> Path:
        """The file for offline verification."""
        return self.output / "session.ghost"

    def ghost(self, *arguments: str, code: int = 0) -> commands.Done:
        """Run a `ghost` command in the demo's home; raises FailedError on another exit code."""
        place = self.place
        return commands.ghost(place.environment, *arguments, code=code, folder=place.root)

    def agent(self, *tasks: str) -> commands.Done:
        """Run the agent's script with the environment that ghost gave it, and nothing else."""
        # -I: neither the user's site folder nor PYTHON* variables take part.
        return commands.run([sys.executable, "-I", str(AGENT), *tasks], self.environment)

    def outside_call(self) -> Seen:
        """Make a call that the scope does not hold: by curl, or by the agent where curl is missing."""
        if shutil.which("curl") is None:
            return parse(self.agent("refund").out.splitlines()[0])
        form = "\n%{http_code} %{http_connect}"
        header = f"Authorization: Bearer {self.place.placeholder}"
        url = f"{self.api.url}/v1/payments/pay_1"
        words = ("-sS", "-m", "10", "-X", "DELETE", "-H", header, "-w", form, url)
        done = commands.run([program("curl"), *words], self.environment)
        body, _, codes = done.out.rpartition("\n")
        answered, tunnel = (int(code) for code in codes.split())
        return Seen(answered or tunnel, body)

    def without_key(self, where: str, data: bytes) -> None:
        """Make sure that the real key is not in there, neither plain nor base64 nor hex."""
        key = self.place.key.reveal()
        forms = (key, base64.b64encode(key).rstrip(b"="), key.hex().encode())
        require(f"no key in {where}", holds=not any(form in data for form in forms))


def expect(what: str, wanted: object, found: object) -> None:
    """Go on only if both are equal; raises FailedError."""
    if wanted != found:
        raise FailedError(f"{what}: expected {wanted!r}, found {found!r}", code="demo.unexpected")


def require(what: str, *, holds: bool) -> None:
    """Go on only if it holds; raises FailedError."""
    if not holds:
        raise FailedError(f"expected {what}, found otherwise", code="demo.unexpected")
