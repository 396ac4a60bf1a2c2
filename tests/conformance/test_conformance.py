"""The protocol's own conformance suite against `ghost mcp --http`, once for each era.

What it asks of a server made for tests, and what we do not offer, is listed by name in `not-ours.toml`, with
the reason; anything else that fails, and anything listed that passes, fails here. Run by `make conformance`,
never by `make test`.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from support.home import ghost_home
from support.processes import start

ROOT = Path(__file__).parents[2]
SUITE = ROOT / ".venv/conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js"
NODE = ROOT / ".venv/node/bin/node"
NOT_OURS = tomllib.loads((Path(__file__).parent / "not-ours.toml").read_text("utf-8"))
REVISIONS = ("2025-11-25", "2026-07-28")
SECONDS = 300

pytestmark = pytest.mark.timeout(SECONDS + 60)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a memory that holds something."""
    for needed, script in ((NODE, "fetch_node.sh"), (SUITE, "fetch_conformance.sh")):
        if not needed.exists():
            pytest.skip(f"{needed.name} is not here: scripts/{script}")
    with ghost_home(tmp_path_factory.mktemp("conformance")) as place:
        running = start(place, "mcp", "--http", "--port", "0")
        try:
            yield running.wait_line("Serving memory on", seconds=60).rpartition(" ")[2]
        finally:
            running.stop()


def results(place: Path) -> dict[str, str]:
    """Return the result of every check, as scenario/check; of several of one name the worst."""
    found: dict[str, str] = {}
    for checks in place.glob("server-*/checks.json"):
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*$", "", checks.parent.name)
        for check in json.loads(checks.read_text("utf-8")):
            name = f"{scenario}/{check['id']}"
            if found.get(name) != "FAILURE":
                found[name] = check["status"]
    return found


@pytest.mark.parametrize("revision", REVISIONS)
def test_all_that_applies_passes(url: str, revision: str, tmp_path: Path) -> None:
    command = [NODE, SUITE, "server", "--url", url, "--requirements", revision, "-o", tmp_path]
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    found = results(tmp_path)
    assert len(found) > 30, done.stdout + done.stderr
    failed = {each for each, status in found.items() if status == "FAILURE"}
    passed = sum(status == "SUCCESS" for status in found.values())
    for reason, listed in NOT_OURS[revision].items():
        print(f"{revision}: {len(listed)} not ours: {reason}")  # noqa: T201  # shown by make
    print(f"{revision}: {passed} checks passed")  # noqa: T201
    listed = [each for known in NOT_OURS[revision].values() for each in known]
    assert {each for each in failed if not any(fnmatchcase(each, one) for one in listed)} == set()
    assert [one for one in listed if not any(fnmatchcase(each, one) for each in failed)] == []
