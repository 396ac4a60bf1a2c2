from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost_ledger.session.mappings import Span, written

PAGE = mmap.PAGESIZE
PAGES = 1000

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells it in /proc")


def address_of(mapping: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(mapping))


def within(spans: list[Span] | None, start: int) -> list[Span]:
    """Return what of the spans lies in our mapping, by page."""
    assert spans is not None
    last = start + PAGES * PAGE
    cut = [(max(at, start), min(at + length, last)) for at, length in spans]
    return [((at - start) // PAGE, (end - at) // PAGE) for at, end in cut if end > at]


def told(folder: Path, swap: str) -> Path:
    """Tell of this process what the kernel does, but for its swap."""
    (folder / "maps").write_text(Path("/proc/self/maps").read_text("utf-8"))
    (folder / "status").write_text(f"VmRSS:\t  100 kB\n{swap}")
    return folder


@pytest.fixture(params=[mmap.MAP_PRIVATE, mmap.MAP_SHARED], ids=["private", "shared"])
def start(request: pytest.FixtureRequest) -> Iterator[int]:
    mapping = mmap.mmap(-1, PAGES * PAGE, request.param | mmap.MAP_ANONYMOUS)
    for page in (3, 500, 501):
        mapping[page * PAGE + 7] = 1
    yield address_of(mapping)
    mapping.close()


def test_pages_that_nobody_wrote_to_are_left_out(start: int) -> None:
    assert within(written(), start) == [(3, 1), (500, 2)]


@pytest.mark.parametrize("swap", ["VmSwap:\t       4 kB\n", ""])
def test_with_pages_in_swap_nothing_is_left_out(start: int, swap: str, tmp_path: Path) -> None:
    assert within(written(told(tmp_path, swap)), start) == [(0, PAGES)]


def test_what_is_gone_meanwhile_counts_as_a_whole(start: int, tmp_path: Path) -> None:
    folder = told(tmp_path, "VmSwap:\t       0 kB\n")
    gone = f"{PAGE:x}-{3 * PAGE:x} r--p 00000000 00:00 0 \n"  # no process has its first pages
    (folder / "maps").write_text(gone)
    assert written(folder) == [(PAGE, 2 * PAGE)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("1000-3000 rw-p 00000000 00:00 0 [heap]", [(0x1000, 0x2000)]),
        ("1000-3000 ---p 00000000 00:00 0", []),
        ("1000-3000 rw-s 00000000 00:05 9 /dev/dri/card0", []),
        ("1000-3000 rw-s 00000000 00:05 9 /dev/shm/mine", [(0x1000, 0x2000)]),
        ("1000-3000 r--p 00000000 00:00 0 [vvar]", []),
        ("1000-3000 rw-s 00000000 00:0e 9 anon_inode:[io_uring]", []),
        ("1000-400000000 rw-p 00000000 00:00 0", None),
    ],
)
def test_devices_the_kernels_pages_and_what_is_too_much_are_left_out(
    line: str, found: list[Span] | None, tmp_path: Path
) -> None:
    (told(tmp_path, "") / "maps").write_text(f"{line}\n")
    assert written(tmp_path) == found


def test_where_the_system_tells_nothing_there_is_no_answer(tmp_path: Path) -> None:
    assert written(tmp_path) is None
