from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Callable

import pytest

from ghost_core.secret import SecretBytes
from ghost_ledger.session.residual import erase, scan

type Launch = Callable[..., subprocess.Popen[str]]

linux = pytest.mark.skipif(sys.platform != "linux", reason="the scan reads /proc")

UNPRIVILEGED = """
import ctypes, os, secrets
from ghost_core.secret import SecretBytes
from ghost_ledger.session.custody import harden
from ghost_ledger.session.residual import scan
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
harden()
needle = SecretBytes(secrets.token_bytes(32))
before = scan([needle])
kept = bytearray(needle.reveal())
print(before, scan([needle]), ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""


def fresh():
    return SecretBytes(secrets.token_bytes(32))


@linux
def test_a_secret_that_only_the_needle_holds_is_not_found() -> None:
    assert scan([fresh(), fresh()]) == 0


@linux
def test_each_copy_that_was_left_is_counted() -> None:
    needle = fresh()
    kept = [bytearray(needle.reveal()), bytearray(b"x" + needle.reveal() + b"y")]
    assert scan([needle]) >= len(kept)
    for copy in kept:
        erase(copy)
    del kept


@linux
def test_a_copy_over_a_chunk_border_is_found_once() -> None:
    needle = fresh()
    field = bytearray(5 << 20)
    raw = needle.reveal()
    for at in range(1 << 20, 4 << 20, (1 << 20) - 7):
        field[at - 16 : at + 16] = raw
    placed = len(range(1 << 20, 4 << 20, (1 << 20) - 7))
    erase(raw)
    assert scan([needle]) == placed


@linux
def test_what_was_erased_is_gone() -> None:
    needle = fresh()
    copy, array = needle.reveal(), bytearray(needle.reveal())
    erase(copy)
    erase(array)
    assert copy == bytes(32)
    assert array == bytearray(32)


def test_shared_one_byte_values_are_left_alone() -> None:
    erase(bytes([65]))
    erase(b"")
    assert bytes([65]) == b"A"


@linux
def test_needles_that_would_match_by_chance_are_skipped() -> None:
    assert scan([SecretBytes(b"\0\0\0"), SecretBytes(b"")]) == 0


@linux
def test_a_process_without_privileges_that_cannot_be_dumped_can_still_look(launch: Launch) -> None:
    child = launch(UNPRIVILEGED)
    before, after, dumpable = child.communicate(timeout=5)[0].split()
    assert (before, dumpable) == ("0", "0")
    assert int(after) >= 1
