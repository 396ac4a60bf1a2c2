"""Foreign programs are contained."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from ghost_hooks.process import OUTPUT_LIMIT, Finished, environment, run


def _python(folder: Path, source: str, *, stdin: bytes = b"", seconds: float = 5) -> Finished:
    argv = [sys.executable, "-I", "-S", "-c", source]
    return asyncio.run(run(argv, stdin=stdin, folder=folder, timeout_seconds=seconds))


def test_input_output_and_exit_status_pass(tmp_path: Path) -> None:
    source = "import sys; sys.stdout.write(sys.stdin.read().upper()); sys.exit(3)"
    finished = _python(tmp_path, source, stdin=b"text")
    assert (finished.exit, finished.output) == (3, b"TEXT")
    assert not finished.timed_out
    assert not finished.overflowed


def test_large_input_that_nobody_reads_blocks_nobody(tmp_path: Path) -> None:
    assert _python(tmp_path, "pass", stdin=b"x" * 1_000_000).exit == 0


def test_the_environment_holds_nothing_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRIPE_API_KEY", "sk_live")
    finished = _python(tmp_path, "import os; print(sorted(os.environ), os.getcwd())")
    assert b"STRIPE" not in finished.output
    assert finished.output.decode().strip().endswith(str(tmp_path.resolve()))
    assert set(environment()) == {"PATH", "HOME", "LANG", "GHOST_HOOK"}


def test_a_hanging_program_is_killed_with_its_children(tmp_path: Path) -> None:
    source = (
        "import os, time\n"
        "pid = os.fork()\n"
        "if pid: open('child', 'w').write(str(pid))\n"
        "time.sleep(60)\n"
    )
    finished = _python(tmp_path, source, seconds=0.5)
    assert finished.timed_out
    assert finished.exit == 137
    child = tmp_path / "child"
    assert not child.exists() or _gone(int(child.read_text()))


def test_children_left_behind_are_killed_and_do_not_hold_us(tmp_path: Path) -> None:
    source = "import os, time\npid = os.fork()\nif pid == 0: time.sleep(60)\nprint(pid)\n"
    finished = _python(tmp_path, source)
    assert not finished.timed_out
    assert _gone(int(finished.output))


def test_a_child_that_left_the_group_is_killed_too(tmp_path: Path) -> None:
    source = (
        "import os, time\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    os.setsid()\n"
        "    open('child', 'w').write(str(os.getpid()))\n"
        "    os.rename('child', 'ready')\n"
        "    time.sleep(60)\n"
        "while not os.path.exists('ready'): time.sleep(0.01)\n"
    )
    finished = _python(tmp_path, source)
    assert (finished.exit, finished.escaped) == (0, False)
    assert _gone(int((tmp_path / "ready").read_text()))


def test_a_flood_is_cut_at_the_limit_and_killed(tmp_path: Path) -> None:
    finished = _python(tmp_path, "while True: print('x' * 4096)")
    assert finished.overflowed
    assert not finished.timed_out
    assert len(finished.output) == OUTPUT_LIMIT


def test_output_up_to_the_limit_is_kept_whole(tmp_path: Path) -> None:
    finished = _python(tmp_path, f"import sys; sys.stdout.write('x' * {OUTPUT_LIMIT})")
    assert not finished.overflowed
    assert len(finished.output) == OUTPUT_LIMIT
    assert finished.exit == 0


def test_closed_output_does_not_end_the_wait(tmp_path: Path) -> None:
    source = "import os, sys; os.close(1); sys.stdin.read(); sys.exit(4)"
    assert _python(tmp_path, source).exit == 4


def test_a_program_that_cannot_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        asyncio.run(run([str(tmp_path / "missing")], stdin=b"", folder=tmp_path, timeout_seconds=1))


def test_a_cancelled_call_kills_its_program(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ready")
    source = (
        "import os, time; open('me', 'w').write(str(os.getpid()));"
        "open('ready', 'w').close(); time.sleep(60)"
    )

    async def cancelled() -> None:
        argv = [sys.executable, "-I", "-S", "-c", source]
        call = run(argv, stdin=b"", folder=tmp_path, timeout_seconds=30)
        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            task = group.create_task(call)
            await asyncio.to_thread((tmp_path / "ready").read_bytes)
            task.cancel()

    asyncio.run(cancelled())
    assert _gone(int((tmp_path / "me").read_text()))


def _gone(pid: int) -> bool:
    """Tell whether a process has ended; one that is only not reaped yet has."""
    for _ in range(1000):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return True
        if stat.rpartition(")")[2].split()[0] in {"Z", "X"}:
            return True
        os.sched_yield()
    return False
