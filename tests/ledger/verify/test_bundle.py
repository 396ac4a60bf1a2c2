from __future__ import annotations

from typing import Any

import pytest

from ghost_core.errors import IncompleteError, IntegrityError
from ghost_ledger import bundle
from ghost_ledger.note import Vkey
from ghost_ledger.verify import Report, verify_bundle
from support.bundles import Log, Session, key

WRONG = "ed25519_public_" + key(99).public.hex()


def session() -> Session:
    """A sealed session of one action between other sessions of the log."""
    log = Log()
    log.session(3).finish()
    found = log.session().action().finish()
    log.session(4).finish()
    return found


def verify(
    found: Session, *keys: str, head: bytes | None = None, fast: bool = False, **parts: Any
) -> Report:
    data = bundle.encode(found.bundle(**parts))
    return verify_bundle(data, keys or [found.vkey.format()], head=head, fast=fast)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("which", ["session", "log", "bare"])
def test_a_sealed_session_is_valid_under_each_key_that_belongs_to_it(which: str, fast: bool):
    found = session()
    bare = "ed25519_public_" + found.key.public.hex()
    pin = {"session": found.vkey.format(), "log": found.log.vkey.format(), "bare": bare}[which]
    report = verify(found, pin, fast=fast)
    assert (report.verdict, report.exit_code) == ("valid", 0)
    assert (report.sid, report.entries) == (found.sid, 5)
    assert report.keys == ((found.log if which == "log" else found).vkey.format(),)


def test_two_pinned_keys_that_both_belong_are_both_named():
    found = session()
    report = verify(found, found.log.vkey.format(), found.vkey.format())
    assert report.keys == (found.vkey.format(), found.log.vkey.format())


def test_without_a_key_nothing_is_more_than_incomplete():
    report = verify_bundle(bundle.encode(session().bundle()), [])
    assert (report.verdict, report.exit_code, report.keys) == ("incomplete", 8, ())
    assert report.axis("key").state == "incomplete"
    assert report.axis("signatures").state == "valid"


def test_a_key_that_was_not_used_is_invalid():
    found = session()
    for pin in (
        WRONG,
        found.log.session(9).vkey.format(),
        Vkey(found.name, key(9).public).format(),
    ):
        report = verify(found, pin)
        assert (report.exit_code, report.axis("key").state) == (7, "invalid")


def test_another_key_under_the_name_of_the_log_is_invalid():
    found = session()
    report = verify(found, Vkey(found.log.origin, key(9).public).format())
    assert report.axis("inclusion").state == "invalid"
    assert (report.exit_code, report.axis("key").state) == (7, "invalid")
    assert report.keys == ()


def test_keys_of_other_sessions_beside_the_right_one_do_not_matter():
    found = session()
    others = [found.log.session(9).vkey.format(), WRONG]
    assert verify(found, *others, found.vkey.format()).exit_code == 0


def test_a_pinned_log_key_goes_before_the_one_that_the_spawn_entry_names():
    found = session()
    found.log.key = key(50)  # the log's key was rotated after the session
    rotated = Vkey(found.log.origin, key(50).public)
    assert verify(found, rotated.format()).exit_code == 0
    assert verify(found, found.vkey.format()).axis("inclusion").state == "invalid"


def test_an_open_session_is_incomplete():
    log = Log()
    report = verify(log.session().action())
    assert report.exit_code == 8
    assert report.axis("complete").state == "incomplete"
    assert report.axis("inclusion").state == "valid"


def test_fast_says_that_it_did_not_look_at_every_signature():
    report = verify(session(), fast=True)
    assert "fast" in report.axis("signatures").detail


def test_a_session_without_an_action_is_valid():
    report = verify(Log().session().finish())
    assert (report.exit_code, report.entries) == (0, 3)


def test_a_session_of_refusals_only_is_valid():
    found = Log().session()
    found.add("action.denied", {"tool": "x", "action": "GET", "method": "GET", "host": "x",
                                "code": 403, "error": "scope", "stage": "scope", "rule": "",
                                "verdicts": []})  # fmt: skip
    assert verify(found.finish()).exit_code == 0


@pytest.mark.parametrize(
    "change", [{"type": "session.unheard"}, {"type": "session.closed", "v": 2}]
)
def test_an_entry_of_unknown_type_or_version_is_unreadable_and_the_rest_is_still_checked(
    change: dict[str, Any],
):
    found = Log().session()
    found.add_raw(**change)
    if change["type"] == "session.unheard":
        found.close()
    found.seal_up()
    report = verify(found)
    assert report.exit_code == 8
    assert report.axis("content").state == "incomplete"
    assert report.axis("intents").state == "incomplete"
    assert "unreadable" in report.axis("content").detail
    for name in ("signatures", "chain", "complete", "inclusion", "key"):
        assert report.axis(name).state == "valid"


def test_an_unreadable_entry_hides_no_broken_one():
    found = Log().session()
    found.add_raw(type="session.unheard")
    found.add_raw(type="recorder.gap", count=-1, reason="overflow")
    report = verify(found.finish())
    assert report.exit_code == 7
    assert report.axis("content").detail.startswith("entry 2:")


def test_what_is_no_bundle_is_refused_and_another_version_is_incomplete():
    with pytest.raises(IntegrityError):
        verify_bundle(b"not a bundle", [])
    with pytest.raises(IntegrityError):
        verify_bundle(b'{"entries":[],"v":1}', [])
    with pytest.raises(IncompleteError):
        verify_bundle(b'{"v":2}', [])


def test_a_text_that_is_no_key_is_refused():
    with pytest.raises(IntegrityError):
        verify(session(), "not a key")


def test_an_entry_that_is_no_note_is_named_and_nothing_else_is_judged():
    found = session()
    notes = [*found.notes[:2], b"garbage", *found.notes[3:]]
    report = verify(found, entries=tuple(notes))
    assert report.exit_code == 7
    assert report.axis("content").detail.startswith("entry 2: ")
    assert report.axis("signatures").state == "absent"


@pytest.mark.parametrize("field", ["vkey", "log_vkey"])
def test_a_spawn_entry_that_names_the_key_of_somebody_else_is_invalid(field: str):
    foreign = Vkey("else.test", key(5).public).format()
    report = verify(Log().session(**{field: foreign}).finish())
    assert report.exit_code == 7
    assert "else.test" in report.axis("key").detail
