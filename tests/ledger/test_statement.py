"""The statement, read by others: RFC 8785 by its own library, DSSE and in-toto as their texts say."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest
import rfc8785
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

from ghost_core.errors import IntegrityError
from ghost_ledger import statement
from ghost_ledger.statement import Sealed
from support.bundles import ORIGIN, Log, Session, key


@pytest.fixture
def session() -> Session:
    return Log().session().action().close()


@pytest.fixture
def sealed(session: Session) -> Sealed:
    return session.sealed()


def _stranger(session: Session, number: int) -> SSlibKey:
    name = f"{session.name}+{session.vkey.key_id.hex()}"
    return SSlibKey(name, "ed25519", "ed25519", {"public": key(number).public.hex()})


def _envelope(session: Session) -> Envelope:
    sealed = session.sealed()
    made = statement.envelope(session.vkey, sealed, statement.sign(session.key, sealed))
    return Envelope.from_dict(json.loads(json.dumps(made)))


def test_the_bytes_are_those_of_rfc_8785(sealed: Sealed) -> None:
    made = statement.encode(sealed)
    assert rfc8785.dumps(json.loads(made)) == made


def test_it_says_which_session_and_what_became_of_it(session: Session, sealed: Sealed) -> None:
    said = json.loads(statement.encode(sealed))
    (subject,) = said["subject"]
    assert subject == {
        "name": f"{ORIGIN}/s/{session.sid}",
        "digest": {"sha256": sealed.root.hex()},
    }
    assert said["_type"] == "https://in-toto.io/Statement/v1"
    assert said["predicateType"] == "urn:ghost:session:1"
    assert said["predicate"]["closed"]["reason"] == "evaporate"
    assert (said["predicate"]["entries"], said["predicate"]["closed_at"]) == (4, session.time)


def test_what_is_signed_is_the_encoding_of_the_specification() -> None:
    assert statement.pae(b"hello world") == (
        b"DSSEv1 28 application/vnd.in-toto+json 11 hello world"
    )


def test_a_stock_tool_takes_the_envelope_under_the_sessions_key(session: Session) -> None:
    envelope = _envelope(session)
    assert envelope.payload == statement.encode(session.sealed())
    assert list(envelope.verify([_stranger(session, 1007)], 1)) == list(envelope.signatures)


def test_a_stock_tool_refuses_another_key_and_another_payload(session: Session) -> None:
    envelope = _envelope(session)
    with pytest.raises(VerificationError):
        envelope.verify([_stranger(session, 1008)], 1)
    envelope.payload = envelope.payload.replace(b"evaporate", b"issue_failed")
    with pytest.raises(VerificationError):
        envelope.verify([_stranger(session, 1007)], 1)


@pytest.mark.parametrize("changed", [{"size": 5}, {"root": b"\1" * 32}, {"spawn": b"\1" * 32}])
def test_a_signature_is_over_all_of_it(
    session: Session, sealed: Sealed, changed: dict[str, bytes | int]
) -> None:
    signature = statement.sign(session.key, sealed)
    statement.check(session.vkey, sealed, signature)
    with pytest.raises(IntegrityError):
        statement.check(session.vkey, replace(sealed, **changed), signature)


def test_the_longest_last_entry_has_a_statement(session: Session, sealed: Sealed) -> None:
    fields = dict(sealed.closed.fields) | {"summary": [{"tool": "t" * 16_000}]}
    longest = replace(sealed, closed=replace(sealed.closed, fields=fields))
    assert len(statement.encode(longest)) > 16_384
    assert base64.b64decode(
        str(statement.envelope(session.vkey, longest, "00" * 64)["payload"])
    ) == statement.encode(longest)
