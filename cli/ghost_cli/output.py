"""The only writer: results on stdout, everything else on stderr, nothing that moves a terminal.

Text that we did not write (names, paths, answers) may carry escape sequences or direction marks; they
are shown as escapes, never sent.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from typing import NamedTuple

from ghost_cli import streams
from ghost_core.errors import GhostError

ERROR_SCHEMA = "ghost/error/v1"
WARNING_SCHEMA = "ghost/warning/v1"
NOTE_SCHEMA = "ghost/note/v1"

# C0 but tab and line feed, DEL, C1, direction marks and overrides, line separators, BOM.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)


class Options(NamedTuple):
    """What the flags that every command takes say."""

    json: bool = False
    quiet: bool = False
    verbose: bool = False


_OPTIONS: ContextVar[Options] = ContextVar("ghost_options", default=Options())  # noqa: B039  # frozen


def options() -> Options:
    """Return the flags of the command that runs."""
    return _OPTIONS.get()


def choose(chosen: Options) -> None:
    """Set the flags for the command that starts; called by `main` alone."""
    _OPTIONS.set(chosen)


def result(document: Mapping[str, object], text: str | None = None) -> None:
    """Print the result: one JSON object, or `text` where there is one and `--json` was not given."""
    if text is None or options().json:
        streams.write(_json(document, indent=2) + "\n")
    else:
        lines(text)


def lines(*texts: str) -> None:
    """Print each text on stdout with a line end, escape sequences neutralised."""
    for text in texts:
        streams.write(neutral(text).rstrip("\n") + "\n")


def event(document: Mapping[str, object], text: str) -> None:
    """Print one item of a stream: a line of JSON with `--json`, else the text; flushed at once."""
    if options().json:
        streams.write(_json(document) + "\n")
    else:
        lines(text)
    streams.flush()


def raw(data: bytes) -> None:
    """Write bytes to stdout as they are; on a terminal they are shown neutralised instead."""
    binary = getattr(sys.stdout, "buffer", None)
    if sys.stdout.isatty() or binary is None:
        streams.write(neutral(data.decode("utf-8", "backslashreplace")))
        return
    streams.write_bytes(data, binary)


def note(text: str) -> None:
    """Say something beside the result, on stderr; silent with `--quiet`, a JSON line with `--json`."""
    if not options().quiet:
        _beside(NOTE_SCHEMA, text, text)


def warn(text: str) -> None:
    """Warn on stderr, `--quiet` or not; a JSON line with `--json`."""
    _beside(WARNING_SCHEMA, text, f"warning: {text}")


def _beside(schema: str, message: str, shown: str) -> None:
    line = _json({"schema": schema, "message": message}) if options().json else neutral(shown)
    streams.tell(line + "\n")


def failure(error: GhostError, *, exit_code: int | None = None) -> None:
    """Report an error on stderr: message and hint, or one JSON object with `--json`.

    `exit_code` is given where the command ends with another one than the error's own.
    """
    if options().json:
        document = {
            "schema": ERROR_SCHEMA,
            "code": error.code,
            "message": error.message,
            "hint": error.hint,
            "exit_code": error.exit_code if exit_code is None else exit_code,
        }
        streams.tell(_json(document) + "\n")
        return
    streams.tell(f"ghost: {neutral(error.message)}\n")
    if error.hint:
        streams.tell(f"hint: {neutral(error.hint)}\n")


def neutral(text: str) -> str:
    r"""Show control characters and direction marks as `\x1b` or `\u202e`."""
    return _UNSAFE.sub(lambda found: _escape(found.group()), text)


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def _json(document: Mapping[str, object], *, indent: int | None = None) -> str:
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    # Inside JSON the same characters have an escape that means the same value.
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
