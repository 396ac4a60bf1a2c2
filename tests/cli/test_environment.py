"""The environment block of one session."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_addons import ca
from ghost_cli import environment
from ghost_core import settings
from ghost_core.errors import DeniedError, NotFoundError
from ghost_core.paths import Home
from support.home import PLACEHOLDER, GhostHome
from support.shell import Session, block, inside, spawn

VARIABLES = """
[credentials.shop]
kind = "bearer"
secret = "env:SHOP_KEY"
hosts = ["shop.example"]
placeholder = "sk_ghost_shop_0000000000"
[credentials.wiki]
kind = "header"
header = "X-Key"
secret = "env:WIKI_KEY"
hosts = ["wiki.example"]
"""


@pytest.fixture
def home(place: GhostHome, monkeypatch: pytest.MonkeyPatch) -> Home:
    for name, value in place.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(place.root)
    return Home(place.root)


def of(home: Home, session: Session, port: int = 4711) -> dict[str, str]:
    found = environment.of_session(home, settings.load(), session.sid, port=port)
    return dict(found.values)


def test_the_token_is_the_one_that_spawn_printed(place: GhostHome, home: Home) -> None:
    session = spawn(place)
    url = f"http://{session.sid}:{session.token}@localhost:4711"
    assert of(home, session)["HTTPS_PROXY"] == url


def test_a_session_of_another_ledger_is_missing(place: GhostHome, home: Home) -> None:
    spawn(place)
    with pytest.raises(NotFoundError) as caught:
        environment.of_session(home, settings.load(), "gh_" + "0" * 32, port=1)
    assert caught.value.code == "session.unknown"


def test_a_session_that_ended_has_no_block(place: GhostHome, home: Home) -> None:
    session = spawn(place)
    assert inside(place, "evaporate", "--session-id", session.sid).code == 0
    with pytest.raises(DeniedError) as caught:
        of(home, session)
    assert (caught.value.code, caught.value.exit_code) == ("session.ended", 5)


def test_a_secret_in_a_variable_has_a_stand_in_and_one_in_a_file_has_no_variable(
    lone: GhostHome,
) -> None:
    lone.append(VARIABLES)
    values = block(lone, spawn(lone))
    assert values["SHOP_KEY"] == "sk_ghost_shop_0000000000"
    assert values["WIKI_KEY"] not in ("", "sk_ghost_shop_0000000000")
    assert PLACEHOLDER not in values.values()


def test_the_files_it_names_exist(place: GhostHome) -> None:
    values = block(place, spawn(place))
    for name in ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "WGETRC"):
        assert Path(values[name]).is_file()


def test_the_bundle_holds_the_systems_roots_and_ours(place: GhostHome) -> None:
    values = block(place, spawn(place))
    bundle = Path(values["SSL_CERT_FILE"]).read_bytes()
    assert bundle == ca.system_roots() + Path(values["NODE_EXTRA_CA_CERTS"]).read_bytes()
