"""Which possess processes run, and reading what one prints before it goes on by itself."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ghost_cli import running
from ghost_core.errors import NotFoundError, UnavailableError
from ghost_core.paths import runtime_dir
from support.processes import free_port

WAIT_SECONDS = 20.0


def note(port: int, **changes: object) -> Path:
    """Leave the note of a possess on a port: this process, unless changed."""
    with running.announced(port):
        document = json.loads((runtime_dir() / f"possess-{port}.json").read_bytes())
    path = runtime_dir() / f"possess-{port}.json"
    path.write_text(json.dumps({**document, **changes}))
    return path


def child(text: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE)


def test_a_note_is_private_and_lives_as_long_as_its_process_says() -> None:
    with running.announced(4711):
        path = runtime_dir() / "possess-4711.json"
        assert path.stat().st_mode & 0o777 == 0o600
    assert not path.exists()


def test_the_port_of_the_only_one_is_taken_else_the_configured() -> None:
    assert running.port_of(9999) == 9999
    note(4711)
    assert running.port_of(9999) == 4711
    note(4712)
    assert running.port_of(9999) == 9999


def test_without_any_there_is_nothing_to_stop() -> None:
    with pytest.raises(NotFoundError, match="no possess") as caught:
        running.stop(None)
    assert caught.value.code == "possess.none"


def test_one_on_another_port_is_not_stopped() -> None:
    note(4711)
    with pytest.raises(NotFoundError, match="on port 4712"):
        running.stop(4712)


def test_among_several_a_port_must_be_named() -> None:
    note(4711)
    note(4712)
    with pytest.raises(UnavailableError, match="4711, 4712") as caught:
        running.stop(None)
    assert caught.value.code == "possess.several"


def test_a_process_that_only_has_the_same_number_is_left_alone() -> None:
    path = note(4711, started=1)
    with pytest.raises(NotFoundError):
        running.stop(4711)
    assert not path.exists()


def test_a_possess_of_another_home_is_left_alone() -> None:
    path = note(4711, home="/elsewhere")
    with pytest.raises(NotFoundError):
        running.stop(4711)
    assert path.exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x"}', '{"pid": 1, "port": 2}'])
def test_a_damaged_note_is_passed_over(text: str) -> None:
    (runtime_dir() / "possess-4711.json").write_text(text)
    assert running.port_of(9999) == 9999


def test_stop_waits_until_the_process_has_ended(capsys: pytest.CaptureFixture[str]) -> None:
    process = child("import signal; print('{}', flush=True); signal.pause()")
    try:
        assert running.first_object(process, seconds=WAIT_SECONDS) == {}
        started = int(Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19])
        note(4711, pid=process.pid, started=started)
        assert running.stop(None) == 0
        assert process.wait(WAIT_SECONDS) == -15
    finally:
        process.kill()
        process.wait(WAIT_SECONDS)
    assert capsys.readouterr().out == "Proxy stopped on port 4711\n"


def test_a_free_port_is_fine_and_a_busy_one_is_not() -> None:
    running.require_free("localhost", 0)
    running.require_free("localhost", free_port())
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(UnavailableError) as caught:
        running.require_free("localhost", taken.getsockname()[1])
    assert (caught.value.code, caught.value.exit_code) == ("port.busy", 4)
    assert "another process" in caught.value.message
    assert caught.value.hint == "choose another port: ghost possess --port PORT"


def test_a_port_of_our_own_is_told_as_ours_and_how_to_free_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = int(taken.getsockname()[1])
        note(port, pid=os.getpid(), started=running._started(os.getpid()))
        with pytest.raises(UnavailableError, match="by a possess of this home") as caught:
            running.require_free("localhost", port, "ghost witness serve")
    assert caught.value.hint == (
        f"stop it: ghost possess --stop --port {port}, or "
        "choose another port: ghost witness serve --port PORT"
    )


def test_an_address_of_nobody_is_left_to_the_engine_to_explain() -> None:
    running.require_free("203.0.113.1", 9999)


def test_an_object_that_comes_in_pieces_is_read_whole() -> None:
    process = child("import sys\nfor c in '{\"a\": 1\\n}': print(c, end='', flush=True)")
    assert running.first_object(process, seconds=WAIT_SECONDS) == {"a": 1}
    process.wait(WAIT_SECONDS)


def test_a_child_that_ends_without_an_object_is_none() -> None:
    process = child("print('text')")
    assert running.first_object(process, seconds=WAIT_SECONDS) is None
    process.wait(WAIT_SECONDS)


def test_a_child_that_says_nothing_in_time_is_none() -> None:
    process = child("import signal; signal.pause()")
    assert running.first_object(process, seconds=0.05) is None
    process.kill()
    process.wait(WAIT_SECONDS)


def test_the_last_error_object_is_the_error_that_it_was() -> None:
    schema = "ghost/error/v1"
    lines = [
        json.dumps({"schema": schema, "code": "first", "message": "m", "exit_code": 2}),
        "not json",
        json.dumps({"schema": "ghost/note/v1", "message": "a note"}),
        json.dumps(
            {"schema": schema, "code": "port.busy", "message": "m", "hint": "h", "exit_code": 4}
        ),
        "[]",
    ]
    error = running.last_error("\n".join(lines).encode())
    assert error is not None
    assert (error.code, error.hint, error.exit_code) == ("port.busy", "h", 4)
    assert running.last_error(b"Traceback\n") is None


def test_a_look_at_the_notes_changes_none_of_them() -> None:
    dead, damaged = note(4711, started=1), runtime_dir() / "possess-4712.json"
    damaged.write_text("[]")
    found = dict(running.notes(runtime_dir()))
    assert found[damaged] is None
    assert found[dead] is not None
    assert not found[dead].runs()
    assert dead.exists()
