from __future__ import annotations

import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_cli import output
from ghost_cli.output import Options
from ghost_core.errors import DeniedError

BAD = "a\x1b[31mb\x9bc\u202ed\u2066e\x07\r"
SHOWN = "a\\x1b[31mb\\x9bc\\u202ed\\u2066e\\x07\\x0d"


@pytest.fixture(autouse=True)
def _plain() -> None:
    output.choose(Options())


def test_a_result_is_one_json_object_with_a_line_end(capsys: pytest.CaptureFixture[str]) -> None:
    output.result({"a": 1, "b": "é"})
    text = capsys.readouterr().out
    assert text == '{\n  "a": 1,\n  "b": "é"\n}\n'


def test_a_result_with_a_text_is_json_only_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    output.result({"a": 1}, "one")
    assert capsys.readouterr().out == "one\n"
    output.choose(Options(json=True))
    output.result({"a": 1}, "one")
    assert json.loads(capsys.readouterr().out) == {"a": 1}


def test_the_items_of_a_stream_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    output.event({"a": 1}, "one")
    output.choose(Options(json=True))
    output.event({"a": 1}, "one")
    assert capsys.readouterr().out == 'one\n{"a": 1}\n'


def test_notes_go_to_stderr_and_are_silent_when_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    output.note("one")
    output.choose(Options(quiet=True))
    output.note("two")
    output.warn("three")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "one\nwarning: three\n")


def test_beside_json_everything_on_stderr_is_a_line_of_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output.choose(Options(json=True))
    output.note("one")
    output.warn("two")
    found = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert found == [
        {"schema": "ghost/note/v1", "message": "one"},
        {"schema": "ghost/warning/v1", "message": "two"},
    ]


def test_nothing_that_moves_a_terminal_is_sent(capsys: pytest.CaptureFixture[str]) -> None:
    output.lines(BAD)
    output.result({}, BAD)
    output.note(BAD)
    output.warn(BAD)
    output.failure(DeniedError(BAD, hint=BAD))
    captured = capsys.readouterr()
    assert captured.out == f"{SHOWN}\n{SHOWN}\n"
    assert captured.err == f"{SHOWN}\nwarning: {SHOWN}\nghost: {SHOWN}\nhint: {SHOWN}\n"


@given(st.text())
def test_json_with_neutralised_characters_means_the_same(text: str) -> None:
    written = output._json({"a": text})
    assert json.loads(written) == {"a": text}
    assert output.neutral(written) == written


@given(st.text())
def test_neutral_text_stays_as_it_is(text: str) -> None:
    assert output.neutral(output.neutral(text)) == output.neutral(text)


def test_tab_and_line_feed_are_harmless() -> None:
    assert output.neutral("a\tb\nc") == "a\tb\nc"


def test_an_error_is_text_with_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    output.failure(DeniedError("no", hint="ghost spawn"))
    output.failure(DeniedError("no"))
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "ghost: no\nhint: ghost spawn\nghost: no\n")


def test_an_error_is_one_json_object_on_stderr_when_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output.choose(Options(json=True))
    output.failure(DeniedError("no", code="scope.denied", hint="ghost spawn"))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert json.loads(captured.err) == {
        "schema": "ghost/error/v1",
        "code": "scope.denied",
        "message": "no",
        "hint": "ghost spawn",
        "exit_code": 5,
    }


def test_raw_bytes_reach_a_pipe_unchanged(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    output.raw(b"\x1b\xff\r\n")
    assert capfdbinary.readouterr().out == b"\x1b\xff\r\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_raw_bytes_are_neutralised_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    output.raw(b"\x1b[2Jx\xff")
    assert screen.getvalue() == "\\x1b[2Jx\\xff"


def test_what_the_terminal_cannot_show_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    binary = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(binary, encoding="ascii"))
    output.lines("é€")
    sys.stdout.flush()
    assert binary.getvalue() == b"\\xe9\\u20ac\n"
