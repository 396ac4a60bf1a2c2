"""The caller's policy: which logs, which witnesses, and how many of them must agree (C2SP tlog-policy)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from ghost_core.errors import IntegrityError
from ghost_ledger.cosignature import WitnessKey
from ghost_ledger.note import Vkey

__all__ = ["POLICY_LIMIT", "Group", "Policy"]

POLICY_LIMIT: Final = 256 * 1024
_NONE: Final = b"none"
_CONTROL: Final = re.compile(rb"[^\t\n\x20-\x7e\x80-\xff]")
_THRESHOLD: Final = re.compile(rb"[1-9][0-9]{0,5}\Z")


@dataclass(frozen=True, slots=True)
class Group:
    """So many of these members must have witnessed a head; members are names, opaque bytes."""

    threshold: int
    members: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """Keys of logs, of witnesses by their name here, groups, and the name that must have witnessed."""

    logs: tuple[Vkey, ...]
    witnesses: Mapping[bytes, WitnessKey]
    groups: Mapping[bytes, Group]
    quorum: bytes

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Read a policy file.

        Raises:
            IntegrityError: code `ledger.policy`, naming the line; or `ledger.key`.
        """
        if len(data) > POLICY_LIMIT or _CONTROL.search(data):
            raise _broken(f"expected at most {POLICY_LIMIT} bytes without control characters")
        if not data.endswith(b"\n"):
            raise _broken("expected a newline at its end")
        reader = _Reader()
        for number, line in enumerate(data[:-1].split(b"\n"), 1):
            reader.read(number, line)
        if reader.quorum is None:
            raise _broken("expected a quorum line")
        return cls(tuple(reader.logs), reader.witnesses, reader.groups, reader.quorum)

    def allows(self, cosigned: Collection[WitnessKey]) -> bool:
        """Tell whether these witnesses are enough."""
        return self.quorum == _NONE or self._witnessed(self.quorum, cosigned)

    def _witnessed(self, name: bytes, cosigned: Collection[WitnessKey]) -> bool:
        group = self.groups.get(name)
        if group is None:
            return self.witnesses[name] in cosigned
        found = sum(self._witnessed(member, cosigned) for member in group.members)
        return found >= group.threshold


@dataclass(slots=True)
class _Reader:
    """What the lines so far have defined; a line may only name what stands before it."""

    logs: list[Vkey] = field(default_factory=list)
    witnesses: dict[bytes, WitnessKey] = field(default_factory=dict)
    groups: dict[bytes, Group] = field(default_factory=dict)
    quorum: bytes | None = None
    _grouped: set[bytes] = field(default_factory=set)

    def read(self, number: int, line: bytes) -> None:
        words = [word for word in re.split(rb"[ \t]+", line) if word]
        if not words or words[0].startswith(b"#"):
            return
        kinds: dict[bytes, Callable[[list[bytes]], str]] = {
            b"log": self._log,
            b"witness": self._witness,
            b"group": self._group,
            b"quorum": self._quorum,
        }
        kind = kinds.get(words[0])
        problem = "expected log, witness, group or quorum" if kind is None else kind(words[1:])
        if problem:
            raise _broken(f"line {number}: {problem}")

    def _log(self, words: list[bytes]) -> str:
        if len(words) not in {1, 2}:
            return "expected `log VKEY [URL]`"
        key = Vkey.parse(_text(words[0]))
        if any(key.public == known.public for known in self.logs):
            return "this key of a log is there already"
        self.logs.append(key)
        return ""

    def _witness(self, words: list[bytes]) -> str:
        if len(words) not in {2, 3}:
            return "expected `witness NAME VKEY [URL]`"
        key = WitnessKey.parse(_text(words[1]))
        if any(key.public == known.public for known in self.witnesses.values()):
            return "this key of a witness is there already"
        problem = self._fresh(words[0])
        self.witnesses[words[0]] = key
        return problem

    def _group(self, words: list[bytes]) -> str:
        if len(words) < 3:
            return "expected `group NAME all|any|NUMBER MEMBER…`"
        name, threshold, *members = words
        problem = self._fresh(name) or next(filter(None, map(self._member, members)), "")
        number = _threshold(threshold, len(members))
        self.groups[name] = Group(number, tuple(members))
        return problem or ("" if number else f"expected all, any or 1 to {len(members)}")

    def _quorum(self, words: list[bytes]) -> str:
        if len(words) != 1 or self.quorum is not None:
            return "expected one `quorum NAME`"
        self.quorum = words[0]
        return "" if words[0] == _NONE else self._known(words[0])

    def _fresh(self, name: bytes) -> str:
        taken = name == _NONE or name in self.witnesses or name in self.groups
        return f"the name {_shown(name)} is taken" if taken else ""

    def _known(self, name: bytes) -> str:
        known = name in self.witnesses or name in self.groups
        return "" if known else f"{_shown(name)} is not defined before"

    def _member(self, name: bytes) -> str:
        """Take a name into a group; in a second one, one witness would count twice."""
        if name in self._grouped:
            return f"{_shown(name)} is a member already"
        self._grouped.add(name)
        return self._known(name)


def _threshold(word: bytes, members: int) -> int:
    """Return how many members are asked for; 0 for what is none."""
    number = {b"all": members, b"any": 1}.get(word, 0)
    if _THRESHOLD.match(word):
        number = int(word)
    return number if number <= members else 0


def _text(word: bytes) -> str:
    """Return the word of a key; what is no UTF-8 is none."""
    return word.decode("utf-8", "replace")


def _shown(name: bytes) -> str:
    return repr(_text(name))


def _broken(reason: str) -> IntegrityError:
    return IntegrityError(f"policy: {reason}", code="ledger.policy")
