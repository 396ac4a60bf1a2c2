"""After the work: the session ends, its evidence verifies, a changed byte does not, the key is nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ghost_cli.demo.stage import expect, require
from ghost_cli.demo.working import TASKS

if TYPE_CHECKING:
    from ghost_cli.demo.stage import Stage

BROKEN = 7
DEAD = "407"


def evaporate(stage: Stage) -> str:
    """End the session."""
    document = stage.ghost("evaporate", "--session-id", stage.session).json()
    expect("status", "evaporated", document.get("status"))
    expect("actions_executed", len(TASKS), document.get("actions_executed"))
    require("a destroyed key", holds=document.get("ephemeral_key_destroyed") is True)
    scan = document.get("memory_scan", "unsupported")
    lived = document.get("lived_for_seconds")
    return f"{len(TASKS)} calls sealed after {lived} s, key destroyed, memory scan {scan}"


def dead(stage: Stage) -> str:
    """Try the same environment once more."""
    before = len(stage.api.calls)
    seen = stage.outside_call()
    require(f"status {DEAD}", holds=str(seen.status) == DEAD or DEAD in seen.text)
    expect("calls that reached the API", before, len(stage.api.calls))
    return f"{DEAD} for the same environment, the API saw nothing"


def replay(stage: Stage) -> str:
    """Write the audit page."""
    words = ("replay", "--session-id", stage.session, "--format", "html")
    stage.ghost(*words, "--output", str(stage.audit.absolute()))
    page = stage.audit.read_text("utf-8")
    require("the session in the page", holds=stage.session in page)
    return f"{stage.audit}, {len(page) / 1024:.0f} KB, verified from the ledger"


def verify(stage: Stage) -> str:
    """Verify the bundle with nothing but the public key of `spawn`."""
    bundle = str(stage.bundle.absolute())
    stage.ghost("bundle", stage.session, "-o", bundle)
    stage.ghost("verify", bundle, "--key", stage.public_key)
    return (
        f"{stage.bundle}, {stage.bundle.stat().st_size / 1024:.1f} KB, valid without our database"
    )


def tamper(stage: Stage) -> str:
    """Flip one bit of a copy."""
    data = bytearray(stage.bundle.read_bytes())
    place = len(data) // 3
    data[place] ^= 1
    copy = stage.place.root / "tampered.ghost"
    copy.write_bytes(data)
    stage.ghost("verify", str(copy), "--key", stage.public_key, code=BROKEN)
    return f"one bit of byte {place} flipped: refused, exit {BROKEN}"


def search(stage: Stage) -> str:
    """Look for the key in everything that is left."""
    files = [*stage.place.files(), stage.audit, stage.bundle]
    for path in files:
        stage.without_key(str(path), path.read_bytes())
    return f"{len(files)} files searched, database, page and bundle too: the key is in none"
