"""A private PostgreSQL in a temporary folder: a Unix socket without, a loopback port with a password.

The server refuses to run as root, so root starts it as `nobody`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

from ghost_core import db
from support.processes import free_port

USER, PASSWORD = "ghost", "correct-horse"
_PLACES = ("/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt")
_ROOT = Path(__file__).parents[2]
_FETCHED = _ROOT / ".venv" / "pgvector"  # by scripts/fetch_pgvector.sh
_NOBODY = 65534
_numbers = count()


def programs(extension: str = "") -> Path | None:
    """Return the folder of `initdb` and `postgres` of a server, with this extension; None for none."""
    found = [Path(shutil.which("initdb") or "/nonexistent")]
    for place in (_ROOT / ".cache" / "postgresql", *map(Path, _PLACES), _FETCHED):
        found += sorted(place.glob("**/bin/initdb"), reverse=True)
    folders = (path.parent for path in found if (path.parent / "postgres").exists())
    return next((each for each in folders if not extension or has(each, extension)), None)


def has(bin_: Path, extension: str) -> bool:
    """Tell whether a server has an extension, and whoever would run it may."""
    words = [str(bin_ / "pg_config"), "--sharedir"]
    try:
        place = subprocess.run(words, capture_output=True, text=True, user=_owner(), check=False)
    except OSError:
        return False
    return Path(place.stdout.strip(), "extension", f"{extension}.control").exists()


@dataclass(frozen=True, slots=True)
class Server:
    """A running server; every test takes a database of its own."""

    folder: Path
    port: int

    def database(self, *, template: str = "template0") -> str:
        """Make a database, empty or a copy, for which nobody may use the original; returns its name."""
        name = f"t{next(_numbers)}"
        self.run(
            "postgres",
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            f" WHERE datname = '{template}'",
            f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy",
        )
        return name

    def url(self, database: str) -> str:
        """Return the address over the socket, which asks for no password."""
        return f"postgresql+psycopg://{USER}@/{database}?host={self.folder}&port={self.port}"

    def tcp_url(self, database: str, *, user: str = USER) -> str:
        """Return the address over loopback, where the server wants the password."""
        return f"postgresql+psycopg://{user}@127.0.0.1:{self.port}/{database}"

    def run(self, database: str, *statements: str) -> list[Any]:
        """Run statements as the administrator, each by itself; returns the rows of the last one."""
        rows: list[Any] = []
        with self.connect(database) as connection:
            for statement in statements:
                cursor = connection.execute(statement)  # type: ignore[arg-type]  # text of tests
                rows = cursor.fetchall() if cursor.description else []
        return [row[0] if len(row) == 1 else row for row in rows]

    def connect(self, database: str) -> psycopg.Connection[Any]:
        """Open a connection as any other program would; autocommit."""
        return psycopg.connect(
            host=str(self.folder), port=self.port, user=USER, dbname=database, autocommit=True
        )


@dataclass(frozen=True, slots=True)
class Shared:
    """One database of a server."""

    server: Server
    name: str

    @property
    def url(self) -> str:
        """Its address over the socket."""
        return self.server.url(self.name)

    def run(self, *statements: str) -> list[Any]:
        """Run statements from outside; see `Server.run`."""
        return self.server.run(self.name, *statements)

    def gaps(self) -> list[Any]:
        """Return what would not fit one gap-free chain: indexes and sequence numbers that jump."""
        return self.run(
            "SELECT idx FROM (SELECT idx, row_number() OVER (ORDER BY idx) - 1 AS place, seq,"
            " row_number() OVER (PARTITION BY sid ORDER BY seq) - 1 AS turn FROM entries) e"
            " WHERE idx <> place OR seq <> turn"
        )


@contextlib.contextmanager
def running(bin_: Path) -> Iterator[Server]:
    """Make a cluster, start it, and remove it in the end."""
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        owner = _owner()
        _initialised(bin_, folder, owner)
        server = Server(folder, free_port())
        process = _started(bin_, server, owner)
        try:
            _await(server, process)
            yield server
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)


def _owner() -> int | None:
    return _NOBODY if os.geteuid() == 0 else None


def _initialised(bin_: Path, folder: Path, owner: int | None) -> None:
    password = folder / "password"
    password.write_text(PASSWORD)
    if owner is not None:
        os.chown(folder, owner, owner)
        os.chown(password, owner, owner)
    words = ["initdb", "-D", str(folder / "data"), "-U", USER, "--no-sync", "--no-instructions"]
    words += ["--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={password}"]
    words += ["--encoding=UTF8", "--locale=C"]
    _run(bin_, words, owner).communicate(timeout=60)


def _started(bin_: Path, server: Server, owner: int | None) -> subprocess.Popen[bytes]:
    settings = {
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": server.folder,
        "fsync": "off",
        "full_page_writes": "off",
        "max_connections": 200,
        "shared_buffers": "32MB",
        "autovacuum": "off",
    }
    words = ["postgres", "-D", str(server.folder / "data"), "-p", str(server.port)]
    for key, value in settings.items():
        words += ["-c", f"{key}={value}"]
    return _run(bin_, words, owner)


def _run(bin_: Path, words: list[str], owner: int | None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [str(bin_ / words[0]), *words[1:]],
        cwd="/",
        env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        user=owner,
        group=owner,
    )


def _await(server: Server, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 20
    while True:
        try:
            server.connect("postgres").close()
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return


def migrated(server: Server) -> str:
    """Make a database with our tables, from which others are copied, and return its name."""
    name = server.database()
    engine = db.engine(server.url(name))
    db.migrate(engine)
    engine.dispose()
    return name
