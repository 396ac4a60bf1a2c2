"""Where our own memory can hold anything: its readable mappings, without the pages that nobody wrote to.

The stacks of threads are mostly such pages. To read one costs a fault, and gives zeros.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterator
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_THERE = re.compile(rb"[^\0]+")
_NO_SWAP = re.compile(r"^VmSwap:\s*0 kB$", re.MULTILINE)
# devices, but not the memory that processes share under such a name; pages of the kernel; its other files
_NO_MEMORY = re.compile(r"/dev/(?!shm/|zero)|\[v|anon_inode:")
_MOST_BYTES = 8 << 30

type Span = tuple[int, int]


def written(process: Path = Path("/proc/self")) -> list[Span] | None:
    """Return address and length of what can hold something; None where that cannot be told or is too much.

    Devices and the kernel's own pages are left out. mincore(2) does not tell a page in swap from one that
    nobody wrote to: while any page of ours is there, every mapping counts as a whole.
    """
    try:
        lines = (process / "maps").read_text("utf-8", "replace").splitlines()
        in_memory = _NO_SWAP.search((process / "status").read_text("utf-8", "replace")) is not None
    except OSError:
        return None
    spans = list(_readable(lines))
    if in_memory:
        spans = [part for span in spans for part in _there(*span)]
    return spans if sum(length for _, length in spans) <= _MOST_BYTES else None


def _readable(lines: list[str]) -> Iterator[Span]:
    for line in lines:
        fields = line.split(maxsplit=5)
        name = fields[5] if len(fields) > 5 else ""
        if "r" in fields[1] and not _NO_MEMORY.match(name):
            start, end = (int(part, 16) for part in fields[0].split("-"))
            yield start, end - start


def _there(start: int, length: int) -> Iterator[Span]:
    """Yield the runs of pages that are in memory; the whole mapping where the system does not answer."""
    pages = (ctypes.c_char * (length // _PAGE_BYTES))()
    ask = getattr(ctypes.CDLL(None), "mincore", None)
    if ask is None or ask(ctypes.c_void_p(start), ctypes.c_size_t(length), pages) != 0:
        yield start, length
        return
    for run in _THERE.finditer(pages.raw):
        yield start + run.start() * _PAGE_BYTES, (run.end() - run.start()) * _PAGE_BYTES
