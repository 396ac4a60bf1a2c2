"""Every stored payload against its commitment, in pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.paths import Home
from ghost_ledger import payload_check
from ghost_ledger.erasing import Wanted
from ghost_ledger.recorder import Draft
from support.ledger import intent, open_recorder, payload_of, sealed, spawned, url_of


def _checked(folder: Path) -> str | None:
    engine = db.engine(url_of(folder))
    try:
        with db.read(engine) as connection:
            return payload_check.check(connection, Home(folder))
    finally:
        engine.dispose()


@pytest.mark.parametrize("page", [1, 2, 3, 1000])
def test_each_payload_is_compared_once_whatever_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(payload_check, "PAGE", page)
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
        one, two = payload_of("params", b"a"), payload_of("forwarded", b"b")
        draft = intent(owned.sid)
        fields = {**draft.fields, "params": one.commitment, "forwarded": two.commitment}
        for _ in range(3):
            again = intent(owned.sid)
            recorder.append(Draft(owned.sid, again.type, again.id, fields, (one, two)))
    assert _checked(tmp_path) == "8 compared"  # with the intents of both sessions


def test_parts_and_erasures_are_counted_apart(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
        whole = payload_of("params", b"a" * 100)
        part = type(whole)("params", whole.salt, whole.commitment, b"a", 100, truncated=True)
        draft = intent(owned.sid)
        recorder.append(
            Draft(
                owned.sid,
                draft.type,
                draft.id,
                {**draft.fields, "params": part.commitment},
                (part,),
            )
        )
        recorder.erase(Wanted(sealed(recorder), "request", "alice", field="params"))
    assert _checked(tmp_path) == "4 compared, 1 stored in part, 1 entries of erasure"


def test_nothing_stored_is_nothing_said(tmp_path: Path) -> None:
    db.migrate(db.engine(url_of(tmp_path)))
    assert _checked(tmp_path) is None
