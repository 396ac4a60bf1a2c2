"""What a forger may do to a bundle, and that no way of it leads to exit code 0."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost_core.errors import GhostError
from ghost_ledger import bundle, canonical, entry, seal
from ghost_ledger.bundle import Bundle
from ghost_ledger.note import Vkey
from ghost_ledger.tree import leaf_hash
from ghost_ledger.verify import Report, verify_bundle
from support.bundles import Log, Session, key

BARE = "ed25519_public_"


def honest(number: int = 7, log: Log | None = None) -> Session:
    return (log or Log()).session(number).action().finish()


def small() -> tuple[bytes, list[str]]:
    """Return the smallest sealed session, three entries, and its key."""
    found = Log().session().finish()
    return bundle.encode(found.bundle()), [found.vkey.format()]


SMALL, PINS = small()


def outcome(data: bytes, keys: list[str], *, fast: bool = False) -> int:
    """Return the exit code, whether it comes as a report or as one of our errors."""
    try:
        return verify_bundle(data, keys, fast=fast).exit_code
    except GhostError as error:
        return error.exit_code


def forged(found: Session, entries: list[bytes], **parts: Any) -> Report:
    """Judge a bundle whose entries were replaced, everything else being genuine."""
    parts.setdefault("spawn_proof", found.log.proof(found.notes[0]))
    data = bundle.encode(dataclasses.replace(found.bundle(), entries=tuple(entries), **parts))
    return verify_bundle(data, [found.vkey.format()])


def test_the_genuine_bundle_is_valid():
    assert outcome(SMALL, PINS) == 0
    assert outcome(SMALL, PINS, fast=True) == 0


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("part", range(8))
def test_no_byte_of_a_bundle_of_three_entries_can_be_changed(part: int, fast: bool):
    # Every position; the new value walks through all bytes as the position moves on.
    for at in range(part, len(SMALL), 8):
        value = (SMALL[at] + 1 + at % 255) % 256
        changed = SMALL[:at] + bytes([value]) + SMALL[at + 1 :]
        assert outcome(changed, PINS, fast=fast) in {7, 8}, at


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(SMALL) - 1), st.integers(1, 255), st.booleans())
def test_no_byte_can_be_changed_to_any_other(at: int, add: int, fast: bool):
    changed = SMALL[:at] + bytes([(SMALL[at] + add) % 256]) + SMALL[at + 1 :]
    assert outcome(changed, PINS, fast=fast) in {7, 8}


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(SMALL)), st.integers(0, len(SMALL)), st.binary(max_size=4))
def test_no_stretch_can_be_cut_out_or_put_in(start: int, end: int, new: bytes):
    changed = SMALL[:start] + new + SMALL[end:]
    if changed != SMALL:
        assert outcome(changed, PINS) in {7, 8}


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_sealed_session_without_its_last_entries_is_invalid(count: int):
    found = honest()
    report = forged(found, found.notes[:-count])
    assert report.exit_code == 7
    assert report.axis("complete").state == "invalid"


@pytest.mark.parametrize("count", [2, 3])
def test_a_sealed_session_without_entries_before_the_seal_is_invalid(count: int):
    found = honest()
    report = forged(found, found.notes[:-count] + found.notes[-1:])
    assert report.exit_code == 7


def test_an_open_session_that_lost_its_tail_is_never_valid():
    found = Log().session().action().action(2)
    for count in range(1, len(found.notes)):
        assert forged(found, found.notes[:-count]).exit_code == 8


def test_a_seal_stripped_with_its_entry_leaves_an_open_session():
    found = honest()
    parts = {"seal": None, "seal_proof": None}
    report = forged(found, found.notes[:-1], **parts)
    assert (report.exit_code, report.axis("complete").state) == (8, "incomplete")


def test_an_empty_bundle_is_refused():
    assert outcome(b'{"entries":[],"v":1}', PINS) == 7


@pytest.mark.parametrize(("first", "second"), [(1, 2), (0, 1), (2, 3), (3, 4)])
def test_two_swapped_entries_are_named_by_the_first(first: int, second: int):
    found = honest()
    notes = list(found.notes)
    notes[first], notes[second] = notes[second], notes[first]
    report = forged(found, notes)
    assert report.exit_code == 7
    assert report.axis("chain").detail.startswith(f"entry {first}")


@pytest.mark.parametrize("at", range(5))
def test_a_duplicated_entry_is_named(at: int):
    found = honest()
    report = forged(found, [*found.notes[: at + 1], *found.notes[at:]])
    assert report.exit_code == 7
    assert report.axis("chain").detail.startswith(f"entry {at + 1}")


@pytest.mark.parametrize("at", range(1, 5))
def test_an_entry_of_another_session_put_in_is_named(at: int):
    log = Log()
    other = honest(8, log)
    found = honest(7, log)
    report = forged(found, [*found.notes[:at], other.notes[1], *found.notes[at:]])
    assert report.exit_code == 7
    assert report.axis("chain").detail.startswith(f"entry {at}")
    assert report.axis("signatures").detail.startswith(f"entry {at}")


@pytest.mark.parametrize("at", range(5))
def test_an_entry_replaced_by_one_of_another_session_is_invalid(at: int):
    log = Log()
    other, found = honest(8, log), honest(7, log)
    report = forged(found, [*found.notes[:at], other.notes[at], *found.notes[at + 1 :]])
    assert report.exit_code == 7


def test_the_seal_of_an_earlier_session_is_not_the_one_of_this():
    log = Log()
    earlier, found = honest(8, log), honest(7, log)
    report = forged(found, found.notes, seal=earlier.seal)
    assert report.exit_code == 7
    spliced = forged(found, [*found.notes[:-1], earlier.notes[-1]], seal=earlier.seal)
    assert spliced.exit_code == 7


def test_an_entry_does_not_pass_for_a_head_nor_a_head_for_an_entry():
    found = honest()
    head = found.log.head()
    assert forged(found, [head, *found.notes[1:]]).exit_code == 7
    assert forged(found, found.notes, head=found.notes[0]).exit_code == 7
    assert forged(found, found.notes, head=found.seal).exit_code == 7
    assert forged(found, found.notes, seal=head).exit_code == 7


def test_a_session_continued_after_its_seal_is_invalid():
    found = honest()
    found.action(2)
    assert found.log.leaves[-1] == leaf_hash(found.notes[-1])
    report = verify_bundle(bundle.encode(found.bundle()), [found.vkey.format()])
    assert report.exit_code == 7
    assert report.axis("chain").detail == "entry 5: follows the seal"


def test_a_session_sealed_twice_is_invalid():
    found = honest()
    found.seal_up()
    report = verify_bundle(bundle.encode(found.bundle()), [found.vkey.format()])
    assert report.exit_code == 7


def test_a_session_truncated_and_sealed_anew_by_its_own_key_breaks_the_log():
    # The key holder rewrites history after the log took the first version.
    found = honest()
    head, proof = found.log.head(), found.log.proof(found.notes[-1])
    kept = Log().session(7).finish()
    parts = {"head": head, "spawn_proof": found.log.proof(found.notes[0]), "seal_proof": proof}
    report = verify_bundle(bundle.encode(kept.bundle(**parts)), [found.vkey.format()])
    assert report.exit_code == 7
    assert report.axis("inclusion").state == "invalid"


def resigned() -> Session:
    """Tell the same story under keys of the forger, inside a log of the forger."""
    found = Log(number=66).session()
    found.key = key(67)
    found.vkey = Vkey(found.name, found.key.public)
    found.notes.clear()
    found.log.leaves.clear()
    found.add("session.spawn", found._spawn_fields())
    return found.action().finish()


def test_a_bundle_signed_anew_with_keys_of_the_forger_is_at_best_unpinned():
    data = bundle.encode(resigned().bundle())
    assert outcome(data, []) == 8
    assert verify_bundle(data, []).axis("key").state == "incomplete"


@pytest.mark.parametrize("which", ["session", "bare", "log"])
def test_a_bundle_signed_anew_is_invalid_under_every_pinned_key(which: str):
    found = honest()
    pin = {"session": found.vkey.format(), "log": found.log.vkey.format(),
           "bare": BARE + found.key.public.hex()}[which]  # fmt: skip
    assert verify_bundle(bundle.encode(found.bundle()), [pin]).exit_code == 0
    assert verify_bundle(bundle.encode(resigned().bundle()), [pin]).exit_code == 7


def test_a_session_of_the_forger_grafted_onto_a_genuine_head_is_invalid():
    found, forgery = honest(), resigned()
    parts = {"head": found.log.head(), "spawn_proof": found.log.proof(found.notes[0]),
             "seal_proof": found.log.proof(found.notes[-1])}  # fmt: skip
    report = verify_bundle(bundle.encode(forgery.bundle(**parts)), [found.log.vkey.format()])
    assert report.exit_code == 7


def test_a_verdict_typed_into_the_file_is_refused():
    value = canonical.decode(SMALL)
    assert outcome(canonical.encode({**value, "verified": True}), PINS) == 7


def test_hints_change_no_verdict():
    value = canonical.decode(SMALL)
    hints = {"verified": True, "key": BARE + key(66).public.hex()}
    assert outcome(canonical.encode({**value, "hints": hints}), PINS) == 0
    assert outcome(canonical.encode({**value, "hints": hints}), []) == 8


def test_a_low_order_key_signs_for_nobody():
    with pytest.raises(GhostError) as caught:
        verify_bundle(SMALL, [BARE + "01" + "00" * 31])
    assert caught.value.exit_code == 7


@pytest.mark.parametrize("fast", [False, True])
def test_a_changed_field_is_noticed_even_when_the_chain_is_repaired(fast: bool):
    """Rewrite one body and every `prev` after it, keeping the old signatures."""
    found = honest()
    notes, prev = list[bytes](), entry.FIRST_PREV
    for at, note in enumerate(found.notes):
        body, line = entry.open_leaf(note)
        value = canonical.decode(body) | {"prev": prev}
        if at == 1:
            value["host"] = "evil.test"
        changed = canonical.encode(value)
        notes.append(entry.leaf(changed, line.signature, line.name, line.key_id))
        prev = leaf_hash(notes[-1]).hex()
    parts = {"spawn_proof": found.log.proof(found.notes[0])}
    data = bundle.encode(dataclasses.replace(found.bundle(), entries=tuple(notes), **parts))
    report = verify_bundle(data, [found.vkey.format()], fast=fast)
    assert report.exit_code == 7
    if not fast:
        assert report.axis("signatures").detail.startswith("entry 1:")


MUTILATIONS: list[Callable[[Bundle], Bundle]] = [
    lambda parts: dataclasses.replace(parts, head=None),
    lambda parts: dataclasses.replace(parts, spawn_proof=None),
    lambda parts: dataclasses.replace(parts, seal_proof=None),
    lambda parts: dataclasses.replace(parts, seal=None),
    lambda parts: dataclasses.replace(parts, spawn_proof=parts.seal_proof),
    lambda parts: dataclasses.replace(parts, seal_proof=parts.spawn_proof),
    lambda parts: dataclasses.replace(parts, seal=parts.head),
    lambda parts: dataclasses.replace(parts, head=parts.seal),
    lambda parts: Bundle(entries=parts.entries),
]


@pytest.mark.parametrize("mutilate", MUTILATIONS)
@pytest.mark.parametrize("fast", [False, True])
def test_no_part_can_be_left_out_or_exchanged(mutilate: Callable[[Bundle], Bundle], fast: bool):
    found = honest()
    data = bundle.encode(mutilate(found.bundle()))
    for pins in ([found.vkey.format()], [found.log.vkey.format()], []):
        assert outcome(data, pins, fast=fast) in {7, 8}


def test_the_seal_of_no_entries_does_not_exist():
    with pytest.raises(GhostError):
        seal.sign_seal(key(1), "ghost.test", "gh_1", [])
