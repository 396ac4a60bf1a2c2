"""The witness as a whole: what it signs, and that two requests never get a fork signed."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ghost_core.errors import IntegrityError
from ghost_ledger.cosignature import cosigned
from ghost_ledger.tree import leaf_hash
from ghost_ledger.witness.witness import Witness
from support.bundles import Log
from support.cosigners import asking, witness
from support.handclock import HandClock

RACER = """
import sys
from pathlib import Path
from ghost_core.clock import SystemClock
from ghost_core.paths import Home
from ghost_ledger.note import Vkey
from ghost_ledger.witness.witness import Witness
found = Witness.open(Home(Path(sys.argv[1])), [Vkey.parse(sys.argv[2])], SystemClock())
print("ready", flush=True)
sys.stdin.readline()
for body in sys.argv[3:]:
    print(found.add(bytes.fromhex(body)).status, flush=True)
"""


def log(*, ends: bytes = b"", size: int = 8) -> Log:
    made = Log()
    made.leaves = [leaf_hash(bytes([number])) for number in range(size)]
    if ends:
        made.leaves[-1] = leaf_hash(ends)
    return made


def signed(found: Witness, body: bytes, note: bytes) -> bool:
    """Tell whether a request got a cosignature over this note."""
    answer = found.add(body)
    return answer.status == 200 and found.vkey in cosigned(
        note + answer.body.encode(), [found.vkey]
    )


def test_a_head_is_cosigned_with_the_time(tmp_path: Path):
    honest, clock = log(), HandClock()
    found = witness(tmp_path, [honest.vkey], clock=clock)
    answer = found.add(asking(honest, 0, 5))
    assert (answer.status, answer.media) == (200, "text/plain; charset=utf-8")
    made = cosigned(honest.head(5) + answer.body.encode(), [found.vkey])
    assert made[found.vkey].seconds == clock.now_us() // 1_000_000
    assert signed(found, asking(honest, 5), honest.head())


def test_key_name_and_memory_are_those_of_the_home(tmp_path: Path):
    honest = log()
    first = witness(tmp_path, [honest.vkey])
    assert first.add(asking(honest, 0)).status == 200
    again = witness(tmp_path, [honest.vkey])
    assert again.vkey == first.vkey
    assert again.vkey.name == f"ghost.local/witness/{first.key.public.hex()[:16]}"
    assert again.add(asking(honest, 0)).status == 409
    assert witness(tmp_path, [], name="w.example/1").vkey.name == "w.example/1"


def test_a_name_that_is_none_is_refused(tmp_path: Path):
    with pytest.raises(IntegrityError):
        witness(tmp_path, [], name="two words")


def test_what_contradicts_is_kept_as_evidence(tmp_path: Path):
    honest, forged = log(), log(ends=b"forged")
    found = witness(tmp_path, [honest.vkey])
    assert found.add(asking(honest, 0)).status == 200
    body = asking(forged, 8)
    assert found.add(body).status == 422
    (kept,) = (tmp_path / "witness" / "evidence").iterdir()
    assert kept.read_bytes() == body


def test_the_last_head_is_there_for_who_watches_the_log(tmp_path: Path):
    honest = log()
    found = witness(tmp_path, [honest.vkey])
    name = hashlib.sha256(honest.origin.encode()).hexdigest()
    assert found.latest(name) is None
    foreign = asking(honest, 0) + b"\xe2\x80\x94 else.test AAAAAAAAAAA=\n"
    line = found.add(foreign).body
    assert found.latest(name) == honest.head() + line.encode()


def test_of_two_forks_at_once_one_is_signed(tmp_path: Path):
    forks = [log(ends=bytes([number])) for number in range(1, 9)]
    found = witness(tmp_path, [forks[0].vkey])
    start = threading.Barrier(len(forks))

    def race(each: Log) -> int:
        start.wait()
        return found.add(asking(each, 0)).status

    with ThreadPoolExecutor(len(forks)) as pool:
        statuses = sorted(pool.map(race, forks))
    assert statuses == [200] + [409] * 7


def test_two_processes_never_sign_a_fork(tmp_path: Path):
    forks = [log(ends=b"a"), log(ends=b"b")]
    witness(tmp_path, [])
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path), each.vkey.format(), asking(each, 0).hex()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for each in forks
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("\n")
        racer.stdin.flush()
    said = sorted(racer.communicate(timeout=30)[0].strip() for racer in racers)
    assert said == ["200", "409"]
