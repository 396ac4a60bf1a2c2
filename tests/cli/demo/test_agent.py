from __future__ import annotations

import json
import subprocess
import sys

import pytest

from ghost_cli.demo import place
from ghost_cli.demo.api import EVENTS, Api
from ghost_cli.demo.seen import parse
from ghost_cli.demo.stage import AGENT


@pytest.mark.parametrize("flags", [["-I"], ["-I", "-S"]], ids=["site packages", "standard library"])
def test_the_script_does_its_tasks_with_or_without_httpx(flags: list[str]) -> None:
    with place.prepare() as made, Api(made.certificate, made.key) as api:
        environment = {
            "DEMO_API_URL": api.url,
            "DEMO_API_KEY": made.key.reveal().decode(),
            "SSL_CERT_FILE": str(made.certificate.certificate_file),
        }
        done = subprocess.run(
            [sys.executable, *flags, str(AGENT), "pay", "feed", "refund"],
            env=environment,
            capture_output=True,
            timeout=60,
            check=True,
        )
    pay, feed, refund, end = done.stdout.decode().splitlines()
    assert [parse(pay).status, parse(refund).status] == [201, 200]
    assert parse(feed).text.count("data:") == EVENTS
    assert json.loads(end)["client"] == ("urllib" if "-S" in flags else "httpx")


def test_a_call_that_fails_is_told_and_does_not_stop_the_script() -> None:
    environment = {"DEMO_API_URL": "https://localhost:1", "DEMO_API_KEY": "k"}
    done = subprocess.run(
        [sys.executable, "-I", str(AGENT), "balance"],
        env=environment,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert parse(done.stdout.decode().splitlines()[0]).status == 0
