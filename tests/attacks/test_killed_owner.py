"""The owner is killed under load, again and again: nothing acknowledged is lost, nothing is sent again."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from support.agent import secure_connect
from support.certs import Certs
from support.home import GhostHome, ghost_home
from support.processes import Running, ghost, possess, succeed
from support.upstream import Upstream

CLIENTS = 6
KILLS = 2
CALLS_BEFORE_A_KILL = 30
SOUND = ("signatures", "chain", "complete", "head", "columns")

_NUMBER = re.compile(r"/echo\?n=(\d+)")


@dataclass(slots=True)
class Load:
    """Clients that call with a number of their own each time, until the proxy is gone."""

    home: GhostHome
    up: Upstream
    auth: tuple[str, str]
    numbers: Iterator[int] = field(default_factory=count)
    acknowledged: set[int] = field(default_factory=set)

    def run(self, proxy: Running) -> None:
        """Kill the proxy while its clients call, after some calls were answered."""
        before = len(self.acknowledged)
        clients = [threading.Thread(target=self._call, args=(proxy.port,)) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        self.up.wait_until(
            lambda: len(self.acknowledged) - before >= CALLS_BEFORE_A_KILL, "calls are answered"
        )
        os.killpg(proxy.process.pid, signal.SIGKILL)
        for client in clients:
            client.join(10)
        assert not any(client.is_alive() for client in clients)

    def _call(self, port: int) -> None:
        ca = self.home.root / "ca" / "ghost-ca-cert.pem"
        try:
            with secure_connect(port, self.up.authority, self.auth, ca=ca) as tunnel:
                while True:
                    number = next(self.numbers)
                    target = f"/echo?n={number}"
                    answer = tunnel.request("POST", target, {"Host": self.up.authority}, b"{}")
                    assert answer.status == 200
                    self.acknowledged.add(number)
        except (OSError, EOFError, ConnectionError):
            return


@contextmanager
def killed(load: Load, sid: str) -> Iterator[None]:
    with possess(load.home, "--session-id", sid) as proxy:
        load.run(proxy)
        yield


@pytest.mark.slow
def test_a_killed_owner_loses_nothing_and_sends_nothing_twice(tmp_path: Path, certs: Certs) -> None:
    with Upstream(certs) as up, ghost_home(tmp_path, up, certs) as home:
        made = succeed(home, "spawn", "--intent", "load", "--scope", "demo_api").json
        load = Load(home, up, (made["session_id"], made["token"]))
        for _ in range(KILLS):
            with killed(load, made["session_id"]):
                pass
        assert succeed(home, "evaporate", "--session-id", made["session_id"]).json["status"]
        words = ("--session-id", made["session_id"], "--disclose", "--key", made["verify_key"])
        view = ghost(home, "replay", *words)
        sent = Counter(int(each.query("n")) for each in up.requests)
    found = json.loads(view.out)
    axes = found["verdict"]["axes"]
    assert {axes[name]["state"] for name in SOUND} == {"valid"}
    entered = _by_number(found)
    lost = "unknown" in entered.values()  # what a call came to that was cut, nobody can say
    assert view.code == (8 if lost else 0), view.err
    assert max(sent.values()) == 1
    assert sent.keys() <= entered.keys()
    assert {entered[number] for number in load.acknowledged} == {"executed"}
    assert set(entered.values()) <= {"executed", "unknown", "failed"}


def _by_number(view: dict[str, list[dict[str, object]]]) -> dict[int, str]:
    found: dict[int, str] = {}
    for action in view["actions"]:
        number = _NUMBER.search(json.dumps(action))
        assert number is not None, action
        assert int(number[1]) not in found
        found[int(number[1])] = str(action["status"])
    return found
