"""`ghost memory verify`: whether every memory is what was entered, and the entries are what was signed."""

from __future__ import annotations

from typing import Any

from ghost_cli import evidence, output, remembered
from ghost_ledger.export.replay import Standing, standing
from ghost_memory import verifying
from ghost_memory.verifying import Checked


def verify() -> int:
    """Check all memories against the signed entries.

    Each must follow from the entries that speak of it: there or deleted, its project, its text by the
    commitment, pinned, resolved. Importance, tags and category are not in an entry. The sessions that hold
    the entries are verified as `ghost replay` does. Exit 0 all agree, 7 one does not or an entry is broken,
    8 nobody can tell.

    Example: ghost memory verify
    """
    with evidence.opened() as found, remembered.reading() as (seen, _):
        checked = verifying.check(seen.connection)
        held = standing(found.ledger, found.home, checked.sessions)
    code = _code(checked, held)
    output.result(_document(checked, held, code), _text(checked, held, code))
    return code


def _code(checked: Checked, held: Standing) -> int:
    states = {each.state for each in checked.wrong}
    if "broken" in states or held.broken or not held.log.whole:
        return 7
    return 8 if "undecided" in states or held.undecided else 0


def _document(checked: Checked, held: Standing, code: int) -> dict[str, Any]:
    return {
        "schema": "ghost/memory-verify/v1",
        "verified": code == 0,
        "exit_code": code,
        "memories": checked.memories,
        "wrong": [{"id": each.id, "state": each.state, "why": each.why} for each in checked.wrong],
        "sessions": len(checked.sessions),
        "broken": dict(held.broken),
        "undecided": dict(held.undecided),
        "log": {
            "entries": held.log.entries,
            "places": held.log.places,
            "size": held.log.head,
        },
    }


def _text(checked: Checked, held: Standing, code: int) -> str:
    lines = [f"{each.id}  {each.state}: {each.why}" for each in checked.wrong]
    lines += [f"{sid}  broken: {why}" for sid, why in held.broken.items()]
    lines += [f"{sid}  undecided: {why}" for sid, why in held.undecided.items()]
    if not held.log.whole:
        lines.append(f"the log has {held.log.entries} of {held.log.head} entries")
    verdict = {0: "all agree with their entries", 7: "broken", 8: "incomplete"}[code]
    number = checked.memories
    return "\n".join([*lines, f"{number} {'memory' if number == 1 else 'memories'}: {verdict}"])
