"""What is wrong with a command line, in our words: those of the libraries are for programmers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from typer.exceptions import TyperException

from ghost_core.errors import UsageError
from ghost_memory.limits import shown

__all__ = ["described"]

type Context = Mapping[str, Any]

_EXPECTED: Final[Mapping[str, Callable[[Context], str]]] = {
    "int_parsing": lambda _: "a whole number",
    "int_parsing_size": lambda _: "a whole number that is not that long",
    "float_parsing": lambda _: "a number",
    "bool_parsing": lambda _: "yes or no",
    "finite_number": lambda _: "a finite number",
    "greater_than_equal": lambda limits: f"{limits['ge']} or more",
    "greater_than": lambda limits: f"more than {limits['gt']}",
    "less_than_equal": lambda limits: f"{limits['le']} or less",
    "less_than": lambda limits: f"less than {limits['lt']}",
}
_NUMBERS: Final = ("int_parsing", "float_parsing")
_OF_SECONDS: Final = frozenset({"--ttl", "--grace"})


def described(error: TyperException, command: str) -> UsageError:
    """Return the error of a library as ours: which option, what was expected, what was found.

    The hint names the help of the command that was meant, a group's where none of it was.
    """
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else command
    text = _text(error)
    return UsageError(text, code="usage.arguments", hint=_hint(path, text))


def _hint(path: str, text: str) -> str:
    """Return the line that was meant, for the two mistakes that everybody makes; else the help."""
    if path == "ghost run" and text.startswith(("no such option", "missing argument")):
        return "options of ghost come first, then -- and the command: ghost run --scope TOOL -- COMMAND"
    if text.startswith("got unexpected extra argument") and "(gh_" in text:
        return f"{path} --session-id ID"
    return f"{path} --help"


def _text(error: TyperException) -> str:
    param, found = getattr(error, "param", None), _first(error.__cause__)
    if param is not None and found is not None:
        name = _name(param)
        expected = _expected(found, name)
        if expected:
            return f"{name}: expected {expected}, found {shown(str(found.get('input')))}"
    text = error.format_message().rstrip(".")
    return text[:1].lower() + text[1:]


def _first(cause: object) -> Mapping[str, Any] | None:
    """Return the first thing that pydantic found wrong; None where it was not pydantic that did."""
    errors = getattr(cause, "errors", None)
    return errors()[0] if callable(errors) else None


def _name(param: Any) -> str:  # typer's own kind of parameter is private
    """Return the shortest long spelling of an option, the name of an argument as the help shows it."""
    long = [each for each in param.opts if each.startswith("--")]
    return min(long, key=len) if long else str(param.get_error_hint()).strip("'")


def _expected(found: Mapping[str, Any], name: str) -> str:
    context: Context = found.get("ctx", {})
    say = _EXPECTED.get(str(found["type"]))
    if say is not None:
        unit = " of seconds" if found["type"] in _NUMBERS and name in _OF_SECONDS else ""
        return say(context) + unit
    _, choice, names = str(context.get("error", "")).partition(" is not one of ")
    return _either(names.rstrip(".").replace("'", "").split(", ")) if choice else ""


def _either(names: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
