"""A gate, a hook, the ledger or the process fails: the call is refused, and the record says so."""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ghost_addons import inject
from support.agent import secure_connect
from support.board import Sight, scenario
from support.certs import Certs
from support.exchange import Exchange
from support.home import SECRET, GhostHome, ghost_home
from support.processes import possess
from support.scene import Scene, reason_of
from support.shell import Session, entries, eventually, inside, spawn
from support.upstream import Upstream

PROTOCOLS = pytest.mark.parametrize("alpn", ["http/1.1", "h2"])
PUT = inject.put


class Surprise(Exception):  # noqa: N818
    """Something nobody expected; its text is the secret, which nobody may see."""


def explode(*_: object, **__: object) -> None:
    raise Surprise(SECRET)


def put_and_explode(*arguments: object, **named: object) -> None:
    """Fail when the credential stands in the request already."""
    PUT(*arguments, **named)  # type: ignore[arg-type]
    explode()


def recurse(*_: object) -> None:
    recurse()


def exhaust(*_: object) -> None:
    raise MemoryError


CRASH = scenario("gate-crash", 1, "calls during which a gate raises, at every step up to injection")
STEPS: dict[str, tuple[str, Callable[..., object]]] = {
    "judging": ("ghost_addons.judging.judge", explode),
    "gates": ("ghost_addons.admission._gates", explode),
    "secret": ("ghost_addons.admission._resolve", explode),
    "intent": ("ghost_addons.record.intent", explode),
    "token": ("ghost_ledger.wiretoken.issue", explode),
    "injection": ("ghost_addons.inject.put", explode),
    "after-injection": ("ghost_addons.inject.put", put_and_explode),
    "too-deep": ("ghost_addons.judging.judge", recurse),
    "memory": ("ghost_addons.judging.judge", exhaust),
}


@CRASH
@PROTOCOLS
@pytest.mark.parametrize("step", STEPS)
def test_a_gate_that_fails_sends_nothing(
    step: str, alpn: str, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert scene.ask("POST", "/status/200", body=b"{}", alpn=alpn).status == 200
    before = scene.dialled
    monkeypatch.setattr(*STEPS[step])
    answer = scene.ask(body=b"{}", alpn=alpn)
    assert answer.status == 500
    assert SECRET.encode() not in answer.body
    assert (len(scene.arrived), scene.dialled) == (1, before)
    last = scene.entries()[-1]
    assert last.type == "action.denied" or last.fields["status"] == "failed"
    assert SECRET not in str(last.fields)


HOOKS = scenario(
    "hook-crash", 1, "a pre-hook that fails, lies, is broken, missing or not a program"
)
SHELL = "#!/bin/sh\ncat >/dev/null\n"
WORDS = {
    "exit-1.sh": SHELL + "exit 1",
    "signal.sh": SHELL + "kill -9 $$",
    "no-json.sh": SHELL + 'echo \'{"verdict": "all\'',
    "other-verdict.sh": SHELL + 'echo \'{"verdict": "maybe"}\'',
    "denies-with-0.sh": SHELL + 'echo \'{"verdict": "deny", "reason": "no"}\'',
    "nesting-bomb.sh": SHELL + "printf '%0100000d' 0 | tr 0 '['",
    "two-documents.sh": SHELL + 'echo \'{"verdict": "allow"}{"verdict": "deny"}\'',
    "raises.py": "def validate(request):\n    raise ValueError('no')\n",
    "no-function.py": "x = 1\n",
    "syntax.py": "def validate(:\n",
    "exits-0.py": "import os\ndef validate(request):\n    os._exit(0)\n",
    "odd-answer.py": "def validate(request):\n    return object()\n",
    "no-interpreter.sh": "#!/nowhere/sh\nexit 0",
    "broken.json": '{"type": ',
    "broken.yaml": "- deny: [",
    "no-program.rb": "exit 0",
    "emptied.sh": "",
}


@contextmanager
def hooked(scene: Scene, name: str) -> Iterator[Path]:
    """Have the hook of a case before the calls of the tool."""
    hook = scene.proxy.home.hook(f"demo_api_pre{Path(name).suffix}", WORDS[name])
    try:
        yield hook
    finally:
        hook.unlink()


@HOOKS
@pytest.mark.parametrize("name", WORDS)
def test_a_hook_that_does_not_plainly_allow_refuses(name: str, staged) -> None:
    with staged(clean=True) as scene, hooked(scene, name):
        answer = scene.ask(headers={"Content-Type": "application/json"}, body=b'{"a":1}')
        assert answer.status in (403, 500), answer.body
        scene.untouched()
        assert scene.denials()[-1].fields["stage"] in ("hook", "rule", "schema")


@HOOKS
@pytest.mark.parametrize("mode", [0o600, 0o722])
def test_a_hook_that_is_no_program_or_open_to_others_refuses(mode: int, staged) -> None:
    with staged(clean=True) as scene, hooked(scene, "exit-1.sh") as hook:
        hook.write_text(SHELL + "exit 0")
        assert scene.ask("POST", "/status/200", body=b"{}").status == 200
        hook.chmod(mode)
        assert scene.ask(body=b"{}").status in (403, 500)
        assert len(scene.arrived) == 1


@scenario("hook-runaway", 2, "a pre-hook that hangs, forks, floods its output or leaves children")
@pytest.mark.parametrize(
    "text",
    [
        "sleep 60",
        "sleep 60 & sleep 60 & wait",
        "yes",
        "yes >&2",
        "trap '' TERM; while :; do :; done",
    ],
    ids=["hangs", "forks", "floods", "floods-stderr", "ignores-term"],
)
def test_a_hook_that_runs_away_is_ended_and_refuses(text: str, staged) -> None:
    with staged(clean=True, hooks={"timeout_seconds": 1}) as scene:
        scene.proxy.home.hook("demo_api_pre.sh", SHELL + text)
        began = time.monotonic()
        assert scene.ask(body=b"{}").status in (403, 500)
        assert time.monotonic() - began < 4
        scene.untouched()
        assert scene.denials()[-1].fields["stage"] == "hook"


@scenario("slow-hook", 2, "a hook of half a second beside twenty other calls")
def test_a_slow_hook_holds_up_its_own_call_only(staged) -> None:
    with staged("demo_api", "GET http://elsewhere.test/x") as scene:
        slow = SHELL + "sleep 0.5"
        scene.proxy.home.hook("demo_api_POST_pre.sh", slow)
        ended: list[float] = []

        def call() -> None:
            assert scene.ask(body=b"{}").status == 200
            ended.append(time.monotonic())

        thread = threading.Thread(target=call)
        thread.start()
        with scene.tunnel() as tunnel:
            for _ in range(20):
                assert scene.send(tunnel, "GET", "/status/200").status == 200
        others = time.monotonic()
        thread.join(5)
        assert others < ended[0]


# -- the ledger ---------------------------------------------------------------------------------------


class Possessed:
    """A possess of its own and a tunnel through it."""

    def __init__(self, home: GhostHome, session: Session, up: Upstream, sight: Sight) -> None:
        self.home, self.session, self.up, self.sight = home, session, up, sight
        self.ca = home.root / "ca" / "ghost-ca-cert.pem"

    def post(self, path: str = "/echo", body: bytes = b"{}") -> int:
        """Make one call and return its status."""
        with secure_connect(
            self.home.port, self.up.authority, self.session.auth, ca=self.ca
        ) as way:
            answer = way.request("POST", path, {"Host": self.up.authority}, body)
        self.sight.agent.append(f"{answer.status} {reason_of(answer)}".strip())
        return answer.status


@scenario("ledger-full", 1, "calls while the disk of the ledger is full")
def test_a_full_disk_refuses_until_there_is_room(
    tmp_path: Path, certs: Certs, up: Upstream, sight: Sight
) -> None:
    before = len(up.requests)
    with ghost_home(tmp_path, up, certs) as home:
        session = spawn(home, "demo_api")
        with possess(home, "--session-id", session.sid) as running:
            here = Possessed(home, session, up, sight)
            assert here.post("/status/200") == 200
            unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (4096, unlimited[1]))
            assert here.post() == 503
            resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, unlimited)
            eventually(lambda: here.post("/status/201") == 201, "a call with room for its entry")
        paths = [record.path for record in up.requests[before:]]
        assert "/echo" not in paths
        assert inside(home, "evaporate", "--session-id", session.sid).code == 0
        assert inside(home, "replay", "--session-id", session.sid).code == 0
    sight.upstream.append(", ".join(f"POST {path}" for path in paths))
    sight.record.append("the calls with room; verified")


@scenario("killed-midway", 1, "the proxy killed between the upstream's answer and its entry")
def test_a_call_whose_end_nobody_saw_is_entered_as_unknown(
    tmp_path: Path, certs: Certs, up: Upstream, sight: Sight
) -> None:
    seen: list[list[str]] = []
    with ghost_home(tmp_path, up, certs) as home:
        session = spawn(home, "demo_api")
        with possess(home, "--session-id", session.sid) as running:

            def kill(exchange: Exchange) -> None:
                seen.append([each.type for each in entries(home, session)])
                os.kill(running.process.pid, signal.SIGKILL)
                exchange.reply(200, b"done")

            up.route("/kill", kill)
            with pytest.raises((EOFError, OSError)):
                Possessed(home, session, up, sight).post("/kill")
            running.process.wait(5)
        assert seen == [["session.spawn", "action.intent"]]
        with possess(home, "--session-id", session.sid):
            Possessed(home, session, up, sight).post("/status/200")
        assert inside(home, "evaporate", "--session-id", session.sid).code == 0
        shown = inside(home, "replay", "--session-id", session.sid)
        assert shown.code == 8
        assert shown.json["verdict"]["axes"]["intents"]["state"] == "incomplete"
        assert [each["status"] for each in shown.json["actions"]] == ["unknown", "executed"]
    sight.upstream.append("POST /kill, POST /status/200")
    sight.agent.append("a broken connection")
    sight.record.append(
        "intent before the call, unknown after the restart, executed; incomplete, not broken"
    )


@scenario(
    "killed-and-started", 2, "possess killed with -9 and started again; its port taken meanwhile"
)
def test_a_killed_possess_can_be_started_again_and_its_session_goes_on(
    tmp_path: Path, certs: Certs, up: Upstream, sight: Sight
) -> None:
    with ghost_home(tmp_path, up, certs) as home:
        session = spawn(home, "demo_api")
        with possess(home) as running:
            assert Possessed(home, session, up, sight).post() == 200
            second = inside(home, "possess", "--port", str(home.port))
            assert second.code == 4
            assert f"port {home.port}: in use" in second.err
            os.kill(running.process.pid, signal.SIGKILL)
            running.process.wait(5)
        with possess(home):
            assert Possessed(home, session, up, sight).post() == 200
        assert [each.type for each in entries(home, session)].count("action.outcome") == 2
    sight.upstream.append("POST /echo ×2")
    sight.record.append("intent ×2, executed ×2")
