from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core.errors import ConfigError
from ghost_core.settings import load
from ghost_core.settings_check import _origin
from ghost_core.settings_sources import Sources

SECRET = "hunter2"


def refusal(home: Path, text: str) -> ConfigError:
    home.mkdir(exist_ok=True)
    (home / "ghost.toml").write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        load(cwd=home)
    assert SECRET not in f"{caught.value.message}{caught.value.hint}"
    assert caught.value.__cause__ is None
    assert caught.value.exit_code == 3
    return caught.value


@pytest.mark.parametrize(
    ("text", "key", "near"),
    [
        ("[sesion]", "sesion", "session"),
        ("[proxy]\nprot = 1", "proxy.prot", "proxy.port"),
        ("[memory.search]\ndecai = 1", "memory.search.decai", "memory.search.decay"),
        ("[credentials.a]\nsecrett = 1", "credentials.a.secrett", "credentials.a.secret"),
        (
            "[tools.t.actions.a]\nmethodd = 1",
            "tools.t.actions.a.methodd",
            "tools.t.actions.a.method",
        ),
        ('[[rules]]\ndeny = { hots = "x" }', "rules.0.deny.hots", "rules.0.deny.host"),
    ],
)
def test_an_unknown_name_is_refused_with_file_and_nearest_name(
    home: Path, text: str, key: str, near: str
) -> None:
    error = refusal(home, text)
    assert error.code == "config.unknown"
    assert error.message == f"setting {key!r} in {home}/ghost.toml: unknown, nearest is {near!r}"


def test_a_name_like_no_other_is_answered_with_all_of_them(home: Path) -> None:
    error = refusal(home, "[database]\nzzzzzz = 1")
    assert error.message.endswith("unknown, expected one of url")


def test_a_table_below_a_plain_value_has_no_names_to_offer(home: Path) -> None:
    assert refusal(home, "[proxy.port]\nx = 1").code == "config.value"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (f'[proxy]\nport = "{SECRET}"', "proxy.port"),
        (f'[proxy]\nrecord = "{SECRET}"', "proxy.record"),
        (f'[proxy]\nbuffer_limit = "{SECRET}"', "proxy.buffer_limit"),
        ("[proxy]\nport = 70000", "proxy.port"),
        ("[session]\nttl_seconds = 0", "session.ttl_seconds"),
        ("[session]\nttl_seconds = 90000", "session"),
        (f'[database]\nurl = "postgresql://me:{SECRET}@h/x"', "database.url"),
        (f'[credentials.a]\nsecret = "{SECRET}"', "credentials.a.secret"),
        (f'[webhooks.w]\nurl = "{SECRET}"\non = ["action.denied"]', "webhooks.w.url"),
        (f'[webhooks.w]\nurl = "https://x"\non = ["{SECRET}"]', "webhooks.w.on.0"),
        ('[[triggers]]\non = "action.denied"\ncommand = []', "triggers.0.command"),
        ("[[rules]]", "rules.0"),
        ("[[rules]]\ndeny = {}", "rules.0.deny"),
        (f"rules = '{SECRET}'", "rules"),
        ("[tools.t.actions.a]\nrequest_schema = 1", "tools.t.actions.a.request_schema"),
    ],
)
def test_a_wrong_value_is_refused_with_its_name_and_never_shown(
    home: Path, text: str, key: str
) -> None:
    error = refusal(home, text)
    assert error.code == "config.value"
    assert error.message.startswith(f"setting {key!r} in {home}/ghost.toml: ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[session]\nttl_seconds = "5m"', "expected a whole number"),
        ("[session]\nttl_seconds = 1.5", "expected a whole number"),
        ("[session]\nttl_seconds = 0", "expected 1 or more"),
        ("[proxy]\nport = 70000", "expected 65535 or less"),
        ('[proxy]\nallow_private = "localhost:1"', 'expected a list, as in ["one", "two"]'),
        ("[proxy]\nhost = 1", "expected a text in quotes"),
        ('[tools.t]\nghost_token = "no way"', "expected true or false"),
        ('[hooks]\ntimeout_seconds = "soon"', "expected a number"),
        ('tools = "none"', "expected a table"),
        ("[credentials]\na = 1", "expected a table"),
        ('[webhooks.w]\nurl = "https://a.test"', "is missing"),
        ('[[triggers]]\non = "action.denied"\ncommand = 1', "expected a list, as in"),
    ],
)
def test_what_was_expected_is_said_in_words_of_the_file(
    home: Path, text: str, expected: str
) -> None:
    error = refusal(home, text)
    assert error.message.partition("ghost.toml: ")[2].startswith(expected)
    assert error.hint == "what each setting may hold is listed by: ghost config schema"


def test_the_kinds_of_a_setting_are_listed(home: Path) -> None:
    error = refusal(home, '[credentials.a]\nsecret = "env:A"\nkind = "beare"')
    assert ": expected 'bearer', 'basic', " in error.message


def test_the_origin_of_a_wrong_value_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GHOST_PROXY__PORT", SECRET)
    with pytest.raises(ConfigError, match="'proxy.port' in environment: "):
        load()
    monkeypatch.delenv("GHOST_PROXY__PORT")
    with pytest.raises(ConfigError, match="'proxy.port' in command line: "):
        load(overrides={"proxy.port": -1})


def test_what_no_source_says_comes_from_the_defaults() -> None:
    assert _origin(("proxy", "port"), Sources((), ())) == "defaults"
