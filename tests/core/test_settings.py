from __future__ import annotations

import logging
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ghost_core import settings
from ghost_core.errors import ConfigError
from ghost_core.settings import Settings, load, peek
from ghost_core.settings_fields import FIELDS
from ghost_core.settings_tighten import lookup


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_home(home: Path, text: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "ghost.toml").write_text(text, "utf-8")


def test_without_any_source_everything_has_its_default() -> None:
    assert load() == Settings()


def test_defaults_lie_in_the_home(home: Path) -> None:
    found = load()
    assert found.database.url == f"sqlite:///{home}/ghost.db"
    assert found.hooks.dir == home / "hooks"


def test_a_flag_beats_a_variable_beats_the_file_beats_the_default(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load().proxy.port == 9999
    write_home(home, "[proxy]\nport = 1001")
    assert load().proxy.port == 1001
    monkeypatch.setenv("GHOST_PROXY__PORT", "1002")
    assert load().proxy.port == 1002
    assert load(overrides={"proxy.port": 1003}).proxy.port == 1003


def test_a_flag_that_was_not_given_changes_nothing() -> None:
    assert load(overrides={"proxy.port": None}) == load()


def test_sources_are_merged_name_by_name(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_home(
        home, '[proxy]\nport = 1001\n[credentials.a]\nsecret = "env:A"\nhosts = ["a.example"]'
    )
    monkeypatch.setenv("GHOST_PROXY__SCRUB", "mark")
    monkeypatch.setenv("GHOST_CREDENTIALS__A__SECRET", "env:B")
    found = load()
    assert (found.proxy.port, found.proxy.scrub) == (1001, "mark")
    assert (found.credentials["a"].secret, found.credentials["a"].hosts) == (
        "env:B",
        ("a.example",),
    )


def test_both_doors_say_the_same_about_defaults() -> None:
    tree = load().model_dump()
    for key, value in peek(*FIELDS).items():
        assert value == lookup(tree, tuple(key.split("."))), key


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(port=st.integers(0, 65535), size=st.integers(0, 2**40), ttl=st.integers(1, 300))
def test_both_doors_say_the_same_about_a_file(home: Path, port: int, size: int, ttl: int) -> None:
    write_home(home, f"[proxy]\nport={port}\nbuffer_limit={size}\n[session]\nttl_seconds={ttl}")
    found = load()
    assert peek("proxy.port", "proxy.buffer_limit", "session.ttl_seconds") == {
        "proxy.port": found.proxy.port,
        "proxy.buffer_limit": found.proxy.buffer_limit,
        "session.ttl_seconds": found.session.ttl_seconds,
    }


def test_peek_reads_numbers_lists_and_paths_from_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GHOST_PROXY__PORT", "7")
    monkeypatch.setenv("GHOST_PROXY__ALLOW_PRIVATE", "localhost:1,10.0.0.5:443")
    monkeypatch.setenv("GHOST_PROXY__UPSTREAM_CA", "/ca.pem")
    monkeypatch.setenv("GHOST_HOOKS__TIMEOUT_SECONDS", "0.5")
    assert peek(
        "proxy.port", "proxy.allow_private", "proxy.upstream_ca", "hooks.timeout_seconds"
    ) == {
        "proxy.port": 7,
        "proxy.allow_private": ("localhost:1", "10.0.0.5:443"),
        "proxy.upstream_ca": Path("/ca.pem"),
        "hooks.timeout_seconds": Decimal("0.5"),
    }


@pytest.mark.parametrize(
    "key", ["proxy.port", "proxy.buffer_limit", "harness.k", "harness.semantic"]
)
def test_peek_refuses_a_value_of_another_kind_without_repeating_it(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHOST_" + key.upper().replace(".", "__"), "hunter2")
    with pytest.raises(ConfigError) as caught:
        peek(key)
    assert caught.value.code == "config.value"
    assert key in caught.value.message
    assert "hunter2" not in caught.value.message


def test_peek_knows_no_other_names() -> None:
    with pytest.raises(KeyError):
        peek("proxy.prot")


def test_peek_does_not_import_pydantic() -> None:
    program = (
        "import sys; from ghost_core.settings import peek; peek('proxy.port');"
        "sys.exit('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=30).returncode == 0


def test_the_models_are_handed_out_by_name() -> None:
    from ghost_core.settings_tables import CredentialSettings

    assert settings.CredentialSettings is CredentialSettings
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = settings.Nothing


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load().proxy.port = 1


def test_an_unknown_variable_is_one_warning_with_the_nearest_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GHOST_SESSION__TTL_SECONDZ", "9")
    said: list[str] = []
    load(warn=said.append)
    assert said == [
        "variable GHOST_SESSION__TTL_SECONDZ: unknown, ignored; nearest is GHOST_SESSION__TTL_SECONDS"
    ]


def test_reserved_variables_are_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GHOST_SESSION_ID", "gh_1")
    monkeypatch.setenv("GHOST_HOOK", "1")
    said: list[str] = []
    load(warn=said.append)
    assert said == []


def test_without_a_listener_the_log_says_each_warning_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("GHOST_NO_SUCH_THING", "1")
    with caplog.at_level(logging.WARNING, "ghost.settings"):
        load()
        load()
    assert caplog.messages == ["variable GHOST_NO_SUCH_THING: unknown, ignored"]


def test_the_files_that_matter_are_named(home: Path, tmp_path: Path) -> None:
    (tmp_path / "ghost.toml").touch()
    expected = (home / "ghost.toml", home / "trust.json", tmp_path / "ghost.toml")
    assert settings.files(cwd=tmp_path) == expected
    (tmp_path / "ghost.toml").unlink()
    assert settings.files(cwd=tmp_path) == expected[:2]
