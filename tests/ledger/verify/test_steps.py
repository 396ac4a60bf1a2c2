from __future__ import annotations

from typing import Any

import pytest

from ghost_ledger import bundle, canonical, commitment, seal
from ghost_ledger.bundle import Disclosure
from ghost_ledger.checkpoint import Proof, decode_proof, encode_proof, head_text
from ghost_ledger.note import Vkey, sign_note
from ghost_ledger.tree import leaf_hash, root
from ghost_ledger.verify import Axis, Report, verify_bundle
from support.bundles import (
    START,
    TTL_SECONDS,
    Log,
    Session,
    act,
    closed_fields,
    intent_fields,
    key,
    outcome_fields,
)


def verify(
    found: Session, *keys: str, known: bytes | None = None, fast: bool = False, **parts: Any
) -> Report:
    data = bundle.encode(found.bundle(**parts))
    return verify_bundle(data, keys or [found.vkey.format()], head=known, fast=fast)


def broken(name: str, detail: str, found: Session, **parts: Any) -> None:
    """Assert that exactly this axis names this reason, and that the exit code is 7."""
    report = verify(found, **parts)
    axis = report.axis(name)
    assert (axis.state, report.exit_code) == ("invalid", 7)
    assert detail in axis.detail


def session() -> Session:
    log = Log()
    log.session(3).finish()
    return log.session()


def seal_entry(found: Session, hashes: list[bytes], **fields: Any) -> Session:
    """Write a seal entry over other hashes, or with other fields than an honest one."""
    found.seal = seal.sign_seal(found.key, found.log.origin, found.sid, hashes)
    honest = {"note": found.seal.decode(), "root": root(hashes).hex(), "size": len(hashes)}
    found.add("session.seal", honest | fields)
    return found


def hashes(found: Session) -> list[bytes]:
    return [leaf_hash(note) for note in found.notes]


# --- signatures ----------------------------------------------------------------------------------


def test_fast_has_nothing_to_say_about_an_open_session():
    report = verify(Log().session().action(), fast=True)
    assert report.axis("signatures").state == "incomplete"


def test_an_entry_signed_by_another_key_is_named():
    found = session()
    honest, found.key = found.key, key(77)
    found.add("recorder.gap", {"count": 1, "reason": "x"})
    found.key = honest
    broken("signatures", "entry 1: signature does not match key", found.finish())


def test_an_entry_signed_under_another_name_is_named():
    found = session()
    found.name = "else.test"
    found.add("recorder.gap", {"count": 1, "reason": "x"})
    broken("signatures", "entry 1: is signed by else.test", found)


def test_fast_holds_a_sealed_session_valid_and_says_what_it_did_not_look_at():
    axis = verify(session().finish(), fast=True).axis("signatures")
    assert axis == Axis("signatures", "valid", "of the seal and the head only (fast)")


def test_a_seal_of_another_key_is_invalid_also_when_fast():
    found = session().close()
    found.key = key(77)
    found.seal_up()
    assert verify(found, fast=True).axis("signatures").state == "invalid"
    assert verify(found, fast=True).exit_code == 7


# --- chain ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("common", "detail"),
    [
        ({"log": "else.test"}, "is of session else.test/s/"),
        ({"sid": "gh_" + "9" * 32}, "is of session"),
        ({"seq": 2}, "has seq 2"),
        ({"prev": "0" * 64}, "prev is 000"),
        ({"ts": START}, f"time {START} is before"),
    ],
)
def test_an_entry_out_of_the_chain_is_named(common: dict[str, Any], detail: str):
    found = session()
    found.add("recorder.gap", {"count": 1, "reason": "x"}, **common)
    broken("chain", f"entry 1: {detail}", found)


def test_two_entries_at_the_same_microsecond_are_in_order():
    found = session()
    found.add("recorder.gap", {"count": 1, "reason": "x"}, ts=found.time)
    assert verify(found.finish()).exit_code == 0


def test_a_second_spawn_is_out_of_place():
    found = session()
    found.add("session.spawn", found._spawn_fields())
    broken("chain", "entry 1: session.spawn is out of place", found.finish())


def test_a_session_without_a_spawn_is_out_of_place():
    found = session()
    found.notes.clear()
    found.add("recorder.gap", {"count": 1, "reason": "x"})
    broken("chain", "entry 0: recorder.gap is out of place", found.finish())


@pytest.mark.parametrize("again", ["session.seal", "recorder.gap"])
def test_an_entry_after_the_seal_is_named(again: str):
    found = session().finish()
    if again == "session.seal":
        found.seal_up()
    else:
        found.add(again, {"count": 1, "reason": "x"})
    broken("chain", "entry 3: follows the seal", found)


# --- complete ------------------------------------------------------------------------------------


def test_a_session_without_any_seal_is_open():
    assert verify(session().close()).axis("complete") == Axis(
        "complete", "incomplete", "open: the session has no seal"
    )


def test_a_seal_note_without_its_entry_or_an_entry_without_its_note_is_invalid():
    found = session().finish()
    broken("complete", "is missing", found, seal=None)
    broken("complete", "is missing", found, entries=tuple(found.notes[:-1]), seal_proof=None)


def test_a_seal_entry_of_an_unknown_version_cannot_be_read():
    found = session().close()
    found.seal = seal.sign_seal(found.key, found.log.origin, found.sid, hashes(found))
    found.add_raw(type="session.seal", v=2)
    report = verify(found)
    assert (report.exit_code, report.axis("complete").state) == (8, "incomplete")


def test_a_seal_without_session_closed_is_invalid():
    broken("complete", "entry 3: seals a session that was not closed", session().action().seal_up())


def test_a_seal_as_the_only_entry_is_invalid():
    found = session().finish()
    only = (found.notes[-1],)
    parts = {"spawn_proof": None, "seal_proof": None, "head": None}
    broken("complete", "entry 0: seals a session that was not closed", found, entries=only, **parts)


def test_anything_between_closed_and_seal_is_named():
    broken("complete", "entry 2: follows session.closed", session().close().action().seal_up())
    broken("complete", "entry 2: follows session.closed", session().close().finish())


def test_the_seal_of_another_session_is_invalid():
    found = session().close()
    found.seal = sign_note(
        found.key, found.name, seal.seal_text(found.log.origin, "gh_other", hashes(found))
    )
    fields = {"note": found.seal.decode(), "root": root(hashes(found)).hex(), "size": 2}
    found.add("session.seal", fields)
    broken("complete", "entry 2: the seal is of session ghost.test/0193/s/gh_other", found)


def test_a_seal_over_another_number_of_entries_is_invalid():
    found = session().close()
    broken("complete", "counts 3 entries, found 2", seal_entry(found, [*hashes(found), bytes(32)]))


def test_a_seal_over_other_entries_is_invalid():
    found = session().close()
    broken("complete", "is not the root of these entries", seal_entry(found, [bytes(32)] * 2))


@pytest.mark.parametrize("fields", [{"note": "x"}, {"root": "0" * 64}, {"size": 3}], ids=str)
def test_a_seal_entry_that_says_other_than_its_note_is_invalid(fields: dict[str, Any]):
    found = session().close()
    broken("complete", "does not repeat the seal", seal_entry(found, hashes(found), **fields))


# --- intents -------------------------------------------------------------------------------------


def test_an_intent_without_an_outcome_leaves_the_session_incomplete():
    found = Log().session()
    found.add("action.intent", intent_fields())
    report = verify(found.finish())
    assert report.exit_code == 8
    assert report.axis("intents").detail == "entry 1: the intent has no outcome"


def test_outcomes_may_come_in_another_order_than_their_intents():
    found = Log().session()
    first = found.add("action.intent", intent_fields(), 1)
    second = found.add("action.intent", intent_fields(), 2)
    found.add("action.outcome", outcome_fields(second), 2)
    found.add("action.outcome", outcome_fields(first), 1)
    assert verify(found.finish()).axis("intents").detail == "2 answered"


def test_an_entry_that_cannot_be_read_may_be_an_intent():
    found = session().action()
    found.add_raw(type="session.unheard")
    report = verify(found.finish())
    assert (report.exit_code, report.axis("intents").state) == (8, "incomplete")


def test_an_outcome_without_an_intent_is_named():
    found = session()
    found.add("action.outcome", outcome_fields("0" * 64))
    broken("intents", "entry 1: answers an intent that is not before it", found.finish())


def test_a_second_outcome_is_named():
    found = session()
    intent = found.add("action.intent", intent_fields())
    found.add("action.outcome", outcome_fields(intent))
    found.add("action.outcome", outcome_fields(intent, status="failed"))
    broken("intents", "entry 3: answers an intent a second time", found.finish())


def test_an_outcome_of_another_action_is_named():
    found = session()
    intent = found.add("action.intent", intent_fields(), 1)
    found.add("action.outcome", outcome_fields(intent), 2)
    broken("intents", "entry 2: answers entry 1, which has id act_", found.finish())


def test_an_intent_after_expiry_is_named_and_one_at_the_last_microsecond_is_in_time():
    found, expires_at = session(), START + TTL_SECONDS * 1_000_000
    found.time = expires_at - 1000
    found.action()
    assert verify(found).axis("intents").state == "valid"
    found.action(2)
    broken("intents", "entry 3: intent at", found.finish())


# --- inclusion -----------------------------------------------------------------------------------


def test_a_bundle_without_a_head_proves_no_inclusion():
    found = session().action().finish()
    report = verify(found, head=None, spawn_proof=None, seal_proof=None)
    assert report.exit_code == 8
    assert report.axis("inclusion").state == "incomplete"
    only_log = verify(found, found.log.vkey.format(), spawn_proof=None)
    assert only_log.axis("key").state == "incomplete"


def test_a_bundle_without_the_proof_of_its_seal_is_incomplete():
    report = verify(session().action().finish(), seal_proof=None)
    assert (report.exit_code, report.axis("inclusion").state) == (8, "incomplete")


def test_a_head_of_another_log_is_invalid_even_if_signed_by_the_log_key():
    found = session().finish()
    text = head_text("else.test", len(found.log.leaves), root(found.log.leaves))
    broken(
        "inclusion",
        "origin is else.test",
        found,
        head=sign_note(found.log.key, found.log.origin, text),
    )


def test_a_head_of_another_key_is_invalid():
    found = session().finish()
    forged = Log(number=9)
    forged.leaves = found.log.leaves
    broken("inclusion", "no signature of a known key", found, head=forged.head())


def test_a_proof_to_another_head_than_the_bundles_is_invalid():
    found = session().finish()
    proof = decode_proof(found.log.proof(found.notes[0]))
    other = encode_proof(Proof(proof.index, proof.hashes, found.log.head(3)))
    broken("inclusion", "entry 0: its proof leads to another head", found, spawn_proof=other)


def test_the_proof_of_another_entry_is_invalid():
    found = session().finish()
    other = found.log.proof(found.notes[1])
    broken("inclusion", "entry 0: tree:", found, spawn_proof=other)
    broken("inclusion", "entry 2: tree:", found, seal_proof=other)


def test_a_proof_of_a_seal_that_is_not_there_is_invalid():
    found = session().action()
    broken(
        "inclusion", "there is no session.seal", found, seal_proof=found.log.proof(found.notes[1])
    )


def test_an_open_session_is_included_by_its_spawn_entry_alone():
    axis = verify(session().action()).axis("inclusion")
    assert axis == Axis("inclusion", "valid", "spawn at 3 of 6")


def test_a_seal_that_lies_before_its_entries_in_the_log_is_invalid():
    found = session().finish()
    found.log.leaves = found.log.leaves[::-1]
    broken("inclusion", "entry 2: lies at 0 in the log", found)


# --- disclosure ----------------------------------------------------------------------------------


SALT = bytes(range(32))


def disclosing(data: bytes = b"amount=2000") -> Session:
    found, digest = session(), commitment.Commitment("params", SALT)
    digest.update(data)
    intent = found.add("action.intent", intent_fields(params=digest.hex()))
    found.add("action.outcome", outcome_fields(intent))
    return found.finish()


def test_a_disclosed_payload_that_was_committed_to_is_valid():
    item = Disclosure(1, "params", SALT, b"amount=2000")
    report = verify(disclosing(), disclosures=(item,))
    assert (report.exit_code, report.axis("disclosure").detail) == (0, "1 payloads")


def test_the_intent_of_the_spawn_entry_can_be_disclosed():
    salt, digest = commitment.commit("intent", b"pay the bill")
    found = Log().session(intent=digest).finish()
    item = Disclosure(0, "intent", salt, b"pay the bill")
    assert verify(found, disclosures=(item,)).axis("disclosure").state == "valid"


@pytest.mark.parametrize(
    ("item", "detail"),
    [
        (Disclosure(1, "params", SALT, b"amount=2001"), "entry 1: committed to another params"),
        (Disclosure(1, "forwarded", SALT, b"amount=2000"), "committed to another forwarded"),
        (Disclosure(1, "port", SALT, b""), "entry 1: has no commitment port"),
        (Disclosure(1, "nothing", SALT, b""), "entry 1: has no commitment nothing"),
        (Disclosure(5, "params", SALT, b""), "there is no entry 5"),
        (Disclosure(-1, "params", SALT, b""), "there is no entry -1"),
    ],
)
def test_a_disclosed_payload_that_was_not_committed_to_is_invalid(item: Disclosure, detail: str):
    broken("disclosure", detail, disclosing(), disclosures=(item,))


def test_a_payload_of_an_entry_that_cannot_be_read_is_undecided():
    found = session()
    found.add_raw(type="session.unheard", params="0" * 64)
    report = verify(found.finish(), disclosures=(Disclosure(1, "params", SALT, b""),))
    assert (report.exit_code, report.axis("disclosure").state) == (8, "incomplete")


# --- content -------------------------------------------------------------------------------------


def test_a_known_type_with_a_wrong_field_is_invalid():
    found = session()
    found.add_raw(type="session.closed", **closed_fields(reads=-1))
    broken("content", "entry 1: entry: session.closed: field reads", found)


# --- key -----------------------------------------------------------------------------------------


def test_a_log_key_that_is_not_the_logs_vouches_for_nothing():
    found = session().finish()
    wrong = Vkey(found.log.origin, key(9).public).format()
    report = verify(found, wrong)
    assert report.axis("key").detail == "the given log key does not vouch for this session"
    assert report.exit_code == 7


# --- an unreadable spawn entry --------------------------------------------------------------------


def unreadable_spawn() -> Session:
    found = Log().session()
    common = {"log": found.log.origin, "sid": found.sid, "ts": 1, "id": act(1), "seq": 0}
    found.notes.clear()
    found.log.leaves.clear()
    body = {**common, "prev": "0" * 64, "type": "session.spawn", "v": 2}
    found.add_body(canonical.encode(body))
    return found.action().finish()


def test_under_an_unreadable_spawn_entry_a_named_session_key_checks_signatures():
    found = unreadable_spawn()
    report = verify(found, found.vkey.format())
    assert report.exit_code == 8
    assert report.axis("signatures").state == "valid"
    assert report.axis("inclusion").state == "incomplete"


def test_under_an_unreadable_spawn_entry_a_log_key_checks_inclusion():
    found = unreadable_spawn()
    report = verify(found, found.log.vkey.format())
    assert report.exit_code == 8
    assert report.axis("inclusion").state == "valid"
    for name in ("signatures", "complete", "key"):
        assert report.axis(name).state == "incomplete"


# --- head -----------------------------------------------------------------------------------------


def test_a_known_head_of_the_same_size_must_be_equal():
    found = session().action().finish()
    assert verify(found, known=found.log.head()).axis("head").detail.startswith("equal")
    fork = Log()
    fork.leaves = [*found.log.leaves[:-1], bytes(32)]
    report = verify(found, known=fork.head())
    assert (report.exit_code, report.axis("head").state) == (7, "invalid")
    assert "fork" in report.axis("head").detail


def test_a_known_older_head_needs_a_proof_that_the_bundle_brings():
    found = session().action().finish()
    older = found.log.head(4)
    assert verify(found, known=older).exit_code == 8
    assert verify(found, known=older, consistency=found.log.consistency(3)).exit_code == 8
    report = verify(found, known=older, consistency=found.log.consistency(4))
    assert (report.exit_code, report.axis("head").state) == (0, "valid")


def test_a_known_older_head_with_another_history_is_a_broken_log():
    found = session().action().finish()
    fork = Log()
    fork.leaves = [bytes(32)] * 4
    report = verify(found, known=fork.head(), consistency=found.log.consistency(4))
    assert (report.exit_code, report.axis("head").state) == (7, "invalid")


def test_a_known_head_of_another_log_or_key_is_refused():
    found = session().action().finish()
    other = Log("else.test")
    assert verify(found, known=other.head()).exit_code == 7
    foreign = sign_note(found.log.key, found.log.origin, head_text("else.test", 1, bytes(32)))
    assert "else.test" in verify(found, known=foreign).axis("head").detail


def test_a_known_head_cannot_be_compared_with_none():
    found = session().action().finish()
    data = bundle.encode(bundle.Bundle(entries=tuple(found.notes), seal=found.seal))
    report = verify_bundle(data, [found.vkey.format()], head=found.log.head())
    assert report.axis("head").state == "incomplete"


def test_without_any_key_the_key_axis_is_undecided():
    report = verify_bundle(bundle.encode(session().finish().bundle()), [])
    assert (report.exit_code, report.axis("key").state) == (8, "incomplete")


@pytest.mark.parametrize("which", ["session", "log"])
def test_the_key_axis_says_which_key_held(which: str):
    found = session().finish()
    pin = found.vkey if which == "session" else found.log.vkey
    report = verify(found, pin.format())
    assert report.exit_code == 0
    assert report.axis("key").detail.startswith(f"the {which}'s key was given")


def test_a_key_of_somebody_else_is_invalid():
    found = session().finish()
    report = verify(found, "ed25519_public_" + key(99).public.hex())
    assert (report.exit_code, report.axis("key").state) == (7, "invalid")
