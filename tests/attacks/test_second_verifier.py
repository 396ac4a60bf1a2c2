"""A stranger's verifier, written from `docs/formats` alone, comes to the same verdicts as ours."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost_core.errors import GhostError
from ghost_ledger import bundle, canonical, entry
from ghost_ledger.bundle import Bundle
from ghost_ledger.tree import leaf_hash
from ghost_ledger.verify import verify_bundle
from support import second_verifier
from support.bundles import Log, Session, intent_fields, key

FORMATS = Path(__file__).parents[2] / "docs" / "formats"
ENTRIES, EXAMPLE = FORMATS / "entries", (FORMATS / "example.ghost").read_bytes()
SCHEMAS = {path.stem: json.loads(path.read_bytes()) for path in ENTRIES.iterdir()}
BARE = f"ed25519_public_{key(1007).public.hex()}"
STATED = bundle.decode((FORMATS / "statement.ghost").read_bytes())
LOG_KEY = Log().vkey.format()


def ours(data: bytes, keys: list[str]) -> tuple[int, dict[str, str]]:
    try:
        report = verify_bundle(data, keys)
    except GhostError as error:
        return error.exit_code, {}
    return report.exit_code, {axis.name: axis.state for axis in report.axes}


def honest(log: Log | None = None) -> Session:
    return (log or Log()).session().action().finish()


def renamed(note: bytes, prev: str, **changes: str) -> bytes:
    body, line = entry.open_leaf(note)
    value = canonical.decode(body) | {"prev": prev} | changes
    return entry.leaf(canonical.encode(value), line.signature, line.name, line.key_id)


def changed_and_chained_anew() -> Bundle:
    """Rewrite the host of a call and every `prev` after it; nobody has the key for signatures."""
    found, notes = honest(), list[bytes]()
    for at, note in enumerate(found.notes):
        prev = leaf_hash(notes[-1]).hex() if notes else entry.FIRST_PREV
        notes.append(renamed(note, prev, **({"host": "evil.test"} if at == 1 else {})))
    return found.bundle(entries=tuple(notes), spawn_proof=found.log.proof(found.notes[0]))


def signed_anew_by_a_stranger() -> Bundle:
    """Tell the same story under a session key and a log of the forger."""
    found = Log(number=66).session()
    found.key = key(67)
    found.vkey = dataclasses.replace(found.vkey, public=found.key.public)
    found.notes.clear()
    found.log.leaves.clear()
    found.add("session.spawn", found._spawn_fields())
    return found.action().finish().bundle()


def sealed_anew_without_the_call() -> Bundle:
    """Let the holder of the session's key tell a shorter story than the log took in."""
    found, kept = honest(), Log().session().finish()
    proofs = [found.log.proof(found.notes[at]) for at in (0, -1)]
    return kept.bundle(head=found.log.head(), spawn_proof=proofs[0], seal_proof=proofs[1])


def another_payload() -> Bundle:
    parts = bundle.decode(EXAMPLE)
    (told,) = parts.disclosures
    return dataclasses.replace(parts, disclosures=(dataclasses.replace(told, data=b"amount=1"),))


def an_entry_of_another_session() -> Bundle:
    log = Log()
    other, found = log.session(8).action().finish(), honest(log)
    return found.bundle(entries=(*found.notes[:2], other.notes[1], *found.notes[2:]))


def another_statement() -> Bundle:
    """Seal with a statement's signature that is good, and of another session's statement."""
    found = Log("ghost.example/0193").session()
    dsse = canonical.decode(entry.open_leaf(STATED.entries[-1])[0])["dsse"]
    found.action().action(2).close().seal_up(dsse=str(dsse))
    return found.bundle()


def unanswered() -> Bundle:
    found = Log().session()
    found.add("action.intent", intent_fields())
    return found.finish().bundle()


GENUINE = {
    "under the log's key": (honest().bundle(), [LOG_KEY], 0),
    "the shortest, under both keys": (Log().session().finish().bundle(), [BARE, LOG_KEY], 0),
    "of the page, with a statement": (STATED, [BARE], 0),
    "without a key": (honest().bundle(), [], 8),
    "not sealed yet": (Log().session().action().bundle(), [BARE], 8),
    "a call without its outcome": (unanswered(), [BARE], 8),
}
FORGED = {
    "changed and chained anew": (changed_and_chained_anew(), [BARE], 7),
    "signed anew by a stranger": (signed_anew_by_a_stranger(), [LOG_KEY], 7),
    "sealed anew without the call": (sealed_anew_without_the_call(), [BARE], 7),
    "another payload than the committed one": (another_payload(), [BARE], 7),
    "another statement than its own": (another_statement(), [BARE], 7),
    "an entry of another session": (an_entry_of_another_session(), [BARE], 7),
}


@pytest.mark.parametrize("name", [*GENUINE, *FORGED])
def test_both_come_to_the_right_verdict_on_each_bundle(name: str):
    parts, keys, verdict = (GENUINE | FORGED)[name]
    data = bundle.encode(parts)
    code, axes = ours(data, keys)
    second, states = second_verifier.judge(data, keys, SCHEMAS)
    assert (code, second) == (verdict, verdict)
    assert states == {axis: axes[axis] for axis in states}


@pytest.mark.parametrize("forged", [False, True])
def test_a_page_a_bundle_and_a_key_are_all_that_it_needs(tmp_path: Path, *, forged: bool):
    data = EXAMPLE.replace(b"api.stripe.com", b"api.strype.com") if forged else EXAMPLE
    (tmp_path / "example.ghost").write_bytes(data)
    words = [second_verifier.__file__, str(ENTRIES), "example.ghost", BARE]
    done = subprocess.run(
        [sys.executable, "-I", *words], cwd=tmp_path, capture_output=True, check=False, timeout=10
    )
    assert done.returncode == (7 if forged else 0), done.stdout


WHOLE = bundle.encode(honest().bundle())
CUTS = st.integers(0, len(WHOLE) - 1)
KEYS = st.sampled_from([[BARE], [LOG_KEY], [BARE, LOG_KEY], []])


@settings(max_examples=100, deadline=None)
@given(
    CUTS, st.integers(0, 60), st.binary(max_size=3) | CUTS.map(lambda at: WHOLE[at : at + 80]), KEYS
)
def test_no_damage_is_judged_in_two_ways(at: int, out: int, new: bytes, keys: list[str]):
    data = WHOLE[:at] + new + WHOLE[at + out :]
    code, axes = ours(data, keys)
    second, states = second_verifier.judge(data, keys, SCHEMAS)
    assert second == code, (axes, states)


def test_the_second_verifier_is_short_and_knows_nothing_of_ours():
    text = Path(second_verifier.__file__).read_text("utf-8")
    assert len(text.splitlines()) <= 300
    assert "ghost_" not in text
