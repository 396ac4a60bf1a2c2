"""The axis of time: roots from the caller alone."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from ghost_ledger import bundle
from ghost_ledger.bundle import Bundle
from ghost_ledger.timestamp import Roots
from ghost_ledger.verify import Axis, Report, verify_bundle
from ghost_ledger.verify.timestamps import TOLERANCE_SECONDS
from support.bundles import START, Log, Session
from support.tsa import Authority, Pair, issue

SECOND = 1_000_000


@pytest.fixture(scope="module")
def root() -> Pair:
    return issue("Root of time", ca=True)


@pytest.fixture(scope="module")
def session() -> Session:
    return Log().session().action().finish()


def stamped(session: Session, *authorities: Authority) -> Bundle:
    made = session.bundle()
    assert made.head is not None
    return replace(made, timestamps=tuple(each.stamp(made.head) for each in authorities))


def judged(session: Session, made: Bundle, root: Pair | None) -> tuple[Report, Axis]:
    roots = None if root is None else Roots(root.pem)
    report = verify_bundle(bundle.encode(made), [session.vkey.format()], roots=roots)
    return report, report.axis("time")


def test_a_token_over_the_head_makes_it_valid(session: Session, root: Pair) -> None:
    report, axis = judged(session, stamped(session, Authority(root)), root)
    assert (axis.state, report.exit_code) == ("valid", 0)
    assert axis.detail == (
        "CN=Authority of time saw the head at 2026-09-21T14:14:20Z; 1 of 1 time stamp"
    )


def test_without_roots_it_stays_open(session: Session, root: Pair) -> None:
    report, axis = judged(session, stamped(session, Authority(root)), None)
    assert (axis.state, report.exit_code) == ("absent", 0)


def test_no_token_where_one_is_asked_for_is_incomplete(session: Session, root: Pair) -> None:
    report, axis = judged(session, session.bundle(), root)
    assert (axis.state, report.exit_code) == ("incomplete", 8)
    bare = replace(stamped(session, Authority(root)), head=None, spawn_proof=None, seal_proof=None)
    report, axis = judged(session, bare, root)
    assert (axis.state, report.exit_code) == ("incomplete", 8)


def test_a_token_over_another_head_is_invalid(session: Session, root: Pair) -> None:
    other = Authority(root).stamp(session.log.head(1))
    report, axis = judged(session, session.bundle(timestamps=(other,)), root)
    assert (axis.state, report.exit_code) == ("invalid", 7)
    assert "over other bytes" in axis.detail


def test_one_wrong_token_spoils_the_good_one(session: Session, root: Pair) -> None:
    good = stamped(session, Authority(root)).timestamps[0]
    for wrong in (b"nonsense", Authority(root).stamp(b"other")):
        _, axis = judged(session, session.bundle(timestamps=(good, wrong)), root)
        assert axis.state == "invalid"


def test_an_authority_that_the_caller_does_not_know_counts_for_nothing(
    session: Session, root: Pair
) -> None:
    own = Authority(issue("Root of time", ca=True))
    report, axis = judged(session, stamped(session, own), root)
    assert (axis.state, report.exit_code) == ("invalid", 7)
    assert "nobody under the given roots signed it" in axis.detail
    report, axis = judged(session, stamped(session, own, Authority(root)), root)
    assert (axis.state, report.exit_code) == ("valid", 0)
    assert axis.detail.endswith("1 of 2 time stamps")


@pytest.mark.parametrize(("accuracy", "state"), [(1, "valid"), (0, "invalid")])
def test_the_last_entry_is_not_after_the_token(
    session: Session, root: Pair, accuracy: int, state: str
) -> None:
    """The last entry is some milliseconds after a full second, as is the tolerance; accuracy covers them."""
    at_us = session.time // SECOND * SECOND - TOLERANCE_SECONDS * SECOND
    authority = Authority(root, at_us=at_us, accuracy=accuracy)
    _, axis = judged(session, stamped(session, authority), root)
    assert axis.state == state


def test_the_earliest_token_decides(session: Session, root: Pair) -> None:
    early = Authority(root, at_us=START - 3600 * SECOND)
    _, axis = judged(session, stamped(session, Authority(root), early), root)
    assert axis.state == "invalid"
    assert axis.detail.startswith("entry 4: is of 2026-09-21T14:13:20Z, its head was stamped at")


def test_of_an_open_session_only_the_first_entry_is_shown_to_be_in_the_head(root: Pair) -> None:
    session = Log().session()
    authority = Authority(root, at_us=session.time)
    session.time += 3600 * SECOND
    session.close()
    report, axis = judged(session, stamped(session, authority), root)
    assert (axis.state, report.exit_code) == ("valid", 8)


def test_no_byte_of_a_stamped_bundle_loosens_it(session: Session, root: Pair) -> None:
    made = stamped(session, Authority(root))
    assert made.head is not None
    token = made.timestamps[0]
    for at in range(0, len(made.head), 9):
        head = made.head[:at] + bytes((made.head[at] ^ 1,)) + made.head[at + 1 :]
        _, axis = judged(session, replace(made, head=head, timestamps=(token,)), root)
        assert axis.state == "invalid"


def test_the_verifier_loads_the_library_only_when_it_is_asked() -> None:
    program = "import json, sys, ghost_ledger.verify; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, timeout=60
    )
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert {"rfc3161_client", "cryptography", "sqlalchemy"} & loaded == set()
