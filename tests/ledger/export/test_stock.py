from __future__ import annotations

from typing import Any

from ghost_ledger import commitment
from ghost_ledger.entry import open_leaf, parse_envelope
from ghost_ledger.export.actions import Signed
from ghost_ledger.export.stock import Erasure, Erasures, Kept, gather
from ghost_ledger.stored import StoredPayload
from ghost_ledger.tree import leaf_hash
from support.bundles import Log, intent_fields

DATA = b"POST / HTTP/1.1\r\nHost: a\r\n\r\nbody"
SALT, COMMITTED = commitment.commit("params", DATA)


def _asked() -> Signed:
    session = Log().session()
    session.add("action.intent", intent_fields(params=COMMITTED))
    body, line = open_leaf(session.notes[1])
    return Signed(parse_envelope(body), line.signature, leaf_hash(session.notes[1]))


def _row(**more: Any) -> StoredPayload:
    usual: dict[str, Any] = {
        "entry_idx": 1, "seq": 1, "field": "params", "salt": SALT, "commitment": COMMITTED,
        "data": DATA, "size": len(DATA), "truncated": False, "media": "message/http",
    }  # fmt: skip
    return StoredPayload(**(usual | more))


def _kept(*rows: StoredPayload, erased: Erasures | None = None) -> Kept:
    found = gather([_asked()], rows, erased or {}).find(1, "params")
    assert found is not None
    return found


def test_what_fits_its_commitment_is_stored() -> None:
    assert _kept(_row()).state == "stored"


def test_what_fits_is_whole_whatever_its_row_says() -> None:
    assert _kept(_row(truncated=True, size=10)).size == len(DATA)


def test_what_does_not_fit_is_a_mismatch() -> None:
    assert _kept(_row(data=DATA + b"!")).state == "mismatch"
    assert _kept(_row(salt=b"\x01" * 32)).state == "mismatch"
    assert _kept(_row(salt=b"short")).state == "mismatch"


def test_a_mismatch_is_neither_shown_nor_disclosed() -> None:
    stock = gather([_asked()], [_row(data=b"forged")], {})
    assert stock.axis().state == "invalid"
    assert stock.disclosures(1) == []
    assert _kept(_row(data=b"forged")).part(limit=None)["body"] is None


def test_a_part_is_truncated() -> None:
    kept = _kept(_row(data=DATA[:-2], truncated=True))
    assert (kept.state, kept.size) == ("truncated", len(DATA))


def test_nothing_stored_is_absent_or_erased() -> None:
    assert _kept().state == "absent"
    assert _kept(_row(data=None)).state == "absent"
    said = Erasure(b"\x07" * 32, 1_000_000, "request 4711", "alice")
    kept = _kept(erased={_asked().leaf_hash.hex(): {"params": said}})
    assert kept.state == "erased"
    assert kept.part(limit=None)["erased"] == {
        "entry_hash": "sha256_" + "07" * 32,
        "timestamp": "1970-01-01T00:00:01Z",
        "basis": "request 4711",
        "actor": "alice",
    }


def test_a_body_is_cut_to_its_limit_and_says_so() -> None:
    part = _kept(_row()).part(limit=2)
    assert (part["body"], part["cut"], part["start"]) == ("bo", True, "POST / HTTP/1.1")
    assert _kept(_row()).part(limit=4)["cut"] is False


def test_bytes_that_are_no_text_are_disclosed_as_base64() -> None:
    disclosed = Kept(1, "params", "stored", b"\xff\x00", 2, SALT).disclosure()
    assert (disclosed["encoding"], disclosed["data"]) == ("base64", "/wA=")


def test_without_payloads_nothing_is_disclosed() -> None:
    assert gather([_asked()], [], {}).axis().state == "absent"
