from __future__ import annotations

from pathlib import Path

import pytest

from ghost_cli.doctor.check import Check, examine
from ghost_cli.doctor.configuration import Reading

TOOL = """
[proxy]
port = 4711
[credentials.shop]
secret = "env:SHOP_KEY"
hosts = ["api.shop.example:8443"]
[tools.wiki]
base_url = "https://wiki.example/v1"
"""


def read(home: Path, text: str) -> tuple[Reading, list[Check]]:
    home.mkdir()
    (home / "ghost.toml").write_text(text)
    reading = Reading()
    return reading, list(examine("configuration", reading.examine))


def test_what_is_bound_to_a_credential_or_tool_is_known(home: Path) -> None:
    reading, (found,) = read(home, TOOL)
    assert (found.status, reading.known.port) == ("ok", 4711)
    assert reading.known.hosts == ("api.shop.example", "wiki.example")


def test_a_broken_file_is_a_finding_and_the_defaults_are_known(home: Path) -> None:
    reading, (found,) = read(home, '[proxy]\nport = "sk_live_secret"')
    assert (found.status, "proxy.port" in found.found) == ("fail", True)
    assert "sk_live_secret" not in found.line(1)
    assert reading.known.port == 9999


def test_what_this_version_refuses_is_told_before_the_proxy_does(home: Path) -> None:
    _, (found,) = read(home, '[proxy]\nupstream_proxy = "http://proxy.example:3128"')
    assert (found.status, "upstream_proxy" in found.found) == ("fail", True)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('[[rules]]\ndeny = { when = "amount[ > 5" }', "amount["),
        ('[credentials.x]\nkind = "body"\nsecret = "env:X"\nbody = "amount["', "credential 'x'"),
        (
            '[tools.a.actions.b.limits]\nsum = { field = "amount[", max = 1 }',
            "tools.a.actions.b.limits.sum.field",
        ),
        ('[[rules]]\ndeny = { tool = "paymentz" }', "rules.0: deny.tool 'paymentz'"),
        ('[tools.x]\ncredential = "nosuch"', "tool 'x': credential 'nosuch' is not configured"),
        (
            '[webhooks.a]\nurl = "https://169.254.169.254/"\non = ["session.sealed"]\n'
            'secret = "env:X"',
            "webhooks.a.url",
        ),
    ],
)
def test_a_field_or_place_that_cannot_be_meant_is_told(home: Path, text: str, named: str) -> None:
    _, (found,) = read(home, text)
    assert (found.status, named in found.found) == ("fail", True)


def test_a_variable_that_nobody_reads_fails_with_the_nearest_name(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHOST_SESSION__TTL_SECONDZ", "60")
    _, (found, _) = read(home, "")
    assert (found.name, found.status) == ("variables", "fail")
    assert "GHOST_SESSION__TTL_SECONDS" in found.found
    assert found.mend == "unset GHOST_SESSION__TTL_SECONDZ"


def test_a_projects_file_that_waits_for_trust_is_told(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ghost.toml").write_text('[proxy]\nhost = "0.0.0.0"\n')
    monkeypatch.chdir(tmp_path)
    _, (found, _) = read(home, "")
    assert (found.name, found.status) == ("project", "warn")
    assert found.mend == f"ghost trust {tmp_path}/ghost.toml"


def test_a_clones_rule_about_a_tool_that_is_not_here_is_a_warning(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ghost.toml").write_text('[[rules]]\ndeny = { tool = "of_theirs" }\n')
    monkeypatch.chdir(tmp_path)
    _, found = read(home, "")
    assert [(each.name, each.status) for each in found] == [
        ("project", "warn"),
        ("configuration", "ok"),
    ]
    assert "deny.tool 'of_theirs'" in found[0].found
