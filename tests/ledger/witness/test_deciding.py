"""Every answer of the specification, from a request and what was cosigned last."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ghost_ledger import tree
from ghost_ledger.checkpoint import Checkpoint, sign_checkpoint
from ghost_ledger.note import Vkey, sign_note, signature_line
from ghost_ledger.tree import leaf_hash, root
from ghost_ledger.witness.deciding import SIZE_TYPE, Answer, admit, by_origin, judge
from ghost_ledger.witness.request import decode_request, encode_request
from support.bundles import ORIGIN, Log, key
from support.cosigners import asking

LOG = Log()
LOG.leaves = [leaf_hash(bytes([number])) for number in range(20)]
LOGS = by_origin([LOG.vkey])


def last(size: int) -> Checkpoint:
    return Checkpoint(ORIGIN, size, root(LOG.leaves[:size]))


def answered(body: bytes, known: Checkpoint | None = None) -> Answer | None:
    """Return the refusal, or None where it may be cosigned."""
    asked = admit(body, LOGS)
    return asked if isinstance(asked, Answer) else judge(asked, known)


def fork(size: int) -> Log:
    """Return the same log with another last leaf."""
    other = Log()
    other.leaves = [*LOG.leaves[: size - 1], leaf_hash(b"forged")]
    return other


def test_the_first_head_is_taken_without_a_proof():
    assert answered(asking(LOG, 0)) is None
    assert answered(asking(LOG, 0, 1)) is None


@pytest.mark.parametrize("old", range(1, 21))
def test_each_later_head_is_taken_with_its_proof(old: int):
    assert answered(asking(LOG, old), last(old)) is None


def test_the_same_head_again_is_taken():
    assert answered(asking(LOG, 20), last(20)) is None


def test_what_cannot_be_read_is_400():
    found = answered(b"old x\n\n" + LOG.head())
    assert found is not None
    assert (found.status, found.evidence) == (400, "")


def test_an_unknown_log_is_404():
    other = Log("elsewhere.test/1")
    other.leaves = LOG.leaves
    assert answered(asking(other, 0)) == Answer(404, "this witness does not know the log\n")


@pytest.mark.parametrize(
    "note",
    [
        sign_checkpoint(key(9), ORIGIN, 1, b"r" * 32),
        sign_note(LOG.key, "another.name", LOG.head().partition(b"\n\n")[0] + b"\n"),
        LOG.head().replace(b"\n20\n", b"\n19\n"),
        LOG.head() + signature_line(ORIGIN, LOG.vkey.key_id, b"s" * 64).encode(),
    ],
    ids=["other key", "other name", "other text", "failing line"],
)
def test_a_head_that_its_log_did_not_sign_is_403(note: bytes):
    found = answered(encode_request(0, (), note))
    assert found is not None
    assert found.status == 403


def test_signatures_of_others_are_ignored():
    more = signature_line("other.test", b"abcd", b"s" * 64).encode()
    assert answered(encode_request(0, (), LOG.head() + more)) is None


def test_a_rotated_key_signs_for_the_same_log():
    fresh = Vkey(ORIGIN, key(3).public)
    logs = by_origin([LOG.vkey, fresh])
    note = sign_checkpoint(key(3), ORIGIN, 20, root(LOG.leaves))
    assert not isinstance(admit(encode_request(0, (), note), logs), Answer)


def test_an_old_size_above_the_heads_is_400():
    found = answered(encode_request(21, (), LOG.head()), last(20))
    assert found is not None
    assert found.status == 400


@pytest.mark.parametrize("old", [0, 1, 11, 13, 20])
def test_another_old_size_is_409_with_the_size(old: int):
    assert answered(asking(LOG, old), last(12)) == Answer(409, "12\n", SIZE_TYPE)


def test_a_smaller_head_is_409():
    assert answered(asking(LOG, 5, 5), last(12)) == Answer(409, "12\n", SIZE_TYPE)


@pytest.mark.parametrize("old", [0, 7, 12])
def test_another_root_at_the_same_size_is_refused_and_evidence(old: int):
    body = asking(fork(12), old)
    found = answered(body, last(12))
    assert found is not None
    assert (found.status, found.evidence) == (422 if old == 12 else 409, "fork")


def test_a_head_that_does_not_continue_is_422_and_evidence():
    other = fork(12)
    other.leaves += LOG.leaves[12:]
    found = answered(asking(other, 12), last(12))
    assert found is not None
    assert (found.status, found.evidence) == (422, "proof")


@pytest.mark.parametrize("change", ["missing", "trailing", "swapped", "flipped"])
def test_a_wrong_proof_is_422(change: str):
    asked = decode_request(asking(LOG, 12))
    first, *rest = asked.proof
    proofs = {
        "missing": tuple(rest),
        "trailing": (*asked.proof, first),
        "swapped": (*reversed(asked.proof),),
        "flipped": (bytes([first[0] ^ 1]) + first[1:], *rest),
    }
    found = judge(replace(asked, proof=proofs[change]), last(12))
    assert found is not None
    assert found.status == 422


@pytest.mark.parametrize(("old", "known"), [(0, None), (20, last(20))])
def test_a_proof_where_none_belongs_is_422(old: int, known: Checkpoint | None):
    found = answered(encode_request(old, (b"h" * 32,), LOG.head()), known)
    assert found is not None
    assert found.status == 422


def test_an_empty_tree_has_one_root():
    empty = sign_checkpoint(LOG.key, ORIGIN, 0, tree.EMPTY)
    assert answered(encode_request(0, (), empty)) is None
    other = sign_checkpoint(LOG.key, ORIGIN, 0, b"r" * 32)
    found = answered(encode_request(0, (), other))
    assert found is not None
    assert found.status == 422
