"""The plain values of the decision core: a request, a reply, and a verdict about them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from ghost_hooks.target import Target

type Headers = tuple[tuple[bytes, bytes], ...]
type Outcome = Literal["allow", "deny", "flag", "quarantine"]

REASON_LIMIT = 300
_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def header(headers: Headers, name: bytes) -> str:
    """Return all values of a header joined by a comma, as latin-1; empty if there is none."""
    found = [value for key, value in headers if key.lower() == name]
    return b", ".join(found).decode("latin-1")


@dataclass(frozen=True, slots=True)
class Request:
    """What the agent asks for; `body` is None when it streams and nobody may look."""

    method: str
    target: Target
    headers: Headers = ()
    body: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the upstream answered, scrubbed; `body` is None when it went by as a stream."""

    status: int
    headers: Headers = ()
    body: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One answer of one gate; `status` is the HTTP status the agent sees, `ms` how long it took.

    `hint` tells the agent how to be allowed; entries do not hold it.
    """

    by: str
    rule: str
    allow: bool
    reason: str = ""
    code: str = ""
    status: int = 403
    hash: str = ""
    exit: int | None = None
    ms: int = 0
    verdict: Outcome | Literal[""] = ""
    labels: tuple[str, ...] = ()
    hint: str = ""

    def __post_init__(self) -> None:
        if not self.verdict:
            object.__setattr__(self, "verdict", "allow" if self.allow else "deny")

    @classmethod
    def yes(cls, by: str, rule: str, reason: str = "") -> Self:
        """Return an allowing verdict."""
        return cls(by, rule, allow=True, reason=reason)

    @classmethod
    def no(  # the parts of one verdict
        cls, by: str, rule: str, reason: str, *, code: str, status: int = 403, hint: str = ""
    ) -> Self:
        """Return a denying verdict."""
        return cls(by, rule, allow=False, reason=reason, code=code, status=status, hint=hint)

    def flagged(self) -> Verdict:
        """Return this denial as a flag: what streamed by cannot be taken back."""
        return replace(self, allow=True, verdict="flag")

    def entry(self) -> dict[str, str | int]:
        """Return the fields that go into a ledger entry; the reason is cut at 300 characters."""
        found: dict[str, str | int] = {
            "by": self.by,
            "rule": plain(self.rule),
            "verdict": self.verdict,
            "ms": self.ms,
        }
        if self.hash:
            found["hash"] = self.hash
        if self.exit is not None:
            found["exit"] = self.exit
        if self.reason:
            found["reason"] = plain(self.reason)
        return found


def plain(text: str) -> str:
    """Return the text on one line, without controls, at most 300 characters."""
    return _ODD.sub(" ", text)[:REASON_LIMIT]
