from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghost_agents.environment import Environment
from ghost_agents.shells import SHELLS, parse_shell, render
from ghost_core.errors import ConfigError, UsageError

NASTY = (
    "",
    "plain",
    "with space",
    "$HOME `id` $(id)",
    "it's",
    '"quoted"',
    "back\\slash\\",
    "'\\''",
    "!event",
    "#no",
    "a\nb",
    "tab\there",
    "ä€😀",
    "\u2018x\u2019",
    "%PATH%",
    "*?[x]~",
    ";rm -rf /",
    "--",
    "=",
    "a=b&c|d>e<f",
)
text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=60)


def environment(*values: str):
    return Environment(
        tuple((f"V{number}", value) for number, value in enumerate(values)), ("GONE", "AWAY")
    )


def through_sh(values: list[str]):
    names = [f"V{number}" for number in range(len(values))] + ["GONE", "AWAY"]
    script = render(environment(*values), "sh")
    reader = "\n".join(f'printf "%s\\0" "${{{name}-unset}}"' for name in names)
    done = subprocess.run(
        ["sh", "-c", 'eval "$1"\n' + reader, "sh", script],
        env={"PATH": "/usr/bin:/bin", "GONE": "1", "AWAY": "1"},
        capture_output=True,
        timeout=5,
        check=True,
    )
    assert done.stderr == b""
    return [part.decode() for part in done.stdout.split(b"\0")[:-1]]


@pytest.mark.parametrize("value", NASTY)
def test_sh_takes_a_value_as_it_is(value: str) -> None:
    assert through_sh([value]) == [value, "unset", "unset"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(text, min_size=1, max_size=8))
def test_sh_takes_any_values_and_executes_none(values: list[str]) -> None:
    assert through_sh(values) == [*values, "unset", "unset"]


def test_sh_exports_to_child_processes() -> None:
    done = subprocess.run(
        ["sh", "-c", 'eval "$1"; env', "sh", render(environment("it's"), "sh")],
        env={"PATH": "/usr/bin:/bin", "GONE": "1"},
        capture_output=True,
        timeout=5,
        check=True,
        text=True,
    )
    assert "V0=it's\n" in done.stdout
    assert "GONE" not in done.stdout


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_takes_a_value_as_it_is() -> None:
    script = render(environment(*NASTY), "fish") + "env -0"
    done = subprocess.run(
        ["fish", "--no-config", "-c", script], capture_output=True, timeout=5, check=True
    )
    found = dict(row.split("=", 1) for row in done.stdout.decode().split("\0") if "=" in row)
    assert [found[f"V{number}"] for number in range(len(NASTY))] == list(NASTY)


@pytest.mark.skipif(shutil.which("pwsh") is None, reason="PowerShell is not installed")
def test_powershell_takes_a_value_as_it_is() -> None:
    script = render(environment(*NASTY[1:]), "powershell") + "/usr/bin/env -0"
    done = subprocess.run(
        ["pwsh", "-NoProfile", "-Command", script], capture_output=True, timeout=5, check=True
    )
    found = dict(row.split("=", 1) for row in done.stdout.decode().split("\0") if "=" in row)
    assert [found[f"V{number}"] for number in range(len(NASTY) - 1)] == list(NASTY[1:])


def test_fish_escapes_the_only_two_signs_that_count_in_its_quotes() -> None:
    assert render(Environment((("V", "a\\b'c$d"),), ("GONE",)), "fish") == (
        "set -gx V 'a\\\\b\\'c$d'\nset -e GONE\n"
    )


def test_powershell_doubles_typographic_quotes_too() -> None:
    assert render(Environment((("V", "a'b\u2019c$d"),), ("GONE",)), "powershell") == (
        "$env:V = 'a''b\u2019\u2019c$d'\nRemove-Item Env:GONE -ErrorAction SilentlyContinue\n"
    )


@given(st.lists(text, max_size=5))
def test_json_gives_the_values_back(values: list[str]) -> None:
    found = json.loads(render(environment(*values), "json"))
    assert list(found["values"].values()) == values
    assert found["unset"] == ["GONE", "AWAY"]
    assert found["schema"] == "ghost/environment/v1"


def test_a_dotenv_file_sets_and_empties() -> None:
    assert render(
        Environment((("A", "http://gh_1:t@localhost:9999"), ("B", "x y#z$")), ("GONE",)), "dotenv"
    ) == ("A=http://gh_1:t@localhost:9999\nB='x y#z$'\nGONE=\n")


@pytest.mark.parametrize("value", ["it's", "a\nb", "a\\b", "a\rb"])
def test_what_dotenv_readers_read_differently_is_refused(value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        render(environment(value), "dotenv")
    assert caught.value.code == "environment.dotenv"


def test_a_value_with_a_null_byte_cannot_be_set() -> None:
    with pytest.raises(ConfigError):
        environment("a\0b")


def test_a_shell_is_named_exactly() -> None:
    assert [parse_shell(name) for name in SHELLS] == list(SHELLS)
    assert SHELLS == ("sh", "fish", "powershell", "json", "dotenv")
    with pytest.raises(UsageError, match="sh, fish, powershell, json, dotenv"):
        parse_shell("bash")
