"""What a server can offer: a tool, a resource, a prompt. The functions behind them are found when called."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ghost_memory.server.parameters import Parameter

__all__ = ["Prompt", "Resource", "Tool"]

_TOOLS = "ghost_memory.server.tools"


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: what it is called and takes, `target` that does it, the shape of its data, its promises.

    `target` is "module.function" among the tools. A tool that `reads` changes nothing; one that `repeats`
    leaves the same when it is called again.
    """

    name: str
    title: str
    about: str
    parameters: Sequence[Parameter]
    target: str
    data: Mapping[str, object]
    reads: bool = False
    destroys: bool = False
    repeats: bool = False

    def load(self) -> Callable[..., Any]:
        """Import the function; that loads the store."""
        module, _, name = self.target.partition(".")
        found: Callable[..., Any] = getattr(importlib.import_module(f"{_TOOLS}.{module}"), name)
        return found


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource, or a template of resources."""

    uri: str
    name: str
    title: str
    about: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt; its text is made by the function of its name in `prompts`."""

    name: str
    title: str
    about: str
    parameters: Sequence[Parameter]
