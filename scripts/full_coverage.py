"""Checks that the files which sign, verify, guard and inject are covered to the last branch."""

from __future__ import annotations

import json
import sys
from pathlib import Path

FULL = (
    "ledger/ghost_ledger/entry.py",
    "ledger/ghost_ledger/canonical.py",
    "ledger/ghost_ledger/keys.py",
    "ledger/ghost_ledger/seal.py",
    "ledger/ghost_ledger/statement.py",
    "ledger/ghost_ledger/tree.py",
    "ledger/ghost_ledger/checkpoint.py",
    "ledger/ghost_ledger/cosignature.py",
    "ledger/ghost_ledger/verify/",
    "ledger/ghost_ledger/witness/deciding.py",
    "addons/ghost_addons/guard.py",
    "addons/ghost_addons/inject.py",
    "addons/ghost_addons/scrub.py",
)


def gaps(report: dict[str, dict[str, dict[str, dict[str, float]]]]) -> list[str]:
    """Return what is missing to 100 %, one line each; a listed file that was never seen counts."""
    files = report["files"]
    found = []
    for listed in FULL:
        seen = [name for name in files if name.startswith(listed)]
        if not seen:
            found.append(f"{listed}: not in the report")
        for name in seen:
            share = files[name]["summary"]["percent_covered"]
            if share < 100:
                found.append(f"{name}: {share:.1f} %, expected 100 %")
    return found


def main() -> int:
    """Read the report named on the command line; exit 1 and say why if a file has a gap."""
    found = gaps(json.loads(Path(sys.argv[1]).read_bytes()))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
