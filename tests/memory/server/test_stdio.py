"""`ghost mcp` as a process: raw lines and the official client, in both eras."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from ghost_memory.server.catalogue.tools import TOOLS
from ghost_memory.server.lines import LINE_BYTES
from support import ledger
from support.home import GhostHome, ghost_home
from support.mcp import (
    ENVELOPE,
    ERAS,
    INITIALIZED,
    SECONDS,
    called,
    enveloped,
    initialize,
    raw_server,
    request,
)

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[GhostHome]:
    with ghost_home(tmp_path) as made:
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_the_official_client_is_served_in_both_eras(place: GhostHome, era: str) -> None:
    async def run() -> tuple[str, list[str], Any, Any, Any]:
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "ghost_cli", "mcp"], env=place.env
        )
        with anyio.fail_after(120):
            async with Client(server, mode=era) as client:
                here = {"project_id": "café"}
                names = [each.name for each in (await client.list_tools()).tools]
                saved = await client.call_tool(
                    "ghost_memory_save", {**here, "content": "żółw 漢字 🦎"}
                )
                found = await client.call_tool("ghost_memory_search", {**here, "query": "żółw"})
                read = await client.read_resource("ghost://project/caf%C3%A9/context")
                return client.protocol_version, names, saved, found, read

    version, names, saved, found, read = anyio.run(run)
    assert version == {"legacy": "2025-11-25", "auto": "2026-07-28"}[era]
    assert names == list(TOOLS)
    assert not saved.is_error
    assert found.structured_content["memories"][0]["content"] == "«żółw 漢字 🦎»"
    assert "«żółw 漢字 🦎»" in read.contents[0].text


@pytest.mark.slow
def test_every_line_is_answered_and_every_answer_is_a_line(place: GhostHome) -> None:
    with raw_server(place) as server:
        server.say(b"garbage", b"", b'{"id":5}', b"[]", b'{"jsonrpc":"2.0","id":null,"method":"x"}')
        errors = [server.hear() for _ in range(4)]
        assert [each["error"]["code"] for each in errors] == [-32700, -32600, -32600, -32600]
        assert [each["id"] for each in errors] == [None, 5, None, None]
        server.handshake()
        server.say(
            request("none", "no/such"),
            request("bad", "tools/call", name=5),
            request("args", "tools/call", name="ghost_health", arguments=[]),
            request("tool", "tools/call", name="nothing"),
            request(1, "ping"),
        )
        answers = server.answers("none", "bad", "args", "tool", 1)
        codes = {name: each.get("error", {}).get("code") for name, each in answers.items()}
        assert codes == {"none": -32601, "bad": -32602, "args": -32602, "tool": -32602, 1: None}


@pytest.mark.slow
def test_a_client_may_discover_and_then_initialize_and_then_mix(place: GhostHome) -> None:
    with raw_server(place) as server:
        server.say(enveloped("d", "server/discover"))
        versions = server.hear()["result"]["supportedVersions"]
        assert versions == ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
        assert server.handshake()["protocolVersion"] == "2025-11-25"
        server.say(request("old", "tools/list"), enveloped("new", "tools/list"))
        answers = server.answers("old", "new")
        assert len(answers["old"]["result"]["tools"]) == 20
        assert answers["new"]["result"]["resultType"] == "complete"


@pytest.mark.slow
def test_every_version_that_discover_lists_works(place: GhostHome) -> None:
    for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"):
        with raw_server(place) as server:
            assert server.handshake(version)["protocolVersion"] == version
            server.say(request(1, "tools/list"))
            assert len(server.answers(1)[1]["result"]["tools"]) == 20


@pytest.mark.slow
def test_an_unknown_version_is_negotiated_down(place: GhostHome) -> None:
    with raw_server(place) as server:
        assert server.handshake("2099-01-01")["protocolVersion"] == "2025-11-25"
        envelope = {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
        server.say(request("v", "tools/list", _meta=envelope))
        error = server.answers("v")["v"]["error"]
        assert error["code"] == -32022
        assert error["data"]["supported"] == ["2026-07-28"]


@pytest.mark.slow
def test_text_in_any_script_and_a_console_of_windows_is_kept(place: GhostHome) -> None:
    text = "żółw 漢字 🦎 naïve"
    with raw_server(place, env={"PYTHONIOENCODING": "cp1252", "LC_ALL": "C"}) as server:
        server.handshake()
        server.call("ghost_memory_save", project_id="app", content=text)
        lone = (
            b'{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"ghost_memory_save",'
        )
        server.say(lone + b'"arguments":{"project_id":"app","content":"lone \\ud800 end"}}}')
        assert not server.answers("s")["s"]["result"]["isError"]
        found = server.call("ghost_memories_list", project_id="app")
    kept = [row["content"] for row in found["structuredContent"]["memories"]]
    assert kept == ["«lone ? end»", f"«{text}»"]


@pytest.mark.slow
def test_a_huge_line_is_answered_and_what_follows_is_served(place: GhostHome) -> None:
    with raw_server(place) as server:
        server.handshake()
        huge = json.dumps(
            called(77, "ghost_memory_save", project_id="app", content="x" * LINE_BYTES)
        )
        server.say(huge.encode())
        error = server.answers(77)[77]["error"]
        assert error["code"] == -32600
        kept = server.call("ghost_memory_save", project_id="app", content="x" * (LINE_BYTES // 2))
        assert kept["structuredContent"]["shortened"] is True


@pytest.mark.slow
def test_only_json_rpc_reaches_stdout_whatever_is_printed(place: GhostHome, tmp_path: Path) -> None:
    program = tmp_path / "noisy.py"
    program.write_text(
        "import os, sys, warnings\n"
        "from ghost_cli import mcp\n"
        "opened = mcp._open\n"
        "def noisy(folder):\n"
        "    print('printed'); warnings.warn('warned'); os.system('echo of a child')\n"
        "    os.write(1, b'written\\n')\n"
        "    return opened(folder)\n"
        "mcp._open = noisy\n"
        "from ghost_cli.main import main\n"
        "sys.exit(main(['mcp']))\n",
        "utf-8",
    )
    with raw_server(place, program=[str(program)]) as server:
        server.handshake()
        server.call("ghost_memory_save", project_id="app", content="first run, so it migrates")
        code, _, errors = server.leave()
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in server.seen)
    assert code == 0
    for said in ("printed", "warned", "of a child", "written"):
        assert said in errors


@pytest.mark.slow
def test_the_server_ends_with_its_client_and_seals_what_it_wrote(place: GhostHome) -> None:
    with raw_server(place) as server:
        server.handshake()
        server.call("ghost_memory_save", project_id="app", content="x")
        code, seconds, errors = server.leave()
    assert (code, errors) == (0, "")
    assert seconds < 2
    (status,) = set(ledger.rows(place.root, "SELECT status FROM sessions"))
    assert status == "sealed"


@pytest.mark.slow
def test_what_was_asked_before_the_end_is_still_answered(place: GhostHome) -> None:
    lines = [initialize(), INITIALIZED, request(1, "tools/list"), request(2, "prompts/list")]
    done = subprocess.run(
        [sys.executable, "-m", "ghost_cli", "mcp"],
        input="".join(json.dumps(each) + "\n" for each in lines),
        env=place.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert {each["id"] for each in answers} == {0, 1, 2}
    assert all("result" in each for each in answers)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_cleanly(place: GhostHome, number: int) -> None:
    with raw_server(place) as server:
        server.handshake()
        server.call("ghost_memory_save", project_id="app", content="x")
        server.process.send_signal(number)
        assert server.process.wait(SECONDS) == 0
    (status,) = set(ledger.rows(place.root, "SELECT status FROM sessions"))
    assert status == "sealed"


@pytest.mark.slow
def test_the_server_ends_though_the_database_is_locked(place: GhostHome) -> None:
    with raw_server(place) as server:
        server.handshake()
        server.call("ghost_memory_save", project_id="app", content="x")
        with ledger.raw(place.root) as other:
            other.execute("BEGIN IMMEDIATE")
            server.say(called(9, "ghost_memory_save", project_id="app", content="waits"))
            code, seconds, _ = server.leave()
    assert code == 0
    assert seconds < 2.5


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_many_starts_leave_no_process(place: GhostHome) -> None:
    rounds = int(os.environ.get("MCP_STARTS", "10")) // 10
    servers = []
    for _ in range(rounds):
        batch = [
            subprocess.Popen(
                [sys.executable, "-m", "ghost_cli", "mcp"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**place.env, "GHOST_TEST_MARK": "many"},
                start_new_session=True,
            )
            for _ in range(10)
        ]
        for number, process in enumerate(batch):
            asked = json.dumps(initialize()).encode() + b"\n" if number % 2 else b""
            process.communicate(asked, timeout=120)
        servers += batch
    assert [each.returncode for each in servers] == [0] * 10 * rounds
    assert processes_of_groups({each.pid for each in servers}) == []


def processes_of_groups(groups: set[int]) -> list[int]:
    """Return what still runs of these process groups."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) in groups:
            found.append(int(stat.parent.name))
    return found
