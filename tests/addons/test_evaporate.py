"""The end of a session, and the answer that is kept of it."""

from __future__ import annotations

import json

import pytest

from ghost_addons import evaporate
from ghost_core import ids
from ghost_core.errors import NotFoundError
from ghost_core.paths import home
from ghost_ledger.session import residual
from ghost_ledger.session.custody import has_key
from support.live import LiveProxy, LiveSession
from support.upstream import Upstream


def test_the_answer_tells_what_the_ledger_tells(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    document = proxy.evaporate(session)
    seal = proxy.last(session)
    assert document["residue_hash"] == f"sha256_root_{seal.fields['root']}"
    assert str(document["root_signature"]).startswith("ed25519_root_sig_")
    assert (document["status"], document["actions_executed"]) == ("evaporated", 0)
    assert document["lived_for_seconds"] in range(60)
    assert (document["summary"], document["revocation"]) == ([], [])
    assert (document["ephemeral_key_destroyed"], has_key(session.sid)) == (True, False)


@pytest.mark.parametrize(
    ("found", "told"), [(None, "unsupported"), (0, "clean"), (2, "residual:2")]
)
def test_the_answer_says_what_the_search_in_memory_found(
    found: int | None,
    told: str,
    proxy: LiveProxy,
    session: LiveSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(residual, "scan", lambda _: found)
    assert proxy.evaporate(session)["memory_scan"] == told


def test_asking_again_gives_the_same_answer(proxy: LiveProxy, session: LiveSession) -> None:
    document = proxy.evaporate(session)
    assert evaporate.kept(home(), session.sid) == document
    file = home().logs / "evaporated" / f"{session.sid}.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_bytes()) == document


@pytest.mark.parametrize("sid", ["../../secret", "", "gh_", "gh_" + "0" * 32])
def test_what_was_not_evaporated_here_is_not_found(sid: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        evaporate.kept(home().ensure(), sid)
    assert caught.value.code == "session.unknown"


def test_an_answer_that_cannot_be_read_is_not_found() -> None:
    sid, where = ids.session_id(), home().ensure()
    evaporate.keep(where, sid, {"a": 1})
    (where.logs / "evaporated" / f"{sid}.json").write_text("{")
    with pytest.raises(NotFoundError):
        evaporate.kept(where, sid)
