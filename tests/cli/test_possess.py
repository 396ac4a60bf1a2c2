"""`ghost possess`, as a process that real clients talk to."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.agent import raw_connect, run_client, secure_connect
from support.certs import Certs
from support.cosigners import watched
from support.files import contents
from support.home import SECRET, GhostHome, ghost_home
from support.processes import START_SECONDS, Running, free_port, ghost, possess, start
from support.shell import Session, block, entries, eventually, inside, spawn, types
from support.upstream import Upstream

pytestmark = pytest.mark.proxy


@dataclass(frozen=True, slots=True)
class Bare:
    """A home, its session, and the possess that serves it to clients without credentials."""

    home: GhostHome
    session: Session
    running: Running


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory, certs: Certs, up: Upstream) -> Iterator[Bare]:
    """One possess for a session, with everything that can be said on its command line."""
    with ghost_home(tmp_path_factory.mktemp("bare"), up, certs) as home:
        session = spawn(home, "demo_api")
        words = ["--session-id", session.sid, "--agent", "openai://gpt-5", "--verbose"]
        # A browser's habit: every TLS client of the shell is to write its session keys here.
        env = {"SSLKEYLOGFILE": str(home.root / "tls.keys")}
        running = start(home, "possess", "--json", *words, env=env)
        try:
            eventually(
                lambda: running.lines[-1:] == ["}"], "the whole object", seconds=START_SECONDS
            )
            yield Bare(home, session, running)
        finally:
            running.stop()


@pytest.fixture(scope="module")
def proxy(place: GhostHome) -> Iterator[Running]:
    """One possess without a session of its own, for every test that does not end it."""
    with possess(place) as running:
        yield running


def accepts(port: int) -> bool:
    with socket.socket() as client:
        client.settimeout(2)
        return client.connect_ex(("127.0.0.1", port)) == 0


def end_detached(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def call(
    place: GhostHome, up: Upstream, port: int, auth: tuple[str, str] | None, path: str = "/echo"
) -> int:
    ca = place.root / "ca" / "ghost-ca-cert.pem"
    with secure_connect(port, up.authority, auth, ca=ca) as tunnel:
        return tunnel.request("POST", path, {"Host": up.authority}, b"{}").status


# -- beginning ---------------------------------------------------------------------------------------


def test_the_four_lines_come_once_the_port_accepts(lone: GhostHome) -> None:
    with possess(lone) as running:
        assert accepts(lone.port)
        assert running.lines == [
            f"Proxy active on localhost:{lone.port}",
            "Forwarding to agent: any",
            "Session: any (clients authenticate)",
            "Ready for ghost act",
        ]
        note = running.wait_line("eval")
        assert note in running.errors
        assert f'eval "$(ghost possess --env --port {lone.port} --session-id ID)"' in note


def test_json_is_one_object_that_names_session_agent_and_process(bare: Bare) -> None:
    assert accepts(bare.home.port)
    assert json.loads("\n".join(bare.running.lines)) == {
        "schema": "ghost/possess/v1",
        "proxy": f"localhost:{bare.home.port}",
        "port": bare.home.port,
        "agent": "openai://gpt-5",
        "session_id": bare.session.sid,
        "pid": bare.running.process.pid,
    }


def test_a_busy_port_is_exit_4_with_a_way_out(place: GhostHome) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = ghost(place, "possess", "--json", "--port", port)
    assert (done.code, done.out) == (4, "")
    assert done.error["code"] == "port.busy"
    assert done.error["exit_code"] == 4
    assert "--port" in done.error["hint"]


def test_a_port_that_is_busy_on_the_other_loopback_is_busy_too(place: GhostHome) -> None:
    try:
        taken = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    with taken:
        port = str(taken.getsockname()[1])
        done = inside(place, "possess", "--port", port)
    assert done.code == 4
    assert f"port {port}: in use" in done.err


@pytest.mark.parametrize("url", ["nobody://x", "gpt-5", "openai://two words"])
def test_an_agent_that_nobody_knows_is_a_wrong_command_line(place: GhostHome, url: str) -> None:
    done = inside(place, "possess", "--json", "--agent", url)
    assert (done.code, done.error["exit_code"]) == (2, 2)


def test_a_port_out_of_range_is_a_wrong_command_line(place: GhostHome) -> None:
    assert inside(place, "possess", "--port", "70000").code == 2


def test_a_session_that_nobody_knows_is_missing_and_no_port_stays_open(place: GhostHome) -> None:
    port = free_port()
    done = inside(place, "possess", "--json", "--port", str(port), "--session-id", "gh_" + "0" * 32)
    assert (done.code, done.error["code"]) == (4, "session.unknown")
    assert not accepts(port)


def test_a_session_that_ended_is_refused(place: GhostHome) -> None:
    session = spawn(place, "demo_api")
    assert inside(place, "evaporate", "--session-id", session.sid).code == 0
    done = inside(place, "possess", "--json", "--port", "0", "--session-id", session.sid)
    assert (done.code, done.error["code"]) == (5, "session.evaporated")


def test_a_session_that_another_possess_owns_is_busy(
    place: GhostHome, proxy: Running, up: Upstream
) -> None:
    session = spawn(place, "demo_api")
    assert call(place, up, proxy.port, session.auth) == 200
    done = inside(place, "possess", "--json", "--port", "0", "--session-id", session.sid)
    assert (done.code, done.error["code"]) == (4, "session.owned")


def test_a_broken_configuration_is_exit_3_and_names_the_file(tmp_path: Path) -> None:
    with ghost_home(tmp_path) as broken:
        broken.append("[proxyy]\nport = 1")
        done = ghost(broken, "possess", "--json")
    assert (done.code, done.error["exit_code"]) == (3, 3)
    assert "proxyy" in done.error["message"]
    assert str(broken.config) in done.error["message"]


# -- who a client is ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('[[rules]]\ndeny = { when = "amount[ > 5" }', "column 7"),
        (
            '[tools.a.actions.b.limits]\nsum = { field = "amount[", max = 1 }',
            "expected the name of a field such as amount",
        ),
    ],
)
def test_a_field_that_cannot_be_read_is_exit_3(tmp_path: Path, text: str, named: str) -> None:
    with ghost_home(tmp_path) as broken:
        broken.append(text)
        done = ghost(broken, "possess", "--json", "--port", "0")
    assert done.code == 3
    assert named in done.error["message"]


def test_an_address_without_scheme_and_credentials_is_enough_for_our_own_user(
    bare: Bare, up: Upstream
) -> None:
    before = len(entries(bare.home, bare.session, "action.outcome"))
    env = {
        "HTTPS_PROXY": f"localhost:{bare.home.port}",
        "CURL_CA_BUNDLE": str(bare.home.root / "ca" / "bundle.pem"),
    }
    done = run_client(["curl", "-sS", "--fail", "-d", "a=1", f"{up.url}/echo"], env)
    assert done.returncode == 0, done.stderr
    assert len(entries(bare.home, bare.session, "action.outcome")) == before + 1


def test_credentials_that_are_presented_decide_even_where_none_are_needed(
    bare: Bare, up: Upstream
) -> None:
    with raw_connect(bare.home.port, up.authority, (bare.session.sid, "ghtoken_wrong")) as tunnel:
        assert tunnel.status == 407


def test_without_bare_a_client_must_present_credentials(lone: GhostHome, up: Upstream) -> None:
    session = spawn(lone, "demo_api")
    with possess(lone, "--session-id", session.sid, "--no-bare"):
        with raw_connect(lone.port, up.authority) as tunnel:
            assert tunnel.status == 407
            assert tunnel.connected is not None
            assert tunnel.connected.header("connection") == b"close"
        assert call(lone, up, lone.port, session.auth) == 200


def test_sessions_share_a_port_and_keep_their_own_records(
    place: GhostHome, proxy: Running, up: Upstream
) -> None:
    first, second = spawn(place, "demo_api"), spawn(place, "demo_api")
    assert call(place, up, proxy.port, first.auth) == 200
    assert call(place, up, proxy.port, second.auth) == 200
    assert call(place, up, proxy.port, second.auth) == 200
    assert len(entries(place, first, "action.outcome")) == 1
    assert len(entries(place, second, "action.outcome")) == 2


def test_verbose_enters_reads_too(bare: Bare, up: Upstream) -> None:
    before = len(entries(bare.home, bare.session, "action.outcome"))
    done = run_client(["curl", "-sS", "--fail", f"{up.url}/echo"], block(bare.home, bare.session))
    assert done.returncode == 0, done.stderr
    assert len(entries(bare.home, bare.session, "action.outcome")) == before + 1


# -- the environment ---------------------------------------------------------------------------------

PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy")
BUNDLES = (
    "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE", "GIT_SSL_CAINFO",
    "PIP_CERT", "npm_config_cafile", "HTTPLIB2_CA_CERTS", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "NIX_SSL_CERT_FILE",
)  # fmt: skip


def test_the_block_holds_what_every_client_needs(place: GhostHome) -> None:
    session = spawn(place, "demo_api")
    values = block(place, session)
    assert {values[name] for name in PROXIES} == {session.url}
    assert {values[name] for name in BUNDLES} == {str(place.root / "ca" / "bundle.pem")}
    assert (values["NO_PROXY"], values["no_proxy"]) == ("", "")
    assert values["NODE_EXTRA_CA_CERTS"] == str(place.root / "ca" / "ghost-ca-cert.pem")
    assert (values["NODE_USE_ENV_PROXY"], values["AWS_EC2_METADATA_DISABLED"]) == ("1", "true")
    assert values["GHOST_SESSION_ID"] == session.sid
    assert Path(values["WGETRC"]).read_text() == f"ca_certificate = {values['SSL_CERT_FILE']}\n"


def test_a_shell_that_evaluates_the_block_has_it(place: GhostHome) -> None:
    session = spawn(place, "demo_api")
    text = inside(place, "possess", "--env", "--session-id", session.sid).out
    script = text + 'printf "%s\\n" "$HTTPS_PROXY" "$GHOST_SESSION_ID" "${SSLKEYLOGFILE-unset}"'
    done = run_client(["sh", "-euc", script], {"SSLKEYLOGFILE": "/nowhere"})
    assert done.stdout.decode().splitlines() == [session.url, session.sid, "unset"]


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        ("sh", "export GHOST_SESSION_ID='{}'"),
        ("fish", "set -gx GHOST_SESSION_ID '{}'"),
        ("powershell", "$env:GHOST_SESSION_ID = '{}'"),
        ("dotenv", "GHOST_SESSION_ID={}"),
        ("json", '    "GHOST_SESSION_ID": "{}",'),
    ],
)
def test_every_shell_gets_its_own_spelling(place: GhostHome, shell: str, line: str) -> None:
    session = spawn(place, "demo_api")
    done = inside(place, "possess", "--env", "--shell", shell, "--session-id", session.sid)
    assert line.format(session.sid) in done.out.splitlines()


def test_the_block_names_the_port_that_was_asked_for_even_if_another_one_runs(
    place: GhostHome, proxy: Running
) -> None:
    values = block(place, spawn(place, "demo_api"), "--port", "4711")
    assert values["HTTPS_PROXY"].endswith("@localhost:4711")


def test_the_block_of_a_secret_in_a_variable_holds_its_stand_in(tmp_path: Path) -> None:
    with ghost_home(
        tmp_path,
        credentials={
            "shop": {"kind": "bearer", "secret": "env:SHOP_KEY", "hosts": ["shop.example"]}
        },
    ) as home:
        session = spawn(home, "GET https://shop.example/**")
        done = inside(
            home, "possess", "--env", "--session-id", session.sid, env={"SHOP_KEY": "sk_really"}
        )
    assert "export SHOP_KEY=" in done.out
    assert "sk_really" not in done.out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], (2, "usage.session")),
        (["--session-id", "gh_" + "0" * 32], (4, "session.unknown")),
        (["--session-id", "x"], (4, "session.unknown")),
    ],
)
def test_a_block_needs_a_session_of_this_ledger(
    place: GhostHome, words: list[str], code: tuple[int, str]
) -> None:
    spawn(place)
    done = inside(place, "--json", "possess", "--env", *words)
    assert (done.code, done.error["code"]) == code


def test_a_shell_that_nobody_knows_is_a_wrong_command_line(place: GhostHome) -> None:
    session = spawn(place)
    done = inside(place, "possess", "--env", "--shell", "tcsh", "--session-id", session.sid)
    assert done.code == 2


# -- the end -----------------------------------------------------------------------------------------


def test_a_running_possess_has_heads_cosigned(tmp_path: Path) -> None:
    with (
        ghost_home(tmp_path) as made,
        watched(made.root, tmp_path, port=made.port) as kept,
        possess(made),
    ):
        eventually(kept, "a cosigned head")


def test_sigterm_is_a_clean_end_and_the_session_goes_on_with_the_next_possess(
    lone: GhostHome, up: Upstream
) -> None:
    session = spawn(lone, "demo_api")
    for _ in range(2):
        with possess(lone, "--session-id", session.sid) as running:
            assert call(lone, up, lone.port, None) == 200
            assert running.stop(signal.SIGTERM) == 0
    assert types(lone, session).count("action.outcome") == 2
    assert inside(lone, "evaporate", "--session-id", session.sid).json["actions_executed"] == 2


def test_sigint_is_exit_130(lone: GhostHome) -> None:
    with possess(lone) as running:
        assert running.stop(signal.SIGINT) == 130
    assert [line for line in running.errors if "Traceback" in line] == []


def test_sigterm_lets_a_call_in_flight_finish(lone: GhostHome, up: Upstream) -> None:
    session, before = spawn(lone, "demo_api"), len(up.requests)
    with possess(lone) as running:
        ca = lone.root / "ca" / "ghost-ca-cert.pem"
        with secure_connect(lone.port, up.authority, session.auth, ca=ca) as tunnel:
            tunnel.begin("POST", "/slow?ms=700", {"Host": up.authority}, b"{}")
            up.wait_requests(before + 1)
            running.process.send_signal(signal.SIGTERM)
            assert tunnel.answer().status == 200
        assert running.process.wait(15) == 0
    assert entries(lone, session, "action.outcome")[-1].fields["status"] == "executed"


def test_detach_returns_when_ready_outlives_its_parent_and_stop_ends_it(
    lone: GhostHome, up: Upstream
) -> None:
    session = spawn(lone, "demo_api")
    done = ghost(lone, "possess", "--detach", "--json", "--session-id", session.sid)
    assert done.code == 0, done.err
    pid = done.json["pid"]
    try:
        assert call(lone, up, lone.port, None) == 200
        stopped = ghost(lone, "possess", "--stop")
        assert (stopped.code, stopped.out) == (0, f"Proxy stopped on port {lone.port}\n")
        assert not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text()
        assert not accepts(lone.port)
        assert entries(lone, session, "action.outcome") != []
    finally:
        if accepts(lone.port):
            end_detached(pid)
    again = inside(lone, "--json", "possess", "--stop")
    assert (again.code, again.error["code"]) == (4, "possess.none")


def test_detach_on_a_free_port_says_which_and_prints_the_four_lines(lone: GhostHome) -> None:
    done = ghost(lone, "possess", "--detach", "--port", "0")
    assert done.code == 0, done.err
    port = int(done.out.splitlines()[0].rpartition(":")[2])
    try:
        assert accepts(port)
        assert f"ghost possess --stop --port {port}" in done.err
        assert done.out.splitlines()[3] == "Ready for ghost act"
    finally:
        assert inside(lone, "possess", "--stop", "--port", str(port)).code == 0


def test_detach_reports_why_it_could_not_start(lone: GhostHome) -> None:
    with socket.create_server(("127.0.0.1", lone.port)):
        done = ghost(lone, "possess", "--detach", "--json")
    assert (done.code, done.out) == (4, "")
    assert done.error["code"] == "port.busy"
    assert f"port {lone.port}" in done.error["message"]


def test_detach_takes_no_module_from_the_current_folder(lone: GhostHome) -> None:
    for name in ("ghost_cli.py", "typer.py"):
        (lone.root / name).write_text("raise SystemExit('hijacked')")
    # The installed command does not look into the current folder either; -P makes this one like it.
    done = subprocess.run(
        [sys.executable, "-P", "-m", "ghost_cli", "possess", "--detach", "--json"],
        env=lone.env,
        cwd=lone.root,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert inside(lone, "possess", "--stop").code == 0


# -- what must not be seen ---------------------------------------------------------------------------


def command_lines() -> bytes:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found.append((process / "cmdline").read_bytes())
        except OSError:
            continue
    return b"\n".join(found)


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_names_that_hang_leave_threads_for_those_of_others(bare: Bare, up: Upstream) -> None:
    assert call(bare.home, up, bare.home.port, None) == 200
    threads = Path(f"/proc/{bare.running.process.pid}/task")
    assert len(list(threads.iterdir())) > 128


def test_no_tls_key_is_written_where_the_environment_asks_for_it(bare: Bare, up: Upstream) -> None:
    assert call(bare.home, up, bare.home.port, None) == 200
    assert not (bare.home.root / "tls.keys").exists()


def test_neither_token_nor_secret_is_in_a_command_line_a_log_or_the_output(
    lone: GhostHome, up: Upstream
) -> None:
    session = spawn(lone, "demo_api")
    done = ghost(
        lone, "-v", "possess", "--detach", "--session-id", session.sid, "--verbose", timeout=60
    )
    assert done.code == 0, done.err
    try:
        assert call(lone, up, lone.port, session.auth) == 200
        lines = command_lines()
    finally:
        assert inside(lone, "possess", "--stop").code == 0
    assert session.sid.encode() in lines
    logs = contents(lone.root / "logs").values()
    shown = b"".join([lines, done.out.encode(), done.err.encode(), *logs])
    assert session.token.encode() not in shown
    assert SECRET.encode() not in shown
    eventually(lambda: not accepts(lone.port), "the port closed")
