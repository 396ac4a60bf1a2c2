"""What `ghost run` says at its end about refused calls: a client often shows a status alone."""

from __future__ import annotations

from ghost_addons.refusals import Last
from ghost_ledger.reader import Ledger

_LIMIT = 400  # characters of a message; one may list what is allowed


def line(ledger: Ledger, sid: str, last: Last | None) -> str:
    """Return how many calls of a session were refused, why the last one was, what would mend it."""
    number = sum(row.count for row in ledger.actions(sid) if row.status == "denied")
    if not number:
        return ""
    calls = "1 call refused" if number == 1 else f"{number} calls refused, the last"
    if last is None or last.sid != sid:
        return calls.partition(",")[0]
    by = ", ".join(filter(None, (last.refusal.code, _written_by_someone(last.refusal.rule))))
    hint = f"\nhint: {_one_line(last.refusal.hint)}" if last.refusal.hint else ""
    return f"{calls}: {_one_line(f'{last.host}: {last.refusal.message}')} ({by}){hint}"


def _one_line(text: str) -> str:
    """Return a text as one line of some length, whatever a name or a hook says."""
    told = " ".join(text.split())
    return told if len(told) <= _LIMIT else f"{told[:_LIMIT]}…"


def _written_by_someone(rule: str) -> str:
    """Name a rule where there is a line or file to look at; a scope's own code says all."""
    return rule if rule.startswith(("hook:", "rule:", "schema:", "limit:")) else ""
