from __future__ import annotations

import base64
import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import quote

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from ghost_core import log
from ghost_core.secret import SecretBytes

SECRET = b'sk_live/"4f+9a?e\xc3\xa9'


@pytest.fixture
def hidden() -> Iterator[None]:
    secret = SecretBytes(SECRET)
    log.hide(secret)
    yield
    log.forget(secret)


@pytest.fixture(autouse=True)
def _structlog_again() -> Iterator[None]:
    yield
    structlog.reset_defaults()


def said(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


FORMS = [
    SECRET.decode(),
    SECRET.hex(),
    SECRET.hex().upper(),
    quote(SECRET, safe=""),
    quote(SECRET),
    json.dumps(SECRET.decode()),
    repr(SECRET.decode()),
    base64.b64encode(SECRET).decode(),
    base64.urlsafe_b64encode(SECRET).decode(),
    base64.b64encode(b"u:" + SECRET + b"!").decode(),
    base64.b64encode(b"u" + SECRET).decode(),
]


@pytest.mark.usefixtures("hidden")
@pytest.mark.parametrize("form", FORMS)
def test_a_hidden_secret_is_replaced_in_each_form(form: str) -> None:
    text = log.redact(f"before {form} after")
    assert log.MARK in text
    assert text.startswith("before ")
    assert text.endswith(" after")
    assert SECRET.decode()[:10] not in text


@given(st.binary(min_size=6, max_size=40), st.binary(max_size=5), st.binary(max_size=5))
def test_no_base64_text_around_a_secret_still_decodes_to_it(
    secret: bytes, before: bytes, after: bytes
) -> None:
    held = SecretBytes(secret)
    log.hide(held)
    try:
        text = log.redact(base64.b64encode(before + secret + after).decode())
    finally:
        log.forget(held)
    assert not any(secret) or log.MARK in text


def test_a_secret_that_is_forgotten_wiped_or_empty_is_not_looked_for() -> None:
    secret = SecretBytes(b"abcdef")
    log.hide(secret)
    log.hide(secret)
    secret.wipe()
    assert log.redact("abcdef \0\0\0\0\0\0") == "abcdef \0\0\0\0\0\0"
    log.forget(secret)
    log.hide(SecretBytes(b""))
    assert log.redact("abcdef") == "abcdef"


@pytest.mark.usefixtures("hidden")
def test_events_are_json_lines_with_ids_and_without_secrets(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log.configure(json=True, verbose=True)
    with structlog.contextvars.bound_contextvars(session="gh_1"):
        log.events("ghost.x").info("session.spawned", header=SECRET.decode())
    (event,) = said(capsys)
    assert (event["event"], event["session"], event["level"]) == ("session.spawned", "gh_1", "info")
    assert event["header"] == log.MARK


@pytest.mark.usefixtures("hidden")
def test_the_libraries_own_messages_are_redacted_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log.configure(json=True)
    logging.getLogger("someone.else").warning("sent %s", SECRET.decode())
    (event,) = said(capsys)
    assert event["event"] == f"sent {log.MARK}"


@pytest.mark.usefixtures("hidden")
def test_a_traceback_is_redacted_and_stays_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log.configure(json=True)
    try:
        raise ValueError(SECRET.decode())
    except ValueError:
        log.events("ghost.x").exception("it.failed")
    (event,) = said(capsys)
    assert "ValueError" in str(event["exception"])
    assert log.MARK in str(event["exception"])


@pytest.mark.parametrize(("verbose", "shown"), [(False, []), (True, ["a.happened"])])
def test_only_warnings_are_shown_unless_verbose(
    capsys: pytest.CaptureFixture[str], *, verbose: bool, shown: list[str]
) -> None:
    log.configure(json=True, verbose=verbose)
    log.events("ghost.x").info("a.happened")
    assert [event["event"] for event in said(capsys)] == shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.usefixtures("hidden")
def test_a_terminal_gets_text_without_colours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    log.configure()
    log.events("ghost.x").warning("disk.filled", header=SECRET.decode())
    assert "disk.filled" in screen.getvalue()
    assert log.MARK in screen.getvalue()
    assert "\x1b" not in screen.getvalue()


def test_a_silent_program_does_not_import_structlog() -> None:
    program = (
        "import sys; from ghost_core import log; from ghost_core.secret import SecretBytes;"
        "log.configure(); log.hide(SecretBytes(b'x')); log.redact('x');"
        "sys.exit('structlog' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=30).returncode == 0
