"""Rules: what is refused whatever the scopes say; a rule that asks for approval refuses as well."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import yaml

from ghost_core.errors import ConfigError, UsageError
from ghost_core.settings import RuleMatch, RuleSettings
from ghost_hooks.params import Json
from ghost_hooks.pattern import HostPattern, Methods, PathPattern, name_glob
from ghost_hooks.request import Verdict
from ghost_hooks.target import Target
from ghost_hooks.when import Condition, UndecidableError

FILE_LIMIT = 1024 * 1024
_NO_APPROVALS = "needs an approval, and approvals are not available: refused"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, compiled; `approve` marks one that asks for an approval."""

    name: str
    host: HostPattern
    methods: Methods
    path: PathPattern
    tool: re.Pattern[str] | None
    action: re.Pattern[str] | None
    condition: Condition | None
    approve: bool

    @classmethod
    def from_settings(cls, name: str, settings: RuleSettings) -> Self:
        """Compile a rule; raises ConfigError naming it."""
        found = settings.deny or settings.approve or RuleMatch(host="*")
        try:
            return cls(
                name,
                HostPattern.parse(found.host),
                Methods.parse(found.method),
                PathPattern.parse(found.path),
                name_glob(found.tool) if found.tool else None,
                name_glob(found.action) if found.action else None,
                Condition.parse(found.when) if found.when else None,
                settings.approve is not None,
            )
        except (UsageError, ConfigError) as error:
            raise ConfigError(f"{name}: {error.message}", code="rule.malformed") from error

    @property
    def named(self) -> bool:
        """Whether it is about some tools or actions only."""
        return self.tool is not None or self.action is not None

    def match(self, method: str, target: Target, tool: str, action: str) -> bool:
        """Tell whether the rule is about this call, its condition aside."""
        return (
            self.methods.match(method)
            and self.host.denies(target.host)
            and (self.tool is None or self.tool.match(tool) is not None)
            and (self.action is None or self.action.match(action) is not None)
            and self.path.denies(target.path)
        )

    def verdict(self, values: Json = None) -> Verdict | None:
        """Return the refusal of a call that matched, or None if the condition does not hold."""
        if self.condition is not None:
            try:
                if not self.condition.holds(values):
                    return None
            except UndecidableError:
                return self.refusal("its condition cannot be decided for what was sent")
        return self.refusal()

    def refusal(self, reason: str = "") -> Verdict:
        """Return the refusal of this rule."""
        reason = reason or (_NO_APPROVALS if self.approve else "a rule refuses this call")
        code = "rule.approval" if self.approve else "rule.denied"
        return Verdict.no("rule", self.name, reason, code=code)


def from_settings(rules: Sequence[RuleSettings]) -> tuple[Rule, ...]:
    """Compile the rules of the settings; raises ConfigError."""
    return tuple(Rule.from_settings(f"rules.{index}", rule) for index, rule in enumerate(rules))


def read_rules(name: str, data: bytes) -> tuple[Rule, ...]:
    """Compile a YAML list of rules in the form of the settings; raises ConfigError."""
    try:
        found = yaml.safe_load(data) or [] if len(data) <= FILE_LIMIT else None
        if not isinstance(found, list):
            raise _broken(name, "expected a list of rules of at most 1 MiB")
        settings = [RuleSettings.model_validate(each) for each in found]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # pydantic's error is a ValueError; its text would repeat values.
        raise _broken(name, "is no list of deny and approve rules") from error
    return tuple(Rule.from_settings(f"{name}.{index}", each) for index, each in enumerate(settings))


def _broken(name: str, why: str) -> ConfigError:
    return ConfigError(f"rules {name!r}: {why}", code="rule.malformed")


class RuleFolder:
    """Rule files (`*.yaml`, `*.yml`) of one folder, read again when one of them changes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: tuple[tuple[str, int, int, int, int], ...] = ()
        self._rules: tuple[Rule, ...] = ()
        self._texts: dict[str, bytes] = {}

    def current(self) -> tuple[Rule, ...]:
        """Return the rules in force; raises ConfigError for a broken file, OSError for an unreadable one."""
        seen = self._signature()
        if seen != self._seen:
            texts = {name: (self._folder / name).read_bytes() for name, *_ in seen}
            found = [rule for name, data in texts.items() for rule in read_rules(name, data)]
            self._rules, self._texts, self._seen = tuple(found), texts, seen
        return self._rules

    def texts(self) -> dict[str, bytes]:
        """Return the files' bytes by name, for the policy hash."""
        self.current()
        return self._texts

    def _signature(self) -> tuple[tuple[str, int, int, int, int], ...]:
        try:
            with os.scandir(self._folder) as entries:
                names = sorted(entry.name for entry in entries)
        except (FileNotFoundError, NotADirectoryError):
            return ()
        found = []
        for name in names:
            if name.endswith((".yaml", ".yml")) and not name.startswith("."):
                stat = (self._folder / name).stat()
                found.append((name, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns))
        return tuple(found)
