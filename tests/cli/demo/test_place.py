from __future__ import annotations

import tomllib

from ghost_cli.demo import place
from ghost_cli.demo.api import Api
from ghost_core.paths import Home
from ghost_core.settings_sources import project_file


def test_the_configuration_names_the_key_but_does_not_hold_it() -> None:
    with place.prepare() as made, Api(made.certificate, made.key) as api:
        made.configure(api)
        text = (made.home / "ghost.toml").read_text("utf-8")
        key = made.key.reveal().decode()
    config = tomllib.loads(text)
    assert key not in text
    assert config["tools"]["payments"]["base_url"] == api.url
    assert "DELETE" not in {
        action["method"] for action in config["tools"]["payments"]["actions"].values()
    }


def test_children_get_nothing_of_the_user_and_no_key() -> None:
    with place.prepare() as made:
        values = made.environment
        assert set(values) == {"PATH", "HOME", "LC_ALL", "GHOST_HOME", "XDG_RUNTIME_DIR"}
        assert made.key.reveal().decode() not in str(values)


def test_the_folder_is_gone_afterwards() -> None:
    with place.prepare() as made:
        assert made.key_file.stat().st_mode & 0o777 == 0o600
    assert not made.root.exists()


def test_no_project_of_the_folders_above_takes_part() -> None:
    with place.prepare() as where:
        found = project_file(Home(where.home), where.root)
        assert found == where.root / "ghost.toml"
        assert found.read_bytes() == b""
        assert project_file(Home(where.home), where.home) == found
