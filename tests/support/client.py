"""An unmodified client program under the environment block of a session, and what became of its calls."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from support.agent import run_client
from support.home import PLACEHOLDER, SECRET, GhostHome
from support.shell import Session, entries, eventually, stored

if TYPE_CHECKING:
    from support.exchange import Record
    from support.upstream import Upstream

SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Client:
    """What a test drives: the session, its environment, and where its requests begin upstream."""

    home: GhostHome
    session: Session
    env: Mapping[str, str]
    up: Upstream
    before: int

    def run(
        self, *command: str, cwd: Path | None = None, stdin: bytes = b"", **env: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program to its end; it must succeed, and must not have seen the secret."""
        done = run_client(
            command,
            {"HOME": str(self.home.root), **self.env, **env},
            cwd=cwd,
            stdin=stdin,
            timeout=SECONDS,
        )
        assert done.returncode == 0, (done.stdout, done.stderr)
        assert SECRET.encode() not in done.stdout + done.stderr
        return done

    def python(self, text: str) -> bytes:
        """Run a program text of this interpreter; URL and KEY are the upstream's and the stand-in."""
        prelude = f"URL = {self.up.url!r}\nKEY = {PLACEHOLDER!r}\n"
        return self.run(sys.executable, "-c", prelude + text).stdout

    @property
    def bearer(self) -> str:
        """The header that an agent sends."""
        return f"Authorization: Bearer {PLACEHOLDER}"

    def seen(self, count: int = 1) -> Sequence[Record]:
        """Return what the upstream saw of this client: each with the secret once, never the stand-in."""
        found = self.up.wait_requests(self.before + count)[self.before :]
        assert len(found) == count
        for record in found:
            everything = b"\n".join((record.target, *(value for _, value in record.headers)))
            assert everything.count(SECRET.encode()) == 1
            assert record.all("authorization") == (f"Bearer {SECRET}".encode(),)
            assert PLACEHOLDER.encode() not in everything + record.body
            assert not record.all("proxy-authorization")
        return found

    def entered(self, count: int = 1) -> None:
        """Look into the ledger: so many calls with outcome, and the secret nowhere."""
        outcomes = eventually(
            lambda: (
                found
                if len(found := entries(self.home, self.session, "action.outcome")) >= count
                else None
            ),
            f"{count} outcomes",
        )
        assert [each.fields["status"] for each in outcomes] == ["executed"] * count
        intents = entries(self.home, self.session, "action.intent")
        assert {each.fields.get("credential") for each in intents} == {"demo"}
        assert SECRET.encode() not in stored(self.home, self.session)
