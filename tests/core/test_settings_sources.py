from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core import settings, trust
from ghost_core.errors import ConfigError
from ghost_core.paths import Home
from ghost_core.settings_sources import (
    SIZE_LIMIT,
    Layer,
    Sources,
    gather,
    parse,
    project_file,
    read_file,
)

NOWHERE = Path("/nowhere/ghost.toml")


@pytest.fixture
def house(home: Path) -> Home:
    home.mkdir()
    return Home(home)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "deep" / "er").mkdir(parents=True)
    return folder


def write(folder: Path, text: str) -> Path:
    path = folder / "ghost.toml"
    path.write_text(text, "utf-8")
    return path


def test_the_nearest_file_upwards_is_the_projects(house: Home, project: Path) -> None:
    outer = write(project, "")
    assert project_file(house, project / "deep" / "er") == outer
    inner = write(project / "deep", "")
    assert project_file(house, project / "deep" / "er") == inner


def test_a_folder_that_cannot_be_has_no_file(house: Home, tmp_path: Path) -> None:
    assert project_file(house, tmp_path / ("a" * 5000)) is None
    assert gather(Home(tmp_path / ("a" * 5000)), tmp_path).find(("proxy", "port"))[0] is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root looks into every folder")
def test_a_folder_that_is_closed_is_refused(house: Home, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    with pytest.raises(ConfigError, match="cannot be looked for"):
        project_file(house, tmp_path / "closed")


def test_the_homes_own_file_is_no_projects_file(house: Home) -> None:
    write(house.root, "")
    assert project_file(house, house.root) is None


TTL, LONGEST = ("session", "ttl_seconds"), ("session", "max_ttl_seconds")


@pytest.mark.parametrize("own", ["", "[session]\nttl_seconds = 200\nmax_ttl_seconds = 500"])
@pytest.mark.parametrize("trusted", [True, False])
def test_a_project_that_lowers_the_maximum_shortens_the_lifetime(
    house: Home, project: Path, *, own: str, trusted: bool
) -> None:
    write(house.root, own)
    path = write(project, "[session]\nmax_ttl_seconds = 60")
    if trusted:
        trust.record(house, path, path.read_bytes())
    found = gather(house, project)
    assert found.find(LONGEST) == found.find(TTL) == (60, str(path))
    assert settings.load(cwd=project, warn=lambda _: None).session.ttl_seconds == 60
    assert settings.peek("session.ttl_seconds", cwd=project) == {"session.ttl_seconds": 60}


def test_a_project_shortens_what_a_variable_says_too(
    house: Home, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHOST_SESSION__TTL_SECONDS", "90")
    write(project, "[session]\nmax_ttl_seconds = 60")
    assert gather(house, project).find(TTL)[0] == 60
    write(project, "[session]\nmax_ttl_seconds = 120")
    assert gather(house, project).find(TTL) == (90, "environment")


def test_a_home_that_lowers_the_maximum_only_shortens_the_default(
    house: Home, project: Path
) -> None:
    write(house.root, "[session]\nmax_ttl_seconds = 60")
    assert gather(house, project).find(TTL)[0] == 60


@pytest.mark.parametrize(
    ("own", "theirs"),
    [
        ("", "[session]\nmax_ttl_seconds = 60\nttl_seconds = 90"),
        ("[session]\nmax_ttl_seconds = 60\nttl_seconds = 90", ""),
        ("[session]\nttl_seconds = 90000", ""),
        ("", "[session]\nmax_ttl_seconds = 0"),
    ],
)
def test_a_source_that_contradicts_itself_is_refused(
    house: Home, project: Path, own: str, theirs: str
) -> None:
    write(house.root, own)
    write(project, theirs)
    with pytest.raises(ConfigError, match="ttl_seconds"):
        settings.load(cwd=project, warn=lambda _: None)


def test_an_untrusted_file_tightens_and_is_warned_about_once(house: Home, project: Path) -> None:
    path = write(project, '[session]\nttl_seconds = 9\n[proxy]\nhost = "::"\nport = 1')
    found = gather(house, project)
    assert found.find(("session", "ttl_seconds")) == (9, str(path))
    assert found.find(("proxy", "port")) == (None, "default")
    assert found.warnings == (
        f"{path}: ignored until you trust this file: proxy.host, proxy.port;"
        f" to trust it: ghost trust {path}",
    )


def test_a_trusted_file_may_say_everything(house: Home, project: Path) -> None:
    path = write(project, "[proxy]\nport = 1")
    trust.record(house, path, path.read_bytes())
    found = gather(house, project)
    assert (found.find(("proxy", "port")), found.warnings) == ((1, str(path)), ())


def test_a_trusted_file_that_changed_is_untrusted(house: Home, project: Path) -> None:
    path = write(project, "[proxy]\nport = 1")
    trust.record(house, path, path.read_bytes())
    write(project, "[proxy]\nport = 2")
    assert gather(house, project).find(("proxy", "port")) == (None, "default")


@pytest.mark.parametrize("trusted", [True, False])
def test_rules_of_the_project_are_added_to_the_homes(
    house: Home, project: Path, *, trusted: bool
) -> None:
    write(house.root, '[[rules]]\ndeny = { host = "a" }')
    path = write(project, '[[rules]]\ndeny = { host = "b" }')
    if trusted:
        trust.record(house, path, path.read_bytes())
    rules, _ = gather(house, project).find(("rules",))
    assert rules == [{"deny": {"host": "a"}}, {"deny": {"host": "b"}}]


def test_relative_names_are_relative_to_the_file_that_says_them(house: Home) -> None:
    write(
        house.root,
        '[proxy]\nupstream_ca = "ca.pem"\n[hooks]\ndir = "/abs"\n'
        '[database]\nurl = "sqlite:///x.db"\n[credentials.c]\nsecret = "file:c.key"\n'
        '[credentials.d]\nsecret = "env:KEY"\n[webhooks.w]\nsecret = "file:~/w.key"\n'
        '[tools.t]\nopenapi = "t.yaml"\n'
        '[tools.t.actions.a]\nrequest_schema = "~/s.json"\nresponse_schema = "s.json"\n'
        '[tools.t.actions.a.response_schemas]\n201 = "created.json"',
    )
    found = gather(house, Path("/"))
    action = ("tools", "t", "actions", "a")
    assert found.find(("proxy", "upstream_ca"))[0] == str(house.root / "ca.pem")
    assert found.find(("hooks", "dir"))[0] == "/abs"
    assert found.find(("database", "url"))[0] == f"sqlite:///{house.root / 'x.db'}"
    assert found.find(("credentials", "c", "secret"))[0] == f"file:{house.root / 'c.key'}"
    assert found.find(("credentials", "d", "secret"))[0] == "env:KEY"
    assert found.find(("webhooks", "w", "secret"))[0] == "file:~/w.key"
    assert found.find(("tools", "t", "openapi"))[0] == str(house.root / "t.yaml")
    assert found.find((*action, "request_schema"))[0] == "~/s.json"
    assert found.find((*action, "response_schema"))[0] == str(house.root / "s.json")
    created = found.find((*action, "response_schemas", "201"))[0]
    assert created == str(house.root / "created.json")


def test_a_variable_holds_json_for_lists_and_tables(
    house: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHOST_RULES", '[{"deny": {"host": "x"}}]')
    monkeypatch.setenv("GHOST_HARNESS__SPLIT", "[80,10,10]")
    monkeypatch.setenv("GHOST_PRICES__MODELS", '{"m": {"input": 0.1, "output": 1}}')
    found = gather(house, Path("/"))
    assert found.find(("rules",)) == ([{"deny": {"host": "x"}}], "environment")
    assert found.find(("harness", "split"))[0] == [80, 10, 10]
    assert found.find(("prices", "models", "m", "input"))[0] == Decimal("0.1")


@pytest.mark.parametrize("name", ["GHOST_RULES", "GHOST_PROXY__ALLOW_PRIVATE"])
def test_broken_json_names_the_variable_and_not_its_value(
    name: str, house: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "[hunter2")
    with pytest.raises(ConfigError) as caught:
        gather(house, Path("/"))
    assert caught.value.message == f"variable {name}: is no JSON"


def test_broken_toml_names_file_and_place_and_no_value() -> None:
    with pytest.raises(ConfigError) as caught:
        parse(b'a = 1\nsecret = "hunter2', NOWHERE)
    assert caught.value.message.startswith(f"file {str(NOWHERE)!r}: is no TOML, ")
    assert caught.value.__cause__ is None
    assert "hunter2" not in caught.value.message


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_as_configuration(data: bytes) -> None:
    try:
        assert isinstance(parse(data, NOWHERE), dict)
    except ConfigError as error:
        assert error.code == "config.syntax"


def test_a_file_over_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ghost.toml"
    path.write_bytes(b"#" * (SIZE_LIMIT + 1))
    with pytest.raises(ConfigError) as caught:
        read_file(path)
    assert caught.value.code == "config.size"


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_file(tmp_path)
    assert caught.value.code == "config.unreadable"


@pytest.mark.parametrize("kind", ["folder", "pipe", "dangling link"])
def test_what_is_no_file_in_the_place_of_the_homes_is_refused(
    house: Home, project: Path, kind: str
) -> None:
    match kind:
        case "folder":
            house.config.mkdir()
        case "pipe":
            os.mkfifo(house.config)
        case _:
            house.config.symlink_to(NOWHERE)
    with pytest.raises(ConfigError) as caught:
        gather(house, project, {})
    assert caught.value.code == "config.unreadable"


def test_merged_layers_join_tables_and_of_all_else_keep_the_strongest() -> None:
    strong = {"proxy": {"port": 1}, "rules": ["a"], "tools": {"x": {"hosts": ["b"]}}, "memory": 3}
    weak = {
        "proxy": {"port": 2, "host": "::1"},
        "rules": ["c", "d"],
        "tools": {"x": {"params": "form"}, "y": {}},
        "memory": {"model": "static"},
    }
    found = Sources((Layer("strong", strong), Layer("weak", weak)), ()).merged()
    assert found == {
        "proxy": {"port": 1, "host": "::1"},
        "rules": ["a"],
        "tools": {"x": {"hosts": ["b"], "params": "form"}, "y": {}},
        "memory": 3,
    }
    assert weak["proxy"] == {"port": 2, "host": "::1"}
