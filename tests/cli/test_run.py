"""`ghost run -- CMD`: the child's code, its environment, and a session sealed in any case."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost_ledger.store import SessionRow
from support.agent import program
from support.cosigners import watched
from support.home import SECRET, GhostHome, Toml, ghost_home
from support.processes import Outcome, Running, ghost, start
from support.shell import entries, eventually, inside, ledger, types
from support.upstream import Upstream

pytestmark = pytest.mark.proxy

RUN_SECONDS = 60.0
REALLY = "sk_really_in_a_variable"
SHOW = "import json, os; print(json.dumps(dict(os.environ)))"
WAIT = "import signal, sys; print('up', flush=True); signal.pause()"


@pytest.fixture(scope="module")
def secretive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GhostHome]:
    """A home whose credential lies in a variable of the shell."""
    shop: dict[str, Toml] = {"kind": "bearer", "secret": "env:SHOP_KEY", "hosts": ["shop.example"]}
    with ghost_home(tmp_path_factory.mktemp("run"), credentials={"shop": shop}) as made:
        yield made


def run(home: GhostHome, *words: str, env: dict[str, str] | None = None) -> Outcome:
    return ghost(home, "run", *words, timeout=RUN_SECONDS, env=env)


def python(text: str) -> list[str]:
    return ["--", sys.executable, "-c", text]


def newest(home: GhostHome) -> str:
    with ledger(home) as opened:
        return opened.sessions()[-1].session_id


def newest_two(home: GhostHome) -> list[SessionRow]:
    with ledger(home) as opened:
        return list(opened.sessions()[-2:])


def is_sealed(home: GhostHome, sid: str) -> bool:
    """Whether the last entry is a seal and everything verifies."""
    return inside(home, "replay", "--session-id", sid).code == 0 and types(home, sid)[-1] == (
        "session.seal"
    )


def test_the_childs_code_and_output_are_ours_and_the_session_is_sealed(place: GhostHome) -> None:
    done = run(place, *python("print('out'); raise SystemExit(42)"))
    assert (done.code, done.out) == (42, "out\n")
    sid = newest(place)
    assert f"ghost replay --session-id {sid}" in done.err
    assert is_sealed(place, sid)
    assert entries(place, sid, "session.closed")[0].fields["reason"] == "exit"


def test_heads_are_cosigned_while_a_command_runs(tmp_path: Path) -> None:
    with ghost_home(tmp_path) as made, watched(made.root, tmp_path, port=made.port) as kept:
        running = start(made, "run", *python(WAIT))
        try:
            running.wait_line("up")
            eventually(kept, "a cosigned head")
        finally:
            running.stop()


def test_what_isolation_does_not_do_is_said_on_stderr(place: GhostHome) -> None:
    done = inside(place, "run", "--", "true")
    assert (done.code, done.out) == (0, "")
    assert "isolation: advisory" in done.err


def test_a_command_that_is_not_there_is_127_and_the_session_is_sealed(place: GhostHome) -> None:
    assert inside(place, "run", "--", "no-such-command-of-ours").code == 127
    assert is_sealed(place, newest(place))


def test_a_command_that_is_no_program_is_126(place: GhostHome, tmp_path: Path) -> None:
    file = tmp_path / "plain"
    file.write_text("text")
    assert inside(place, "run", "--", str(file)).code == 126
    assert is_sealed(place, newest(place))


def test_a_child_that_a_signal_ended_is_128_and_its_number(place: GhostHome) -> None:
    assert (
        run(place, *python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")).code == 137
    )
    assert is_sealed(place, newest(place))


@pytest.mark.parametrize("isolation", ["enforced", "partial"])
def test_isolation_that_we_do_not_have_starts_nothing(
    place: GhostHome, tmp_path: Path, isolation: str
) -> None:
    started = tmp_path / "started"
    words = ["run", "--json", "--isolation", isolation, "--", "touch", str(started)]
    done = inside(place, *words)
    assert (done.code, done.error["code"]) == (125, "run.isolation")
    assert not started.exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--isolation", "total"], "usage.isolation"),
        (["--scope", "nothing_of_ours"], "scope.unknown"),
        (["--ttl", "0"], "usage.ttl"),
        (["--ttl", "soon"], "usage.arguments"),
        (["--no-such-option"], "usage.arguments"),
    ],
)
def test_a_wrong_command_line_is_an_own_failure_and_starts_nothing(
    place: GhostHome, tmp_path: Path, words: list[str], code: str
) -> None:
    started = tmp_path / "started"
    done = inside(place, "run", "--json", *words, "--", "touch", str(started))
    assert (done.code, done.error["code"], done.error["exit_code"]) == (125, code, 125)
    assert "isolation: advisory" not in done.err, "said before there is a session"
    assert not started.exists()


def test_without_a_command_it_is_an_own_failure_too(place: GhostHome) -> None:
    assert inside(place, "run").code == 125


def test_a_broken_configuration_is_125(tmp_path: Path) -> None:
    with ghost_home(tmp_path) as broken:
        broken.append("[proxyy]\nport = 1")
        done = inside(broken, "run", "--", "true")
    assert done.code == 125
    assert "proxyy" in done.err


# -- refused calls and children ----------------------------------------------------------------------


def test_refused_calls_are_told_at_the_end_and_not_with_quiet(place: GhostHome) -> None:
    curl = [program("curl"), "-sS", "-o", os.devnull, "https://nobody.invalid/x"]
    done = inside(place, "run", "--scope", "demo_api", "--", *curl)
    told, hint, sealed = done.err.splitlines()[-3:]
    reason = "no scope names https://nobody.invalid (scope.host)"
    assert told == f"1 call refused: nobody.invalid: {reason}"
    assert hint.startswith("hint: a human can grant it")
    assert sealed.startswith("sealed: ")
    assert inside(place, "run", "--quiet", "--", *curl).err == ""


def test_without_a_refused_call_nothing_is_told(place: GhostHome) -> None:
    assert "refused" not in inside(place, "run", "--", "true").err


def test_a_run_in_a_run_is_its_child_and_cannot_have_more(place: GhostHome) -> None:
    ghost_run = f"{sys.executable} -m ghost_cli run"
    text = f"{ghost_run} --scope demo_api -- true; echo first $?; {ghost_run} -- true; echo then $?"
    done = run(place, "--", "sh", "-c", text)
    assert done.out.split() == ["first", "125", "then", "0"]
    parent, child = newest_two(place)
    assert child.parent == parent.session_id
    assert f"a child of {parent.session_id}" in done.err
    assert is_sealed(place, child.session_id)


# -- what the child has ------------------------------------------------------------------------------


def test_the_child_has_the_proxy_and_stand_ins_instead_of_secrets(secretive: GhostHome) -> None:
    done = run(
        secretive,
        *python(SHOW),
        env={"SHOP_KEY": REALLY, "NO_PROXY": "*", "SSLKEYLOGFILE": "/nowhere/keys"},
    )
    assert done.code == 0, done.err
    seen = json.loads(done.out)
    sid = newest(secretive)
    assert seen["GHOST_SESSION_ID"] == sid
    assert seen["HTTPS_PROXY"].startswith(f"http://{sid}:ghtoken_")
    assert seen["https_proxy"] == seen["HTTPS_PROXY"]
    assert (seen["NO_PROXY"], seen["NODE_USE_ENV_PROXY"]) == ("", "1")
    assert "SSLKEYLOGFILE" not in seen
    assert seen["SHOP_KEY"] not in ("", REALLY)
    assert REALLY not in done.out + done.err
    assert not Path(seen["SSL_CERT_FILE"]).exists(), "its certificate outlives the run"


def test_a_copy_of_a_secret_under_another_name_is_masked(secretive: GhostHome) -> None:
    env = {
        "SHOP_KEY": REALLY,
        "COPY": REALLY,
        "URL": f"https://u:{REALLY}@shop.example/",
        "OTHER": "x",
    }
    done = run(secretive, *python(SHOW), env=env)
    assert REALLY not in done.out
    shown = json.loads(done.out)
    assert shown["URL"] == "https://u:[redacted by ghost]@shop.example/"
    assert (shown["COPY"], shown["OTHER"]) == ("[redacted by ghost]", "x")


def test_the_key_of_a_webhook_is_masked_too(secretive: GhostHome) -> None:
    secretive.append(
        '[webhooks.ops]\nurl = "https://ops.example/x"\non = ["session.bypass"]\nsecret = "env:OPS_KEY"'
    )
    done = run(secretive, *python(SHOW), env={"OPS_KEY": REALLY})
    assert json.loads(done.out)["OPS_KEY"] == "[redacted by ghost]"


def test_a_client_in_the_child_goes_through_the_session(place: GhostHome, up: Upstream) -> None:
    before = len(up.requests)
    curl = [program("curl"), "-sS", "--fail", "-o", os.devnull, "-d", "a=1", f"{up.url}/echo"]
    done = inside(place, "run", "--scope", "demo_api", "--", *curl)
    assert done.code == 0, done.err
    (seen,) = up.requests[before:]
    assert seen.header("authorization") == f"Bearer {SECRET}".encode()
    assert types(place, newest(place)) == [
        "session.spawn", "action.intent", "action.outcome", "session.closed", "session.seal",
    ]  # fmt: skip


def test_the_key_is_never_written(place: GhostHome) -> None:
    text = (
        "import os, pathlib\n"
        "root = pathlib.Path(os.environ['XDG_RUNTIME_DIR'], 'ghost_sessions')\n"
        "folder = root / os.environ['GHOST_SESSION_ID']\n"
        "names = {path.name for path in folder.iterdir()}\n"
        "raise SystemExit(int('lock' not in names or 'ed25519_key' in names))"
    )
    assert inside(place, "run", *python(text)).code == 0
    assert not (place.runtime / "ghost_sessions" / newest(place)).exists()


def test_the_token_is_in_no_command_line(place: GhostHome) -> None:
    text = (
        "import os, pathlib\n"
        "token = os.environ['HTTPS_PROXY'].split('@')[0].split(':')[-1]\n"
        "assert token.startswith('ghtoken_')\n"
        "for path in pathlib.Path('/proc').glob('[0-9]*/cmdline'):\n"
        "    try: words = path.read_text('utf-8', 'replace')\n"
        "    except OSError: continue\n"
        "    assert token not in words, path"
    )
    assert inside(place, "run", *python(text)).code == 0


# -- signals -----------------------------------------------------------------------------------------


@pytest.fixture
def waiting(place: GhostHome) -> Iterator[Running]:
    running = start(place, "run", *python(WAIT))
    running.wait_line("up")
    yield running
    running.stop(signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_passed_on_and_the_session_is_sealed(
    place: GhostHome, waiting: Running, number: signal.Signals
) -> None:
    assert waiting.stop(number) == 128 + number
    assert is_sealed(place, newest(place))


def test_a_child_that_handles_a_signal_decides_its_own_code(place: GhostHome) -> None:
    text = (
        "import signal, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
        "print('up', flush=True)\n"
        "signal.pause()"
    )
    running = start(place, "run", *python(text))
    running.wait_line("up")
    assert running.stop(signal.SIGTERM) == 7


def test_under_nohup_a_hangup_stays_ignored(place: GhostHome) -> None:
    done = subprocess.run(
        ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", sys.executable, "-m", "ghost_cli", "run",
         *python("import os, signal; os.kill(os.getppid(), signal.SIGHUP); print('on')")],
        env=place.env, capture_output=True, text=True, timeout=RUN_SECONDS, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "on\n")


def test_a_run_that_was_killed_leaves_a_session_that_the_next_command_gives_up(
    place: GhostHome, waiting: Running
) -> None:
    sid = newest(place)
    os.killpg(waiting.process.pid, signal.SIGKILL)
    waiting.process.wait(5)
    done = eventually(lambda: inside(place, "session", "show", sid, "--json"), "an answer")
    assert done.json["status"] == "abandoned"


def test_a_session_that_ends_before_the_child_refuses_it_and_is_sealed(
    place: GhostHome, up: Upstream
) -> None:
    text = (
        "import subprocess, sys, time\n"
        "for _ in range(200):\n"
        f"    done = subprocess.run([{program('curl')!r}, '-sS', '-o', '/dev/null', '-w',"
        f" '%{{http_connect}}', '-d', 'a=1', '{up.url}/echo'], capture_output=True, text=True)\n"
        "    if done.stdout == '407': sys.exit(9)\n"
        "    time.sleep(0.02)"
    )
    done = inside(place, "run", "--scope", "demo_api", "--ttl", "1", *python(text))
    assert done.code == 9, done.err
    sid = newest(place)
    assert entries(place, sid, "session.closed")[0].fields["reason"] == "ttl"
    assert is_sealed(place, sid)


def test_two_runs_at_once_do_not_disturb_each_other(place: GhostHome) -> None:
    both = [start(place, "run", *python(f"raise SystemExit({code})")) for code in (3, 4)]
    assert [each.process.wait(RUN_SECONDS) for each in both] == [3, 4]


def test_the_certificate_of_a_run_is_not_that_of_the_home(place: GhostHome, tmp_path: Path) -> None:
    copy = tmp_path / "ca.pem"
    words = ["--", "sh", "-c", f'cat "$NODE_EXTRA_CA_CERTS" > {copy}']
    assert inside(place, "run", *words).code == 0
    assert "BEGIN CERTIFICATE" in copy.read_text()
    assert copy.read_text() != inside(place, "ca", "export").out
