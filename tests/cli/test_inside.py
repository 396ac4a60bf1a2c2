from __future__ import annotations

import pytest

from ghost_cli.inside import session
from ghost_core import ids


@pytest.mark.parametrize("given", ["", "gh_nonsense", "gh_" + "A" * 32, " " + "gh_" + "a" * 32])
def test_what_is_no_session_id_names_none(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GHOST_SESSION_ID", given)
    assert session() == ""


def test_the_environment_names_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    assert session() == ""
    sid = ids.session_id()
    monkeypatch.setenv("GHOST_SESSION_ID", sid)
    assert session() == sid
