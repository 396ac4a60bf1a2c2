"""Plain words for verdicts: what each axis and state means to somebody who is no cryptographer."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

__all__ = ["SIGNS", "axis_sentence", "hint", "verdict_sentence", "verdict_word"]

type _Sentences = MappingProxyType[str, str]


def _axis(valid: str, invalid: str, incomplete: str, absent: str) -> _Sentences:
    return MappingProxyType(
        {"valid": valid, "invalid": invalid, "incomplete": incomplete, "absent": absent}
    )


_AXES: Final = MappingProxyType(
    {
        "signatures": _axis(
            "Every entry carries a valid signature of the session key.",
            "A signature does not fit its entry.",
            "Only the seal was checked, not each signature.",
            "No signature was found.",
        ),
        "chain": _axis(
            "No entry is missing, added or moved.",
            "An entry is missing, added or moved.",
            "The chain of entries could not be followed to its end.",
            "There is no chain of entries.",
        ),
        "complete": _axis(
            "The session is sealed: nothing can follow.",
            "The seal does not fit the entries.",
            "The session is not sealed: more may follow, or its end was lost.",
            "The session has no seal.",
        ),
        "intents": _axis(
            "Every action that was started has its outcome.",
            "An outcome does not fit the action that it answers.",
            "At least one action was started and its outcome is not known.",
            "No action was started.",
        ),
        "inclusion": _axis(
            "The log contains this session.",
            "The log does not contain this session as shown.",
            "That the log contains this session is not proven.",
            "No proof from the log is present.",
        ),
        "key": _axis(
            "The key was pinned from outside of what it verifies.",
            "The pinned key is not the key that signed.",
            "No key was pinned: whoever made this could have chosen it.",
            "No key was pinned: whoever made this could have chosen it.",
        ),
        "head": _axis(
            "The log still holds everything that it once showed.",
            "The log lost or changed something that it once showed.",
            "There is no remembered head of the log to compare with.",
            "No earlier head of the log was compared.",
        ),
        "columns": _axis(
            "The columns of the database say the same as the signed entries.",
            "The columns of the database differ from the signed entries.",
            "The columns of the database could not be compared.",
            "No columns of a database were compared.",
        ),
        "content": _axis(
            "Every entry is of a kind that this version reads.",
            "An entry breaks the grammar of its kind.",
            "An entry is of a kind that this version does not read.",
            "There is no content to read.",
        ),
        "disclosure": _axis(
            "What is disclosed fits its commitment.",
            "Something disclosed does not fit its commitment.",
            "Some requests or replies are no longer stored.",
            "No request or reply is disclosed.",
        ),
        "witness": _axis(
            "Enough witnesses signed the head of the log.",
            "A witness signature does not fit.",
            "Too few witnesses signed the head of the log.",
            "Witnesses were not asked for.",
        ),
        "time": _axis(
            "An authority that you trust saw the head of the log at that time.",
            "A time stamp does not fit.",
            "The times rest on the recorder's clock alone.",
            "The times rest on the recorder's clock alone.",
        ),
    }
)

SIGNS: Final = MappingProxyType({"valid": "✓", "invalid": "✗", "incomplete": "…", "absent": "·"})

_VERDICTS: Final = MappingProxyType(
    {
        "valid": ("Verified", "Everything that was checked holds."),
        "invalid": ("Broken", "At least one check failed. Do not rely on this record."),
        "incomplete": ("Incomplete", "Nothing is broken, but the evidence does not suffice."),
    }
)


def axis_sentence(name: str, state: str) -> str:
    """Say what an axis in this state means; an unknown axis is named with its state."""
    return _AXES.get(name, MappingProxyType({})).get(state, f"{name}: {state}.")


def verdict_word(result: str) -> str:
    """Name the verdict in one word."""
    return _VERDICTS.get(result, (result.capitalize(), ""))[0]


def verdict_sentence(result: str) -> str:
    """Say in one sentence what the verdict means for the reader."""
    return _VERDICTS.get(result, ("", "The verdict is not known to this version."))[1]


def hint(denial: Mapping[str, Any]) -> str | None:
    """Return the command by which a human would allow what was refused, if there is one."""
    stage = denial.get("stage")
    if stage == "scope":
        return f"ghost spawn --intent … --scope {shlex.quote(_scope(denial))}"
    if stage == "session":
        return "ghost spawn --intent …"
    if stage in {"rule", "schema", "hook", "limit", "address", "credential"}:
        return "ghost config show --origin"
    return None


def _scope(denial: Mapping[str, Any]) -> str:
    tool, host = str(denial.get("tool")), str(denial.get("host"))
    if tool != host:
        return f"{tool}:{denial.get('action')}"
    shown, port = (f"[{host}]" if ":" in host else host), denial.get("port")
    return f"{denial.get('method')} https://{shown}{'' if port in {None, 443} else f':{port}'}/**"
