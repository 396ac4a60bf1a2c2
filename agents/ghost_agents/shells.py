"""The environment block as text for shells, programs and dotenv readers; none of it is executed."""

from __future__ import annotations

import json
import re
from typing import Literal, assert_never, get_args

from ghost_agents.environment import Environment
from ghost_core.errors import ConfigError, UsageError

type Shell = Literal["sh", "fish", "powershell", "json", "dotenv"]

SHELLS: tuple[str, ...] = get_args(Shell.__value__)

# PowerShell takes the typographic single quotes for quotes as well.
_POWERSHELL_QUOTES = re.compile("(['\u2018\u2019\u201a\u201b])")
_DOTENV_BARE = re.compile(r"[A-Za-z0-9_./:@%+,=-]*\Z")
_DOTENV_QUOTABLE = re.compile(r"[^'\\\r\n]*\Z")


def parse_shell(name: str) -> Shell:
    """Return the named form; raises UsageError with the list."""
    match name:
        case "sh" | "fish" | "powershell" | "json" | "dotenv":
            return name
        case _:
            raise UsageError(
                f"shell {name!r}: expected one of {', '.join(SHELLS)}", code="usage.shell"
            )


def render(environment: Environment, shell: Shell) -> str:
    """Return the block in the form of one shell, with a final line break.

    `sh` suits bash, zsh and every POSIX shell. A dotenv file can only set, so names to remove are
    set empty.

    Raises:
        ConfigError: code `environment.dotenv`, a value that dotenv readers do not agree on.
    """
    match shell:
        case "sh":
            lines = [f"export {name}={sh_quoted(value)}" for name, value in environment.values]
            lines += [f"unset {name}" for name in environment.unset]
        case "fish":
            lines = [f"set -gx {name} {_fish_quoted(value)}" for name, value in environment.values]
            lines += [f"set -e {name}" for name in environment.unset]
        case "powershell":
            lines = [
                f"$env:{name} = {_powershell_quoted(value)}" for name, value in environment.values
            ]
            lines += [
                f"Remove-Item Env:{name} -ErrorAction SilentlyContinue"
                for name in environment.unset
            ]
        case "json":
            lines = [_json(environment)]
        case "dotenv":
            lines = [f"{name}={_dotenv_quoted(name, value)}" for name, value in environment.values]
            lines += [f"{name}=" for name in environment.unset]
        case _:
            assert_never(shell)
    return "\n".join(lines) + "\n"


def sh_quoted(value: str) -> str:
    """Quote for a POSIX shell: nothing but the quote itself is special inside single quotes."""
    return "'" + value.replace("'", "'\\''") + "'"


def _fish_quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _powershell_quoted(value: str) -> str:
    return "'" + _POWERSHELL_QUOTES.sub(r"\1\1", value) + "'"


def _dotenv_quoted(name: str, value: str) -> str:
    if _DOTENV_BARE.match(value):
        return value
    if _DOTENV_QUOTABLE.match(value):
        return f"'{value}'"
    raise ConfigError(
        f"environment variable {name!r}: quotes and line breaks have no common dotenv form",
        code="environment.dotenv",
        hint="use --shell json",
    )


def _json(environment: Environment) -> str:
    document = {
        "schema": "ghost/environment/v1",
        "values": dict(environment.values),
        "unset": list(environment.unset),
    }
    return json.dumps(document, indent=2, ensure_ascii=False)
