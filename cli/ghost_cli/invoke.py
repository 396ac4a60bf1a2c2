"""Runs one command through Typer, whose own errors become ours."""

from __future__ import annotations

import importlib

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from ghost_cli import output
from ghost_cli.commands import FLAGS, Command
from ghost_core import log

INTERRUPTED = 130


def run(command: Command, arguments: list[str]) -> int:
    """Import the command's module, call it, and return the exit code.

    A command chooses a code by `raise typer.Exit(code)` or by returning a whole number.
    """
    log.configure(json=output.options().json, verbose=output.options().verbose)
    target = getattr(importlib.import_module(command.module), command.attribute)
    group = isinstance(target, typer.Typer)
    app = target if isinstance(target, typer.Typer) else _single(command, target)
    app.rich_markup_mode = None
    if group and not arguments and not app.info.invoke_without_command:
        arguments = ["--help"]
    name = f"ghost {command.name}"
    try:
        code = get_command(app).main(args=arguments, prog_name=name, standalone_mode=False)
    except typer.Abort:
        return INTERRUPTED
    except TyperException as error:
        from ghost_cli import usage

        raise usage.described(error, name) from error
    return code if isinstance(code, int) else 0


def _single(command: Command, function: object) -> typer.Typer:
    if not callable(function):
        raise TypeError(f"{command.target} is neither a function nor a Typer app")
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command(command.name, epilog=_EPILOG)(function)
    return app


# A lone \b keeps the lines of the next paragraph as they are.
_EPILOG = "\b\n" + FLAGS
