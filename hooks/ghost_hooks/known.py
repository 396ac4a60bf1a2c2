"""Names in the settings that point to another table of them: one that points nowhere protects nothing.

A rule that names a tool which does not exist would never match, and nobody would see it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from ghost_core import settings as configuration
from ghost_core.errors import ConfigError
from ghost_core.settings import RuleMatch, Settings
from ghost_hooks.pattern import ANY, is_method, name_glob
from ghost_hooks.rules import Rule
from ghost_hooks.scope import nearest
from ghost_hooks.tools import Catalogue

_TOOLS = "the tools of ghost.toml: ghost config show"


def require_credentials(settings: Settings) -> None:
    """Refuse a tool whose credential is not configured, or could never leave.

    Raises:
        ConfigError: codes `credential.unknown`, `credential.plain` for a `base_url` that is not https.
    """
    for name, tool in settings.tools.items():
        wanted = tool.credential
        if wanted is None:
            continue
        if wanted not in settings.credentials:
            raise ConfigError(
                f"tool {name!r}: credential {wanted!r} is not configured",
                code="credential.unknown",
                hint=nearest(wanted, settings.credentials)
                or f"add [credentials.{wanted}] to ghost.toml",
            )
        if (tool.base_url or "").startswith("http:"):
            raise ConfigError(
                f"tool {name!r}: credential {wanted!r} leaves over https only",
                code="credential.plain",
                hint=f"tools.{name}.base_url: expected https://host/path",
            )


@dataclass(frozen=True, slots=True)
class Known:
    """The tools and their actions; a tool without actions has its methods as actions."""

    actions: Mapping[str, Collection[str]]
    free: Collection[str]

    @classmethod
    def of(cls, catalogue: Catalogue) -> Self:
        """Return the names of a catalogue."""
        free = [
            name
            for name, tool in catalogue.tools.items()
            if not catalogue.actions[name] and tool.openapi is None
        ]
        return cls(catalogue.actions, free)

    def require(
        self, rules: Iterable[Rule], *, note: Callable[[str], None] = configuration.note
    ) -> None:
        """Refuse rules whose names point nowhere; one of a project's untrusted file is only noted.

        A pattern with `*` may match nothing. Raises ConfigError `rule.unknown`.
        """
        for rule in rules:
            error = self._missing(rule)
            if error is not None and not rule.untrusted:
                raise error
            if error is not None:
                note(f"{error.message}; a project's untrusted file says so, it has no effect here")

    def _missing(self, rule: Rule) -> ConfigError | None:
        tool, action = rule.about.tool, rule.about.action
        if tool and ANY not in tool and not self._is_tool(tool):
            return _unknown(rule, f"tool {tool!r}: no tool has this name", tool, self.actions)
        if action and ANY not in action and not self._is_action(rule.about, action):
            where = f"tool {tool!r} has no such action" if tool else "no tool has such an action"
            return _unknown(rule, f"action {action!r}: {where}", action, self._actions_of(tool))
        return None

    def _is_tool(self, name: str) -> bool:
        """Tell whether a call can have this tool; that of a raw scope is its host."""
        return name in self.actions or (_is_host(name) and nearest(name, self.actions) is None)

    def _is_action(self, about: RuleMatch, name: str) -> bool:
        """Tell whether a call can have this action; without a tool, or actions of one, it is the method."""
        if name in self._actions_of(about.tool):
            return True
        tools = [each for each in self.actions if _names(about.tool, each)]
        by_method = not tools or about.tool is None or any(each in self.free for each in tools)
        return by_method and is_method(name)

    def _actions_of(self, tool: str | None) -> list[str]:
        found = (names for each, names in self.actions.items() if _names(tool, each))
        return [name for names in found for name in names]


def _names(pattern: str | None, tool: str) -> bool:
    return pattern is None or name_glob(pattern).match(tool) is not None


def _is_host(name: str) -> bool:
    return "." in name or ":" in name or name == "localhost"


def _unknown(rule: Rule, what: str, name: str, known: Iterable[str]) -> ConfigError:
    return ConfigError(
        f"{rule.name}: {rule.key}.{what}", code="rule.unknown", hint=nearest(name, known) or _TOOLS
    )
