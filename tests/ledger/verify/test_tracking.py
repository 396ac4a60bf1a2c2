"""What one session must obey, fed entry by entry; more cases are played over bundles in `test_steps`."""

from __future__ import annotations

import pytest

from ghost_core.errors import IncompleteError, IntegrityError
from ghost_ledger import statement
from ghost_ledger.tree import root
from ghost_ledger.verify.evidence import Leaf, read_leaves
from ghost_ledger.verify.tracking import Chain, Intents, Sealing, check_signature
from support.bundles import Log, Session


@pytest.fixture
def session() -> Session:
    found = Log().session()
    found.action()
    return found.finish()


def _leaves(found: Session) -> tuple[Leaf, ...]:
    return read_leaves(found.notes)


def test_a_session_passes_and_nothing_follows_its_seal(session: Session) -> None:
    leaves = _leaves(session)
    chain = Chain(leaves[0].entry.log, session.sid)
    for leaf in leaves:
        chain.feed(leaf)
    assert (chain.seq, chain.sealed) == (len(leaves), True)
    with pytest.raises(IntegrityError, match="follows the seal"):
        chain.feed(leaves[-1])


def test_the_seal_is_judged_by_what_was_fed(session: Session) -> None:
    *body, last = _leaves(session)
    sealing = Sealing()
    for leaf in body:
        sealing.feed(leaf)
    assert sealing.frontier.root() == root([leaf.hash for leaf in body])
    assert sealing.finish(session.seal, last, session.vkey).startswith(f"sealed over {len(body)}")
    with pytest.raises(IncompleteError, match="open"):
        sealing.finish(None, None, session.vkey)
    with pytest.raises(IntegrityError, match="missing"):
        sealing.finish(session.seal, None, session.vkey)
    sealing.feed(last)
    with pytest.raises(IntegrityError, match="follows session.closed"):
        sealing.finish(session.seal, last, session.vkey)


def test_a_statement_may_be_absent_and_must_fit_where_it_is() -> None:
    def judged(other: Session | None = None, **more: str) -> str:
        made = Log().session().action().close()
        if other is not None:
            more["dsse"] = statement.sign(other.key, other.sealed())
        *body, last = read_leaves(made.seal_up(**more).notes)
        sealing = Sealing()
        for leaf in body:
            sealing.feed(leaf)
        return sealing.finish(made.seal, last, made.vkey)

    assert judged().startswith("sealed")
    assert judged(Log().session().action().close()).startswith("sealed")
    for wrong in (Log().session(8).action().close(), Log().session().close()):
        with pytest.raises(IntegrityError, match="dsse: signature does not match"):
            judged(wrong)


def test_an_intent_has_one_outcome(session: Session) -> None:
    leaves = _leaves(session)
    intents = Intents(leaves[0])
    for leaf in leaves[:2]:
        intents.feed(leaf)
    assert (len(intents.pending), len(intents.answered)) == (1, 0)
    intents.feed(leaves[2])
    assert (len(intents.pending), len(intents.answered)) == (0, 1)
    with pytest.raises(IntegrityError, match="a second time"):
        intents.feed(leaves[2])


def test_a_signature_of_another_key_is_named(session: Session) -> None:
    leaf, other = _leaves(session)[1], Log().session(8)
    check_signature(1, leaf, session.vkey)
    with pytest.raises(IntegrityError, match="entry 1: is signed by"):
        check_signature(1, leaf, other.vkey)
