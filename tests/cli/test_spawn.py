"""`ghost spawn`, through `main` as a shell would call it."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from ghost_cli.main import main
from ghost_core.clock import SystemClock
from ghost_core.db import engine
from ghost_core.paths import Home, runtime_dir
from ghost_core.settings import load
from ghost_ledger.reader import Ledger
from ghost_ledger.session import token
from ghost_ledger.session.custody import Custody
from support.certs import Certs
from support.files import contents
from support.receiver import KEY, answering, opened
from support.upstream import Upstream

RAW = "GET https://api.example.com/v1/*"
TOOLS = """
[tools.shop]
base_url = "https://api.shop.example"
[tools.shop.actions.list]
method = "GET"
path = "/v1/items"
[tools.shop.actions.buy]
method = "POST"
path = "/v1/orders"
[tools.wiki]
base_url = "https://wiki.example"
"""


@pytest.fixture(autouse=True)
def configured(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Home(home).ensure()
    (home / "ghost.toml").write_text(TOOLS)
    return home


def spawn(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    code = main(["spawn", "--intent", "deploy_staging", *words])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    document: dict[str, Any] = json.loads(captured.out)
    return document


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["--json", "spawn", *words])
    captured = capsys.readouterr()
    assert captured.out == ""
    return code, json.loads(captured.err.splitlines()[-1])["code"]


def folders() -> list[Path]:
    return [path for path in runtime_dir().iterdir() if path.is_dir()]


def test_a_project_that_lowers_the_longest_life_shortens_the_usual_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "ghost.toml").write_text("[session]\nmax_ttl_seconds = 60\n")
    assert spawn(capsys, "--scope", "shop")["ttl_seconds"] == 60
    assert refused(capsys, "--intent", "x", "--scope", "shop", "--ttl", "61")[0] != 0


def test_one_json_object_with_the_seeds_fields_in_their_forms(
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = spawn(capsys, "--ttl", "60", "--scope", RAW)
    assert re.fullmatch(r"gh_[0-9a-f]{32}", document["session_id"])
    assert re.fullmatch(r"ghtoken_[A-Za-z0-9_-]+", document["token"])
    assert re.fullmatch(r"ed25519_public_[0-9a-f]{64}", document["ephemeral_key"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["spawn_time"])
    assert (document["ttl_seconds"], document["scopes"]) == (60, [RAW])
    assert "parent_id" not in document


def test_what_is_printed_is_durable_and_waits_for_an_owner(
    capsys: pytest.CaptureFixture[str], configured: Path
) -> None:
    document = spawn(capsys)
    database = engine(load().database.url)
    row = Ledger(database).session(document["session_id"])
    database.dispose()
    assert row is not None
    assert (row.intent, row.status, row.ttl_seconds) == ("deploy_staging", "live", 300)
    assert token.check(Home(configured), document["token"].encode(), clock=SystemClock(), lived=row)
    with Custody.acquire(document["session_id"]) as custody:
        assert document["ephemeral_key"].endswith(custody.key.public.hex())


def test_the_token_is_in_no_file(capsys: pytest.CaptureFixture[str], configured: Path) -> None:
    made = spawn(capsys)["token"].encode()
    files = contents(configured, runtime_dir())
    assert not [path for path, data in files.items() if made in data]


def test_scopes_may_be_joined_by_commas_and_doubles_are_dropped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = spawn(capsys, "--scope", "shop:list,wiki", "--scope", "wiki", "--scope", RAW)
    assert document["scopes"] == ["shop:list", "wiki", RAW]


def test_without_a_scope_nothing_is_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    assert spawn(capsys)["scopes"] == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--intent", "x", "--scope", "shpo"], "scope.unknown"),
        (["--intent", "x", "--scope", "shop:sell"], "scope.unknown"),
        (["--intent", "x", "--scope", "GET ftp://x/"], "scope.grammar"),
        (["--intent", "x", "--ttl", "0"], "usage.ttl"),
        (["--intent", "x", "--ttl", "86401"], "usage.ttl"),
        (["--intent", "x", "--ttl", "soon"], "usage.arguments"),
        (["--intent", ""], "usage.intent"),
        (["--intent", "x" * 4097], "usage.intent"),
        ([], "usage.arguments"),
    ],
)
def test_a_wrong_command_line_makes_nothing(
    capsys: pytest.CaptureFixture[str], words: list[str], code: str
) -> None:
    assert refused(capsys, *words) == (2, code)
    assert folders() == []


def test_a_broken_configuration_makes_nothing(
    capsys: pytest.CaptureFixture[str], configured: Path
) -> None:
    (configured / "ghost.toml").write_text("[session]\nttl = 5\n")
    assert refused(capsys, "--intent", "x")[0] == 3
    assert folders() == []


def test_a_child_names_its_parent_and_wants_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    parent = spawn(capsys, "--scope", "shop")["session_id"]
    child = spawn(capsys, "--parent", parent, "--scope", "shop:list", "--ttl", "5")
    assert child["parent_id"] == parent
    wider = ["--intent", "x", "--parent", parent, "--scope", "wiki", "--ttl", "5"]
    assert refused(capsys, *wider) == (5, "session.parent_scopes")
    longer = ["--intent", "x", "--parent", parent, "--scope", "shop", "--ttl", "301"]
    assert refused(capsys, *longer) == (5, "session.parent_ttl")


def test_inside_a_session_a_new_one_is_its_child(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    around = spawn(capsys, "--scope", "shop", "--ttl", "100")["session_id"]
    monkeypatch.setenv("GHOST_SESSION_ID", around)
    assert main(["spawn", "--intent", "x", "--scope", "shop:list"]) == 0
    said = capsys.readouterr()
    child = json.loads(said.out)
    assert child["parent_id"] == around
    assert 90 < child["ttl_seconds"] < 100, "what the parent has left"
    assert f"a child of {around}" in said.err
    assert "a human unsets GHOST_SESSION_ID" in said.err
    assert refused(capsys, "--intent", "x", "--scope", "wiki") == (5, "session.parent_scopes")
    wanted = ["--intent", "x", "--scope", "shop", "--ttl", "200"]
    assert refused(capsys, *wanted) == (5, "session.parent_ttl")


def test_inside_a_session_another_one_is_no_parent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    around, other = (spawn(capsys, "--scope", "shop")["session_id"] for _ in range(2))
    below = spawn(capsys, "--parent", around, "--scope", "shop:list")["session_id"]
    monkeypatch.setenv("GHOST_SESSION_ID", around)
    assert refused(capsys, "--intent", "x", "--parent", other) == (5, "session.outside")
    assert spawn(capsys, "--parent", below)["parent_id"] == below


@pytest.mark.parametrize("given", ["gh_" + "0" * 32, "nonsense", ""])
def test_a_session_that_does_not_live_here_is_no_parent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("GHOST_SESSION_ID", given)
    assert "parent_id" not in spawn(capsys, "--scope", "shop")


def test_a_session_that_has_ended_is_no_parent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = spawn(capsys, "--scope", "shop")["session_id"]
    assert main(["evaporate", "--session-id", ended]) == 0
    capsys.readouterr()
    monkeypatch.setenv("GHOST_SESSION_ID", ended)
    assert "parent_id" not in spawn(capsys, "--scope", "wiki")


def test_an_unknown_parent_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--intent", "x", "--parent", "gh_" + "0" * 32]
    assert refused(capsys, *words) == (4, "session.unknown")


def test_a_receiver_hears_of_the_session(home: Path, tmp_path: Path, certs: Certs) -> None:
    with Upstream(certs) as ops:
        ops.route("/hook", answering(500))
        (tmp_path / "key").write_bytes(b"whsec_" + base64.b64encode(KEY))
        (home / "ghost.toml").write_text(
            f'[proxy]\nupstream_ca = "{certs.ca}"\nallow_private = ["{ops.authority}"]\n'
            f'[webhooks.audit]\nurl = "{ops.url}/hook"\non = ["session.spawned"]\n'
            f'secret = "file:{tmp_path}/key"\n'
        )
        assert main(["spawn", "--intent", "test"]) == 0
        first, second = ops.requests
    assert opened(first)["data"]["ttl_seconds"] == 300
    assert opened(first)["id"] == opened(second)["id"]


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ('[[rules]]\ndeny = { tool = "shopp" }\n', "rule.unknown"),
        ('[[rules]]\ndeny = { tool = "shop", action = "lists" }\n', "rule.unknown"),
        ('[tools.late]\ncredential = "nosuch"\n', "credential.unknown"),
        ('[tools.late]\nidempotency = "Idempotency-Key"\n', "tool.malformed"),
    ],
)
def test_names_of_the_home_that_point_nowhere_are_a_broken_configuration(
    capsys: pytest.CaptureFixture[str], configured: Path, more: str, code: str
) -> None:
    (configured / "ghost.toml").write_text(TOOLS + more)
    exit_code, found = refused(capsys, "--intent", "x", "--scope", "shop")
    assert (exit_code, found) == (3, code)


def test_a_clones_rule_about_a_tool_that_is_not_here_locks_nobody_out_until_it_is_trusted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "ghost.toml"
    file.write_text('[[rules]]\ndeny = { tool = "of_theirs" }\n')
    assert main(["spawn", "--intent", "x", "--scope", "shop"]) == 0
    assert "rules.0: deny.tool 'of_theirs': no tool has this name" in capsys.readouterr().err
    assert main(["trust", str(file)]) == 0
    capsys.readouterr()
    assert refused(capsys, "--intent", "x", "--scope", "shop") == (3, "rule.unknown")
