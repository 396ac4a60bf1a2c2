"""The owner is killed at each point where it matters: the log stays whole, and no call is sent twice."""

from __future__ import annotations

import json
import signal
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from support.agent import secure_connect
from support.certs import Certs
from support.home import GhostHome, ghost_home
from support.ledger import denied, open_recorder, rows, spawned
from support.processes import ghost, start, succeed
from support.upstream import Upstream

HOOK = str(Path(__file__).parents[1] / "support" / "crash")
IN_A_CALL = (
    "before the intent's commit",
    "before the head memory",
    "before the outcome",
    "between outcome rows",
    "in a tile",
)
AT_THE_END = ("before the seal's commit", "before the wipe", "after the wipe")
CLIENTS = 3
TILE = 256


def dying(point: str, *, times: int = 1, sid: str = "") -> dict[str, str]:
    return {"PYTHONPATH": HOOK, "GHOST_CRASH": f"{point}:{times}:{sid}"}


class Load:
    """Clients that call with a number of their own each time, and remember what was answered."""

    def __init__(self, home: GhostHome, up: Upstream, session: dict[str, Any]) -> None:
        self.home, self.up = home, up
        self.auth = session["session_id"], session["token"]
        self.answered: set[int] = set()
        self._next = iter(range(10**6))

    def until_death(self, port: int) -> None:
        clients = [threading.Thread(target=self._call, args=(port,)) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join(30)
        assert not any(client.is_alive() for client in clients)

    def _call(self, port: int) -> None:
        ca = self.home.root / "ca" / "ghost-ca-cert.pem"
        try:
            with secure_connect(port, self.up.authority, self.auth, ca=ca) as tunnel:
                for number in self._next:
                    target = f"/echo?n={number}"
                    answer = tunnel.request("POST", target, {"Host": self.up.authority}, b"{}")
                    assert answer.status == 200
                    self.answered.add(number)
        except (OSError, EOFError):
            return


def leaves(home: GhostHome) -> list[bytes]:
    return rows(home.root, "SELECT leaf_hash FROM entries ORDER BY idx")


def fill_a_tile(home: GhostHome) -> None:
    """Leave room for a few entries in the tile, so that calls fill it."""
    with open_recorder(home.root) as recorder:
        owned = spawned(recorder)
        missing = TILE - (recorder.head[0] + 8) % TILE
        recorder.append(*(denied(owned.sid) for _ in range(missing)))


def spawn(home: GhostHome) -> Any:
    return succeed(home, "spawn", "--intent", "crash", "--scope", "demo_api", "--ttl", "600").json


@pytest.mark.slow
def test_a_call_cut_at_any_point_is_told_and_never_sent_again(tmp_path: Path, certs: Certs) -> None:
    with Upstream(certs) as up, ghost_home(tmp_path, up, certs) as home:
        load = Load(home, up, spawn(home))
        sid = load.auth[0]
        for point in IN_A_CALL:
            if point == "in a tile":
                fill_a_tile(home)
            before = leaves(home)
            times = 1 if point == "in a tile" else 4
            running = start(
                home, "possess", "--port", str(home.port), "--session-id", sid,
                env=dying(point, times=times),
            )  # fmt: skip
            running.wait_line("Ready for ghost act")
            load.until_death(home.port)
            assert running.process.wait(10) == -signal.SIGKILL, (point, running.errors)
            assert leaves(home)[: len(before)] == before
        succeed(home, "evaporate", "--session-id", sid)
        view = json.loads(ghost(home, "replay", "--session-id", sid, "--disclose").out)
        verified = ghost(home, "ledger", "verify")
        sent = Counter(int(each.query("n")) for each in up.requests)
    assert verified.code == 0, verified.err
    entered = {number_of(action): action["status"] for action in view["actions"]}
    assert len(entered) == len(view["actions"])
    assert max(sent.values()) == 1
    assert sent.keys() <= entered.keys()
    assert {entered[number] for number in load.answered} == {"executed"}
    assert set(entered.values()) <= {"executed", "unknown", "failed"}
    assert "unknown" in entered.values()


def number_of(action: dict[str, Any]) -> int:
    return int(json.dumps(action).partition("/echo?n=")[2].partition(" ")[0])


@pytest.mark.slow
def test_a_session_cut_while_it_ends_is_sealed_once_and_leaves_no_key(
    tmp_path: Path, certs: Certs
) -> None:
    with Upstream(certs) as up, ghost_home(tmp_path, up, certs) as home:
        for point in AT_THE_END:
            words = ("evaporate", "--session-id", spawn(home)["session_id"])
            killed = ghost(home, *words, env=dying(point, sid=words[-1]))
            assert killed.code == -signal.SIGKILL, (point, killed.err)
            assert bool(keys(home)) == (point != "after the wipe")
            assert succeed(home, *words).json["ephemeral_key_destroyed"]
            assert keys(home) == []
        seals = rows(
            home.root, "SELECT sid, count(*) FROM entries WHERE type = 'session.seal' GROUP BY sid"
        )
        assert {count for _, count in seals} == {1}
        assert ghost(home, "ledger", "verify").code == 0


def keys(home: GhostHome) -> list[Path]:
    return sorted(path for path in home.runtime.rglob("*") if "key" in path.name)
