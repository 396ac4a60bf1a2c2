"""Rules: what is refused whatever the scopes say; a rule that asks for approval refuses as well.

An assertion is a rule the other way round: what it is about must satisfy its condition.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import yaml
from pydantic import ValidationError

from ghost_core.errors import ConfigError, UsageError
from ghost_core.settings import RuleMatch, RuleSettings
from ghost_hooks.folder import Stamp, settled, stamp
from ghost_hooks.params import Json
from ghost_hooks.pattern import HostPattern, Methods, PathPattern, name_glob
from ghost_hooks.request import Verdict
from ghost_hooks.target import Target
from ghost_hooks.when import Condition, UndecidableError

FILE_LIMIT = 1024 * 1024
_FORM = "a list of rules such as: - deny: {tool: payments, when: amount > 5000}"
_NO_APPROVALS = "needs an approval, and approvals are not available: refused"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, compiled; `approve` marks one that asks for an approval, `asserts` an assertion.

    `about` is what it says in words; `untrusted` marks one of a project's file that nobody has trusted.
    """

    name: str
    about: RuleMatch
    host: HostPattern
    methods: Methods
    path: PathPattern
    tool: re.Pattern[str] | None
    action: re.Pattern[str] | None
    condition: Condition | None
    approve: bool
    asserts: bool = False
    untrusted: bool = False

    @classmethod
    def from_settings(cls, name: str, settings: RuleSettings) -> Self:
        """Compile a rule; raises ConfigError naming it."""
        found = settings.deny or settings.approve or RuleMatch(host="*")
        try:
            return cls(
                name,
                found,
                HostPattern.parse(found.host),
                Methods.parse(found.method),
                PathPattern.parse(found.path),
                name_glob(found.tool) if found.tool else None,
                name_glob(found.action) if found.action else None,
                Condition.parse(found.when) if found.when else None,
                settings.approve is not None,
                untrusted=settings.untrusted,
            )
        except (UsageError, ConfigError) as error:
            raise ConfigError(f"{name}: {error.message}", code="rule.malformed") from error

    @property
    def key(self) -> str:
        """The word under which it stands in its file."""
        if self.asserts:
            return "assert"
        return "approve" if self.approve else "deny"

    @property
    def named(self) -> bool:
        """Whether it is about some tools or actions only."""
        return self.tool is not None or self.action is not None

    @property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """The fields that its condition reads."""
        return self.condition.paths if self.condition else ()

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
        """Return the refusal of a call that matched, or None if the condition says nothing against it."""
        if self.condition is not None:
            try:
                if self.condition.holds(values) is self.asserts:
                    return None
            except UndecidableError:
                return self.refusal("its condition cannot be decided for what was sent")
            if self.asserts:
                return self.refusal(f"does not hold: {self.condition.text}")
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
        return tuple(_checked(f"{name}.{index}", each) for index, each in enumerate(found))
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise _broken(name, f"is no YAML{line}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _broken(name, "is no list of deny, approve and assert rules") from error


def _checked(name: str, item: object) -> Rule:
    """Compile one rule of a file; raises ConfigError."""
    try:
        return _rule(name, item)
    except ValidationError as error:
        # Its text would repeat values; the place is made of names alone.
        steps = error.errors(include_input=False, include_context=False)[0]["loc"]
        place = ".".join(map(str, steps)) or "it"
        raise _broken(name, f"{place} is unknown, or its value is of another kind") from error


def _rule(name: str, item: object) -> Rule:
    """Compile one rule; raises ConfigError, or pydantic's error for another form.

    `assert` takes a condition, or what the rule is about with its condition as `when`.
    """
    if not isinstance(item, dict) or item.keys() != {"assert"}:
        return Rule.from_settings(name, RuleSettings.model_validate(item))
    said = item["assert"]
    match = RuleMatch.model_validate({"when": said} if isinstance(said, str) else said)
    if not match.when:
        raise ConfigError(f"{name}: an assertion needs a condition", code="rule.malformed")
    return replace(Rule.from_settings(name, RuleSettings(deny=match)), asserts=True)


def _broken(name: str, why: str) -> ConfigError:
    return ConfigError(f"rules {name!r}: {why}", code="rule.malformed", hint=_FORM)


class RuleFolder:
    """Rule files (`*.yaml`, `*.yml`) of one folder, read again when one of them changes."""

    def __init__(self, folder: Path, *, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._folder = folder
        self._now_ns = now_ns
        self._seen: dict[str, Stamp] = {}
        self._rules: tuple[Rule, ...] = ()

    def current(self) -> tuple[Rule, ...]:
        """Return the rules in force; raises ConfigError for a file that is broken or unreadable."""
        try:
            read_at, stamps = self._now_ns(), rule_files(self._folder)
            if stamps != self._seen:
                self._rules = tuple(
                    rule
                    for name in stamps
                    for rule in read_rules(name, (self._folder / name).read_bytes())
                )
                fresh = all(settled(each, read_at) for each in stamps.values())
                self._seen = stamps if fresh else {}
        except OSError as error:
            raise _broken(self._folder.name, "cannot be read") from error
        return self._rules if stamps else ()


def rule_files(folder: Path) -> dict[str, Stamp]:
    """Return the rule files of a folder by name, sorted; a missing folder has none. Raises OSError."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    return {name: stamp((folder / name).stat()) for name in names if is_rule_file(name)}


def is_rule_file(name: str) -> bool:
    """Tell whether a file of the rules folder holds rules."""
    return name.endswith((".yaml", ".yml")) and not name.startswith(".")
