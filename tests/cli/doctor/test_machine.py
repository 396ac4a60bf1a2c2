from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ghost_addons import ca
from ghost_cli import running
from ghost_cli.doctor import machine
from ghost_cli.doctor.check import Check
from ghost_cli.doctor.configuration import Known
from ghost_core.paths import Home, runtime_place
from support.processes import free_port

NOW = datetime.now(UTC)


def authority_check(home: Path, now: datetime = NOW) -> Check:
    (found,) = machine.examine_authority(Home(home), now)
    return found


def test_a_free_port_is_fine_and_nothing_is_made() -> None:
    (found,) = machine.examine_port(Known(port=free_port()))
    assert found.status == "ok"
    assert not runtime_place().exists()


def test_a_port_of_another_program_fails() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        (found,) = machine.examine_port(Known(port=taken.getsockname()[1]))
    assert (found.status, "another program" in found.found) == ("fail", True)


def test_a_port_of_our_own_proxy_is_fine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with running.announced(port):
            (found,) = machine.examine_port(Known(port=port))
    assert (found.status, f"process {os.getpid()}" in found.found) == ("ok", True)


def test_a_clock_before_our_own_files_fails(home: Path) -> None:
    (fine,) = machine.examine_clock(Home(home), NOW)
    (found,) = machine.examine_clock(Home(home), datetime(2001, 1, 1, tzinfo=UTC))
    assert (fine.status, found.status) == ("ok", "fail")


def test_a_clock_before_the_last_head_fails(home: Path) -> None:
    Home(home).ensure()
    (home / "heads" / "log").touch()
    os.utime(home / "heads" / "log", (2**33, 2**33))
    (found,) = machine.examine_clock(Home(home), NOW)
    assert found.status == "fail"


def test_locked_memory_is_tried_and_its_limit_told() -> None:
    script = (
        "from ghost_cli.doctor.machine import examine_memory\nprint(next(examine_memory()).status)"
    )
    fine = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert fine.stdout in {"ok\n", "warn\n"}
    if os.geteuid() == 0:
        return  # root has no limit
    limit = f"import resource\nresource.setrlimit({resource.RLIMIT_MEMLOCK}, (0, 0))\n"
    none = subprocess.run(
        [sys.executable, "-c", limit + script], capture_output=True, text=True, check=True
    )
    assert none.stdout == "warn\n"


def test_no_certificate_yet_is_fine_and_none_is_made(home: Path) -> None:
    assert "none yet" in authority_check(home).found
    assert not home.exists()


def test_a_fresh_certificate_is_fine(home: Path) -> None:
    ca.ensure(home / "ca")
    assert authority_check(home).status == "ok"


def test_a_certificate_about_to_end_says_that_agents_must_be_restarted(home: Path) -> None:
    ca.ensure(home / "ca")
    found = authority_check(home, NOW + ca.LIFETIME - timedelta(days=3))
    assert (found.status, "restart" in found.mend) == ("warn", True)


def test_a_certificate_of_the_future_is_a_wrong_clock(home: Path) -> None:
    ca.ensure(home / "ca")
    found = authority_check(home, NOW - timedelta(days=30))
    assert (found.status, found.mend) == ("fail", "timedatectl set-ntp true")


def test_a_bundle_of_another_authority_is_told(home: Path) -> None:
    authority = ca.ensure(home / "ca")
    authority.bundle_file.write_bytes(ca.system_roots())
    found = authority_check(home)
    assert (found.status, found.mend) == ("warn", "ghost ca export")
