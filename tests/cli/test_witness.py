"""`ghost witness serve`: a process of its own."""

from __future__ import annotations

import http.client
import signal
import socket
import stat
from pathlib import Path

import pytest

from ghost_cli.main import main
from ghost_ledger.cosignature import WitnessKey, cosigned
from support.bundles import Log
from support.cosigners import asking, named, serving

LOG = Log().session().finish().log


def post(port: int, body: bytes) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", "/add-checkpoint", body)
    answer = connection.getresponse()
    try:
        return answer.status, answer.read()
    finally:
        connection.close()


def test_it_cosigns_ends_on_sigterm_and_remembers(tmp_path: Path) -> None:
    listed = tmp_path / "logs"
    listed.write_text(f"# our log\n\n{LOG.vkey.format()}\n", "utf-8")
    with serving(tmp_path, "--logs", str(listed)) as first:
        assert first.document["logs"] == [LOG.origin]
        status, body = post(first.port, asking(LOG, 0, 2))
        assert status == 200
        key = WitnessKey.parse(first.vkey)
        assert key in cosigned(LOG.head(2) + body, [key])
    assert first.process.returncode == 0
    with serving(tmp_path, "--log", LOG.vkey.format()) as again:
        assert again.vkey == first.vkey
        assert post(again.port, asking(LOG, 0)) == (409, b"2\n")
        assert post(again.port, asking(LOG, 2))[0] == 200
    mode = (tmp_path / "home" / "keys" / "witness_key").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_it_listens_on_loopback_and_ends_with_an_open_connection(tmp_path: Path) -> None:
    with serving(tmp_path, "--log", LOG.vkey.format()) as found:
        assert found.document["url"] == f"http://127.0.0.1:{found.port}"
        line = socket.create_connection(("127.0.0.1", found.port), timeout=10)
        line.sendall(b"POST /add-checkpoint HTTP/1.1\r\n")
    line.close()
    assert found.process.returncode == 0


def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    with serving(tmp_path, "--log", LOG.vkey.format(), end=signal.SIGINT) as found:
        pass
    assert found.process.returncode == 130


def test_without_a_log_there_is_nothing_to_cosign(home: Path) -> None:
    assert main(["witness", "serve"]) == 2


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--log", "x"], 2),
        (["--log", named(1).format()], 2),
        (["--logs", "missing"], 4),
        (["--log", LOG.vkey.format(), "--host", "192.0.2.1"], 4),
        (["--log", LOG.vkey.format(), "--name", "two words"], 7),
    ],
    ids=range(5),
)
def test_what_cannot_be_served_is_refused(home: Path, words: list[str], code: int) -> None:
    assert main(["witness", "serve", "--port", "0", *words]) == code


def test_a_busy_port_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["witness", "serve", "--port", port, "--log", LOG.vkey.format()]) == 4
    printed = capsys.readouterr().err
    assert f"port {port}" in printed
    assert "ghost witness serve --port PORT" in printed


def test_a_lost_memory_is_refused(home: Path, tmp_path: Path) -> None:
    words = ["witness", "serve", "--port", "0", "--log", LOG.vkey.format(), "--name", "two words"]
    assert main(words) == 7  # the name, once key and memory are made
    (home / "witness" / "heads").unlink()
    assert main(words[:-2]) == 7
