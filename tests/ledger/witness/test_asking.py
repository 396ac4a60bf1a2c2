"""Asking one witness: whatever it answers, only its cosignature over our head counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ghost_core.errors import FailedError
from ghost_ledger.cosignature import cosign, cosigned
from ghost_ledger.tree import consistency_proof, leaf_hash
from ghost_ledger.witness.asking import Reply, ask
from ghost_ledger.witness.request import decode_request
from ghost_ledger.witness.witness import Witness
from support.bundles import Log, key
from support.cosigners import asking, named, witness

LOG = Log()
LOG.leaves = [leaf_hash(bytes([number])) for number in range(9)]
TEXT = LOG.head().partition(b"\n\n")[0] + b"\n"
W = named(1)
LINE = cosign(key(1), W.name, TEXT, 1_790_000_000)

type Post = Callable[[bytes], tuple[int, bytes]]


def prove(old: int) -> tuple[bytes, ...]:
    return consistency_proof(LOG.leaves, old, len(LOG.leaves))


def asked(post: Post, old: int = 0) -> Reply:
    return ask(W, LOG.head(), old, prove, post)


def always(status: int, answer: bytes) -> Post:
    return lambda _: (status, answer)


def of(found: Witness, old: int, log: Log = LOG) -> Reply:
    def post(body: bytes) -> tuple[int, bytes]:
        answer = found.add(body)
        return answer.status, answer.body.encode()

    return ask(found.vkey, log.head(), old, prove, post)


@pytest.mark.parametrize("known", [0, 1, 4, 8, 9])
@pytest.mark.parametrize("guessed", [0, 3, 9])
def test_from_whatever_size_it_knows(tmp_path: Path, known: int, guessed: int):
    found = witness(tmp_path, [LOG.vkey])
    if known:
        assert found.add(asking(LOG, 0, known)).status == 200
    reply = of(found, guessed)
    assert reply.state == "signed"
    assert found.vkey in cosigned(LOG.head() + reply.line.encode(), [found.vkey])


def test_a_witness_that_has_more_is_a_conflict(tmp_path: Path):
    longer = Log()
    longer.leaves = [*LOG.leaves, leaf_hash(b"more")]
    found = witness(tmp_path, [LOG.vkey])
    assert found.add(asking(longer, 0)).status == 200
    reply = of(found, 0)
    assert (reply.state, reply.status, reply.answer) == ("conflict", 409, b"10\n")
    assert reply.detail == "it has signed size 10, this log has 9"
    assert decode_request(reply.request).note == LOG.head()


def test_a_witness_of_another_tree_of_this_size_is_a_conflict(tmp_path: Path):
    fork = Log()
    fork.leaves = [*LOG.leaves[:8], leaf_hash(b"forged")]
    found = witness(tmp_path, [LOG.vkey])
    assert found.add(asking(fork, 0)).status == 200
    reply = of(found, 0)
    assert (reply.state, reply.status) == ("conflict", 422)


def test_a_witness_of_another_beginning_is_a_conflict(tmp_path: Path):
    fork = Log()
    fork.leaves = [*LOG.leaves[:4], leaf_hash(b"forged")]
    found = witness(tmp_path, [LOG.vkey])
    assert found.add(asking(fork, 0)).status == 200
    reply = of(found, 0)
    assert (reply.state, reply.status) == ("conflict", 422)


@pytest.mark.parametrize(
    ("status", "answer", "state"),
    [
        (200, LINE.encode(), "signed"),
        (200, cosign(key(2), named(2).name, TEXT, 1).encode() + LINE.encode(), "signed"),
        (200, b"", "refused"),
        (200, b"garbage", "refused"),
        (200, cosign(key(2), named(2).name, TEXT, 1).encode(), "refused"),
        (200, cosign(key(1), W.name, b"other\n1\ntext\n", 1).encode(), "conflict"),
        (200, LINE.encode()[:-1], "refused"),
        (403, b"", "refused"),
        (404, b"", "refused"),
        (302, b"", "refused"),
        (500, b"", "refused"),
        (409, b"", "refused"),
        (409, b"0\n", "refused"),
        (409, b"5", "refused"),
        (409, b"05\n", "refused"),
        (409, b"\xff\n", "refused"),
        (409, b"-1\n", "refused"),
        (409, b"9007199254740992\n", "refused"),
        (409, b"10\n", "conflict"),
        (409, b"9\n", "conflict"),
        (422, b"", "conflict"),
    ],
    ids=range(21),
)
def test_every_answer_has_its_meaning(status: int, answer: bytes, state: str):
    reply = asked(always(status, answer))
    assert reply.state == state
    assert bool(reply.line) == (state == "signed")
    assert reply.detail or state == "signed"


def test_who_changes_its_size_for_ever_is_left():
    sizes = iter([1, 2, 3, 4, 5])
    reply = asked(lambda _: (409, b"%d\n" % next(sizes)))
    assert (reply.state, next(sizes)) == ("refused", 4)


def test_who_is_not_there_is_unreachable():
    def post(_: bytes) -> tuple[int, bytes]:
        raise FailedError("receiver: no answer in time")

    assert asked(post) == Reply(W, "unreachable", "receiver: no answer in time")
