"""Clients that do right and wrong, as programs in a folder that is the whole PATH."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from ghost_cli.doctor import clients
from ghost_cli.doctor.check import Check

pytestmark = [pytest.mark.slow, pytest.mark.proxy]

# Takes the URL that it was given and goes there, whatever its environment says of a proxy.
DIRECT = f"""\
#!{sys.executable}
import ssl, sys, urllib.request
url = next(word for word in sys.argv if word.startswith("https://"))
context = ssl._create_unverified_context()
opener = urllib.request.build_opener(
    urllib.request.ProxyHandler({{}}), urllib.request.HTTPSHandler(context=context)
)
opener.open(url, timeout=60).read()
"""


def programs(folder: Path, texts: Mapping[str, str]) -> dict[str, str]:
    for name, text in texts.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return {"PATH": str(folder)}


def found(environ: Mapping[str, str]) -> dict[str, Check]:
    return {each.name: each for each in clients.examine(environ)}


def says(text: str, code: int = 1) -> str:
    return f"#!/bin/sh\necho '{text}' >&2\nexit {code}\n"


def test_each_client_that_is_here_calls_once_and_is_entered() -> None:
    path = str(Path(shutil.which("curl") or "/usr/bin/curl").parent)
    checks = found({"PATH": f"{Path(sys.executable).parent}:{path}"})
    assert checks["python3"].status == "ok"
    assert checks["curl"].status == "ok"
    assert checks["evidence"].status == "ok"


def test_the_cause_of_a_failure_is_named_and_nothing_is_repeated(tmp_path: Path) -> None:
    told = {
        "curl": says("curl: (60) SSL certificate problem: self-signed certificate hunter2", 60),
        "python3": DIRECT,
        "node": "#!/bin/sh\necho v20.20.2\n",
        "git": says("fatal: hunter2", 128),
    }
    checks = found(programs(tmp_path, told))
    assert "certificate" in checks["curl"].found
    assert (checks["python3"].status, "past the proxy" in checks["python3"].found) == ("fail", True)
    assert (checks["node"].status, "v20.20.2" in checks["node"].found) == ("warn", True)
    assert (checks["git"].status, "ended with 128" in checks["git"].found) == ("fail", True)
    assert checks["evidence"].found.startswith("0 requests entered")
    assert not any("hunter2" in each.line(1) for each in checks.values())


def test_a_client_that_does_not_reach_the_proxy_or_is_not_there_is_told(tmp_path: Path) -> None:
    told = {
        "curl": says("curl: (56) CONNECT tunnel failed, response 407", 56),
        "python3": says("ConnectionRefusedError: Connection refused"),
        "node": "#!/no/such/interpreter\n",
    }
    checks = found(programs(tmp_path, told))
    assert "does not send the session" in checks["curl"].found
    assert "does not reach the proxy" in checks["python3"].found
    assert "cannot be started" in checks["node"].found
    assert checks["git"].found == "not installed"
