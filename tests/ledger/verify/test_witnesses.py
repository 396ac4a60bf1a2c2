"""The axis of witnesses: keys from the policy alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ghost_ledger import bundle, canonical, entry
from ghost_ledger.checkpoint import head_text
from ghost_ledger.cosignature import cosign
from ghost_ledger.note import Vkey, sign_note
from ghost_ledger.tree import root
from ghost_ledger.verify import Axis, Policy, Report, verify_bundle
from support.bundles import Log, Session, key
from support.cosigners import cosigned_bundle, cosigned_head, named, policy_text

SESSION = Log().session().action().finish()
PINS = [SESSION.vkey.format()]


def judged(data: bytes, policy: bytes | None, keys: Sequence[str] = PINS) -> tuple[Report, Axis]:
    asked = None if policy is None else Policy.parse(policy)
    report = verify_bundle(data, keys, policy=asked)
    return report, report.axis("witness")


def test_enough_witnesses_make_it_valid():
    report, axis = judged(cosigned_bundle(SESSION, 1, 2), policy_text(SESSION.log, [1, 2, 3], "2"))
    assert (axis.state, report.exit_code) == ("valid", 0)
    assert axis.detail == f"2 of 3 witnesses signed size {len(SESSION.log.leaves)}"


def test_too_few_leave_it_incomplete():
    report, axis = judged(cosigned_bundle(SESSION, 1), policy_text(SESSION.log, [1, 2, 3], "2"))
    assert (axis.state, report.exit_code) == ("incomplete", 8)
    assert axis.detail.endswith(f"too few for the quorum: {named(1).name}")


def test_no_cosignature_at_all():
    report, axis = judged(bundle.encode(SESSION.bundle()), policy_text(SESSION.log, [1], "any"))
    assert (axis.state, report.exit_code) == ("incomplete", 8)


def test_without_a_policy_it_stays_open():
    report, axis = judged(cosigned_bundle(SESSION, 1, 2), None)
    assert (axis.state, report.exit_code) == ("absent", 0)


def test_witnesses_that_the_policy_does_not_name_count_for_nothing():
    report, axis = judged(cosigned_bundle(SESSION, 8, 9), policy_text(SESSION.log, [1, 2], "any"))
    assert (axis.state, report.exit_code) == ("incomplete", 8)


def test_one_witness_that_signs_twice_counts_once():
    report, _ = judged(cosigned_bundle(SESSION, 1, 1), policy_text(SESSION.log, [1, 2], "2"))
    assert report.exit_code == 8


def test_the_log_key_is_no_witness():
    own = Vkey(SESSION.log.origin, SESSION.log.key.public)
    data = bundle.encode(SESSION.bundle())
    text = policy_text(SESSION.log, [1], "any")
    assert own.format() in text.decode()
    assert judged(data, text)[0].exit_code == 8


def test_a_failing_cosignature_of_a_known_witness_breaks_the_head():
    head = cosigned_head(SESSION.log, 1)
    wrong = cosign(key(2), named(2).name, b"another\n1\ntext\n", 1_790_000_000).encode()
    made = SESSION.bundle(head=head + wrong)
    report, axis = judged(bundle.encode(made), policy_text(SESSION.log, [1, 2], "any"))
    assert (axis.state, report.exit_code) == ("invalid", 7)
    assert named(2).name in axis.detail


def test_the_logs_of_the_policy_are_keys_of_the_caller():
    data, text = cosigned_bundle(SESSION, 1), policy_text(SESSION.log, [1])
    report, _ = judged(data, text, [])
    assert report.exit_code == 0
    assert report.keys == (SESSION.log.vkey.format(),)


def test_a_policy_without_logs_pins_nothing():
    data, text = cosigned_bundle(SESSION, 1), policy_text(None, [1])
    assert judged(data, text)[0].exit_code == 0
    report, axis = judged(data, text, [])
    assert (axis.state, report.exit_code) == ("valid", 8)


def test_a_policy_of_other_logs_is_not_met():
    other = Log("elsewhere.test/1", 5)
    report, axis = judged(cosigned_bundle(SESSION, 1), policy_text(other, [1]))
    assert (axis.state, report.exit_code) == ("invalid", 7)
    assert "lists no log" in axis.detail


def test_another_key_under_the_name_of_the_log_is_refused():
    forged = Log(number=5)
    report, axis = judged(cosigned_bundle(SESSION, 1), policy_text(forged, [1]))
    assert (axis.state, report.exit_code) == ("invalid", 7)


def test_a_quorum_of_nobody_asks_for_the_log_alone():
    log = SESSION.log.vkey.format()
    report, axis = judged(bundle.encode(SESSION.bundle()), f"log {log}\nquorum none\n".encode())
    assert (axis.state, report.exit_code) == ("valid", 0)
    assert axis.detail.endswith("and the quorum asks for none")


def test_without_a_head_nobody_signed():
    parts = {"head": None, "spawn_proof": None, "seal_proof": None}
    report, axis = judged(bundle.encode(SESSION.bundle(**parts)), policy_text(SESSION.log, [1]))
    assert (axis.state, report.exit_code) == ("incomplete", 8)


def test_a_head_of_another_log_is_named():
    other = Log("elsewhere.test/1", 5).session().finish().log
    made = SESSION.bundle(head=other.head())
    report, axis = judged(bundle.encode(made), policy_text(SESSION.log, [1]))
    assert (axis.state, report.exit_code) == ("invalid", 7)
    other.vkey = Vkey(SESSION.log.origin, other.key.public)
    other.key, other.origin = SESSION.log.key, "renamed.test/1"
    renamed = SESSION.bundle(head=_signed_as(other, SESSION.log.origin))
    _, axis = judged(bundle.encode(renamed), policy_text(SESSION.log, [1]))
    assert "origin is renamed.test/1" in axis.detail


def test_an_unreadable_spawn_names_no_key_of_its_log():
    odd = Session(Log(), 7, {})
    odd.notes.clear()
    odd.log.leaves.clear()
    odd.add("session.spawn", odd._spawn_fields())
    made = odd.finish()
    strange = made.bundle(entries=(_strange(made), *made.notes[1:]))
    _, axis = judged(bundle.encode(strange), policy_text(None, [1]), [])
    assert axis.state == "incomplete"


def _strange(made: Session) -> bytes:
    """Return the spawn entry in a version that nobody knows, signed anew."""
    body = canonical.encode(canonical.decode(entry.open_leaf(made.notes[0])[0]) | {"v": 9})
    return entry.leaf(body, made.key.sign(body + b"\n"), made.name, made.vkey.key_id)


def _signed_as(log: Log, name: str) -> bytes:
    return sign_note(log.key, name, head_text(log.origin, len(log.leaves), root(log.leaves)))


@pytest.mark.parametrize("numbers", [(1,), (1, 2, 3)])
def test_order_of_the_lines_does_not_matter(numbers: tuple[int, ...]):
    text = policy_text(SESSION.log, numbers)
    assert judged(cosigned_bundle(SESSION, *reversed(numbers)), text)[0].exit_code == 0
