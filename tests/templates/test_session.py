from __future__ import annotations

from ghost_templates import session, text
from support import views


def _prepared(*actions: dict[str, object], **more: object) -> session.Session:
    return session.prepare(views.view(*actions, **more), number=0)


def test_an_erased_intent_has_a_title_too() -> None:
    assert _prepared(intent=None, intent_state="erased").title == "(intent erased)"
    assert _prepared(intent=None, intent_state="absent").title == "(intent not stored)"


def test_events_and_actions_share_one_timeline() -> None:
    rows = _prepared(views.action(2)).rows
    kinds = ["event" if isinstance(row, session.EventRow) else "action" for row in rows]
    assert kinds == ["event", "event", "action", "event", "event"]


def test_times_are_counted_from_the_spawn() -> None:
    assert [row.offset for row in _prepared(views.action(2)).rows][:2] == ["+0.000 s", "+2.346 s"]


def test_hours_fit_their_column() -> None:
    late = views.action(2, timestamp_us=views.START + 4_000_000_000)
    assert "+1:06:40" in [row.offset for row in _prepared(late).rows]


def test_an_open_session_has_no_end() -> None:
    shown = _prepared(evaporated_at=None, status="open", lived_for_seconds=None)
    assert (shown.ended, shown.life) == ("not yet", "5 min allowed")


def test_a_life_is_told_in_whole_seconds() -> None:
    assert _prepared(lived_for_seconds=0).life == "under 1 s of 5 min allowed"
    assert _prepared(lived_for_seconds=1).life == "1 s of 5 min allowed"


def test_commands_are_folded_for_a_shell() -> None:
    first, second = _prepared().commands
    assert first.endswith(f" \\\n  -o {views.SID}.ghost")
    assert " \\\n  --key '" in second


def test_whole_digests_are_shortened_in_sentences() -> None:
    axes = {"complete": {"state": "valid", "detail": "root " + "ab" * 32}}
    shown = _prepared(verdict={"result": "valid", "exit_code": 0, "axes": axes})
    assert shown.axes[0].detail == "root abababababababab…"


def test_an_unknown_verdict_is_no_pass() -> None:
    shown = _prepared(verdict={"result": "splendid", "exit_code": 0, "axes": {}})
    assert shown.verdict.mark == text.OPEN
