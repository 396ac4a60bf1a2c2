from __future__ import annotations

import json
from typing import Any

import pytest

from ghost_core import ids
from ghost_core.errors import DeniedError, IntegrityError, UnavailableError, UsageError
from ghost_ledger import entry, tree
from ghost_ledger.chain import ChainEnd, Signer
from ghost_ledger.keys import SecretKey
from ghost_ledger.lending import AT_ONCE, Lent, Part, Run, UnsignedError, sign_run

LOG = "ghost.local/x"
SID = "gh_" + "a" * 32
END = ChainEnd(3, "0" * 64)
FIELDS: Any = {"memory": "m1", "change": "memory.saved", "session": SID}


def run_of(count: int = 2) -> Run:
    parts = [Part("memory.changed", ids.entry_id(), FIELDS) for _ in range(count)]
    return Run(END, 1_000, parts)


def test_a_run_comes_back_as_it_was_sent() -> None:
    run = run_of()
    assert Run.of(json.loads(json.dumps(run.message()))) == run


@pytest.mark.parametrize(
    "wrong",
    [
        {"seq": "3"},
        {"prev": 3},
        {"ts": 1.5},
        {"entries": {}},
        {"entries": [None]},
        {"entries": [{"type": "memory.changed", "id": "x"}]},
        {"entries": [{"type": 1, "id": "x", "fields": {}}]},
        {"entries": [{"type": "memory.changed", "id": "x", "fields": {}}] * (AT_ONCE + 1)},
    ],
    ids=["seq", "prev", "ts", "entries", "entry", "fields", "type", "many"],
)
def test_what_is_no_run_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        Run.of({**run_of(1).message(), **wrong})
    assert caught.value.code == "control.malformed"


def test_each_entry_of_a_run_continues_the_one_before() -> None:
    key, run = SecretKey.generate(), run_of(3)
    signer = Signer.of(key, LOG, SID)
    signatures, end = sign_run(signer, LOG, SID, run)
    lent = Lent(key.public)
    lent.give(signatures)
    place = END
    for part, signature in zip(run.parts, signatures, strict=True):
        body = entry.build(
            part.type,
            log=LOG,
            sid=SID,
            seq=place.seq,
            prev=place.prev,
            ts=1_000,
            id_=part.id,
            fields=FIELDS,
        )
        assert lent.sign(body + b"\n") == signature
        leaf = tree.leaf_hash(entry.leaf(body, signature, signer.name, signer.key_id))
        place = ChainEnd(place.seq + 1, leaf.hex())
    assert end == place


@pytest.mark.parametrize("fields", [{}, {**FIELDS, "sid": SID}, {**FIELDS, "by": None}])
def test_what_could_not_be_an_entry_is_not_signed(fields: dict[str, Any]) -> None:
    run = Run(END, 1_000, [Part("memory.changed", ids.entry_id(), fields)])
    with pytest.raises(IntegrityError):
        sign_run(Signer.of(SecretKey.generate(), LOG, SID), LOG, SID, run)


def test_a_lent_signature_counts_once_and_for_its_own_message_only() -> None:
    key = SecretKey.generate()
    lent = Lent(key.public)
    lent.give([key.sign(b"one"), key.sign(b"two")])
    assert lent.sign(b"one")
    for message in (b"three", b"two"):
        with pytest.raises(UnsignedError) as caught:
            lent.sign(message)
        assert caught.value.message == "its owner's signature does not fit"


def test_why_nobody_signed_is_said_in_our_own_words() -> None:
    said = UnsignedError.of(UnavailableError("sk_live", code="session.owner_silent"))
    assert (said.message, said.code) == ("its owner did not answer in time", "session.owner_silent")
    assert UnsignedError.of(said) is said
    other = UnsignedError.of(DeniedError("sk_live", code="signing.place"))
    assert other.message == "its owner refused with signing.place"
    odd = UnsignedError.of(DeniedError("x", code="<b>" + "A" * 5000))
    assert odd.message == "its owner refused with a code of its own"
