from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import IncompleteError, IntegrityError
from ghost_ledger import bundle, canonical
from ghost_ledger.bundle import BUNDLE_LIMIT, HANDOVERS_LIMIT, Bundle, Consistency, Disclosure
from support.bundles import Log

HASH = bytes(range(32))
SALT = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
FULL = Bundle(
    entries=(b"one", "zwei ü".encode()),
    seal=b"seal",
    spawn_proof="spawn proof",
    seal_proof="seal proof",
    head=b"head",
    disclosures=(Disclosure(1, "params", HASH, b"\x00\xff"), Disclosure(1, "response", HASH, b"")),
    hints={"recorder": "0.1.0"},
    consistency=Consistency(3, (HASH,)),
    timestamps=(b"0\x03token", b"another"),
    handovers=(b"first", b"second"),
)


def changed(**changes: Any) -> bytes:
    value = canonical.decode(bundle.encode(FULL)) | changes
    return canonical.encode({name: item for name, item in value.items() if item != "-"})


def refused(data: bytes, code: str = "ledger.bundle") -> None:
    with pytest.raises(IntegrityError) as caught:
        bundle.decode(data)
    assert caught.value.code == code


def test_a_bundle_reads_back_as_written():
    assert bundle.decode(bundle.encode(FULL)) == FULL


def test_parts_that_are_missing_have_no_member():
    data = bundle.encode(Bundle(entries=(b"one",)))
    assert data == b'{"entries":["one"],"v":1}'
    assert bundle.decode(data) == Bundle(entries=(b"one",))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1))
def test_any_notes_survive(notes: list[str]):
    parts = Bundle(entries=tuple(note.encode() for note in notes))
    assert bundle.decode(bundle.encode(parts)) == parts


def test_a_session_of_a_log_survives():
    parts = Log().session().action().finish().bundle()
    assert bundle.decode(bundle.encode(parts)) == parts


@pytest.mark.parametrize("version", [2, 999])
def test_another_version_is_incomplete(version: int):
    with pytest.raises(IncompleteError) as caught:
        bundle.decode(changed(v=version))
    assert caught.value.code == "ledger.unreadable"


@pytest.mark.parametrize("version", ["-", "1", 0, -1, True])
def test_a_version_is_a_positive_integer(version: Any):
    refused(changed(v=version))


@pytest.mark.parametrize("entries", ["-", [], "one", [1], [""], ["x" * 65_536], {}])
def test_entries_are_one_or_more_texts(entries: Any):
    refused(
        canonical.encode({"v": 1} if entries == "-" else {"v": 1, "entries": entries}, limit=10**6)
    )


@pytest.mark.parametrize("name", ["seal", "spawn_proof", "seal_proof", "head"])
@pytest.mark.parametrize("value", [1, "", [], True])
def test_notes_and_proofs_are_texts(name: str, value: Any):
    refused(changed(**{name: value}))


def test_a_note_over_128_kib_is_refused():
    refused(canonical.encode({"v": 1, "entries": ["x"], "head": "x" * 131_073}, limit=10**6))


@pytest.mark.parametrize("hints", [1, [], {}])
def test_hints_are_an_object_with_members(hints: Any):
    refused(changed(hints=hints))


@pytest.mark.parametrize(
    "disclosures",
    [
        {},
        [],
        [1],
        [{"seq": 1, "field": "params", "salt": SALT}],
        [{"seq": 1, "field": "params", "salt": SALT, "data": "", "more": 1}],
        [{"seq": True, "field": "params", "salt": SALT, "data": ""}],
        [{"seq": 1, "field": "params", "salt": "AAAA", "data": ""}],
    ],
)
def test_a_disclosure_has_four_members_and_a_salt_of_32_bytes(disclosures: Any):
    refused(changed(disclosures=disclosures))


@pytest.mark.parametrize(
    "timestamps", [[], "AA==", {}, [1], [""], ["AA=="] * 17, ["AAAA" * 22_000]]
)
def test_time_stamps_are_up_to_sixteen_tokens(timestamps: Any):
    value = canonical.decode(bundle.encode(FULL)) | {"timestamps": timestamps}
    refused(canonical.encode(value, limit=BUNDLE_LIMIT))


@pytest.mark.parametrize("data", ["!", "AA", "AAAAAAB="])
def test_a_disclosure_in_other_than_canonical_base64_is_refused(data: str):
    item = {"seq": 1, "field": "params", "salt": SALT, "data": data}
    refused(changed(disclosures=[item]), "ledger.note")


@pytest.mark.parametrize(
    "consistency",
    [
        1,
        {},
        {"size": 0, "hashes": []},
        {"size": True, "hashes": []},
        {"size": 3, "hashes": [1]},
        {"size": 3, "hashes": ["AAAA"]},
        {"size": 3, "hashes": [SALT], "more": 1},
        {"size": 3, "hashes": [SALT] * 64},
    ],
)
def test_consistency_is_a_size_and_hashes(consistency: Any):
    refused(changed(consistency=consistency))


def test_an_unknown_member_is_refused():
    refused(changed(verified=True))


def test_what_is_not_canonical_json_is_no_bundle():
    refused(bundle.encode(FULL) + b"\n", "ledger.grammar")
    refused(b"", "ledger.grammar")


def test_a_file_over_64_mib_is_refused_unread():
    refused(b"x" * (BUNDLE_LIMIT + 1), "ledger.grammar")


def test_a_note_that_is_not_utf8_is_not_encoded():
    with pytest.raises(IntegrityError):
        bundle.encode(Bundle(entries=(b"\xff",)))


def test_more_than_a_million_entries_are_refused():
    data = b'{"entries":[' + b",".join([b'"x"'] * 1_000_001) + b'],"v":1}'
    refused(data)


@pytest.mark.parametrize(
    "handovers", [[], "first", [1], [""], ["x"] * (HANDOVERS_LIMIT + 1)], ids=range(5)
)
def test_handovers_are_a_thousand_texts_at_most(handovers: Any):
    refused(changed(handovers=handovers))
