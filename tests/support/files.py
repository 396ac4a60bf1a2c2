"""All that lies below a folder, while other threads and processes may still write there."""

from __future__ import annotations

from pathlib import Path

TRIES = 50


def contents(*folders: Path, but: str | None = None) -> dict[Path, bytes]:
    """Return every file with its bytes, without those of one name.

    A file that another replaced in the meantime (the memory of heads is written that way) is
    looked for once more: what is passed over could hold what a test looks for.
    """
    for _ in range(TRIES):
        try:
            return {
                path: path.read_bytes()
                for folder in folders
                for path in sorted(folder.rglob("*"))
                if path.name != but and path.is_file()
            }
        except FileNotFoundError:
            continue
    raise AssertionError(f"files in {folders} do not come to rest")
