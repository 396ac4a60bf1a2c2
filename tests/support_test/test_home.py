from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from support.certs import make_certs
from support.home import ghost_home
from support.upstream import Upstream

if TYPE_CHECKING:
    from pathlib import Path


def test_the_home_holds_a_configuration_without_the_secret(tmp_path: Path) -> None:
    certs = make_certs(tmp_path / "certs")
    with (
        Upstream(certs) as up,
        ghost_home(tmp_path, up, certs, proxy={"record": "all"}) as home,
    ):
        text = home.config.read_text(encoding="utf-8")
        config = tomllib.loads(text)
    assert home.secret not in text
    assert config["proxy"]["record"] == "all"
    assert config["proxy"]["allow_private"] == [up.authority]
    assert config["tools"]["demo_api"]["base_url"] == up.url


def test_tables_are_merged_over_the_configuration(tmp_path: Path) -> None:
    charge = {"method": "POST", "path": "/charges/{id}"}
    tools = {"demo_api": {"actions": {"charge": charge}}}
    with Upstream() as up, ghost_home(tmp_path, up, tools=tools) as home:
        found = tomllib.loads(home.config.read_text(encoding="utf-8"))["tools"]["demo_api"]
    assert found["actions"] == {"charge": charge}
    assert found["credential"] == "demo"


def test_the_runtime_folder_leaves_room_for_a_socket_path(tmp_path: Path) -> None:
    with ghost_home(tmp_path) as home:
        socket = home.runtime / "ghost_sessions" / ("gh_" + "0" * 32) / "control.sock"
        assert len(str(socket)) < 100
    assert not home.runtime.exists()
