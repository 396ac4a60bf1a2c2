"""The command `ghost`: finds the command, runs it, and turns every failure into text and an exit code.

Typer is imported for the invoked command only; the overview comes from the table. Tests call `main`
with arguments, in process.
"""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Sequence
from pathlib import Path

from ghost_cli import homes, output, streams
from ghost_cli.commands import find, nearest, overview
from ghost_cli.output import Options
from ghost_core.errors import GhostError, UsageError
from ghost_core.version import __version__

INTERRUPTED = 130
OWN_FAILURE = 125
"""Something went wrong before or beside a child whose exit code is ours; no usual code of a child."""

# The interpreter looks through all that was ever imported before it ends, a fifth of a short command.
atexit.register(gc.freeze)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `ghost` with the arguments and return its exit code; nothing escapes but SystemExit of a child."""
    streams.fill()
    words, chosen = _flags(list(sys.argv[1:] if argv is None else argv))
    output.choose(chosen)
    gc.disable()  # a start only makes objects: looking for garbage costs a sixth of it
    try:
        code = _dispatch(words)
        streams.flush()
    except GhostError as error:
        return _failed(error, words)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        streams.give_up(sys.stdout)
        return 1
    except OSError as error:  # typer prints the help by itself
        return _failed(streams.unwritable(error) or _unexpected(error, chosen), words)
    except Exception as error:  # noqa: BLE001  # the last net: nobody above us can report it
        return _failed(_unexpected(error, chosen), words)
    finally:
        gc.enable()
    return code


def _flags(argv: list[str]) -> tuple[list[str], Options]:
    """Take out the flags that every command knows; what stands behind `--` belongs to a child."""
    end = argv.index("--") if "--" in argv else len(argv)
    ours = argv[:end]
    chosen = Options(
        json="--json" in ours,
        quiet="--quiet" in ours or "-q" in ours,
        verbose="-v" in ours,
    )
    taken = {"--json", "--quiet", "-q", "-v"}
    return [word for word in ours if word not in taken] + argv[end:], chosen


def _dispatch(words: list[str]) -> int:
    if not words or words[0] in {"--help", "-h", "help"}:
        output.lines(overview())
        return 0
    if words[0] == "--version":
        output.lines(f"ghost {__version__}")
        return 0
    command, rest = find(words)
    if command is None or not command.present():
        raise _no_such(words[0])
    if not command.outside and not {"--help", "-h"} & {*rest}:
        homes.require()
    if command.quick:
        return command.load()(rest)
    from ghost_cli.hearing import hear

    hear()
    if command.plain:
        return command.load()(rest)
    from ghost_cli import invoke

    return invoke.run(command, rest)


def _no_such(word: str) -> UsageError:
    near = nearest(word)
    return UsageError(
        f"command {word!r}: does not exist" + (f", nearest is {near!r}" if near else ""),
        code="usage.command",
        hint="ghost --help",
    )


def _failed(error: GhostError, words: list[str]) -> int:
    command = find(words)[0]
    code = OWN_FAILURE if command is not None and command.relays else error.exit_code
    output.failure(error, exit_code=code)
    return code


def _unexpected(error: Exception, chosen: Options) -> GhostError:
    """Describe a mistake of ours: kind and place, not the text, which may repeat a secret."""
    place = _place(error)
    if chosen.verbose:
        import traceback

        from ghost_core import log

        streams.tell(log.redact("".join(traceback.format_exception(error))))
    return GhostError(
        f"unexpected {type(error).__name__} at {place}",
        code="unexpected",
        hint=None if chosen.verbose else "run it again with -v for the traceback",
    )


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "an unknown place"
    name = Path(trace.tb_frame.f_code.co_filename).name
    return f"{name}:{trace.tb_lineno}"
