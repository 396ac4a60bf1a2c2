"""What the decision core says about a request line, before any body is seen."""

from __future__ import annotations

from dataclasses import dataclass, field

from ghost_hooks.grants import Grant
from ghost_hooks.request import Verdict
from ghost_hooks.rules import Rule


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer of `Policy.judge`.

    `tool` and `action` are the names to record: host and method for a raw scope or a refusal.
    `credential` is the tool's; None with `raw` means the one whose hosts hold the target, None
    without it means that nothing is injected. `conditional` rules wait for the parameters. A `plain`
    one waits for nothing: no hook, schema, limit or condition is about this call. `policy` is the hash
    of what decided, where that hangs on no file of the hook folder.
    """

    verdicts: tuple[Verdict, ...]
    allowed: bool
    tool: str
    action: str
    credential: str | None = None
    needs_body: bool = False
    needs_reply: bool = False
    ghost_token: bool = False
    hint: str = ""
    raw: bool = False
    grant: Grant | None = field(default=None, repr=False)
    conditional: tuple[Rule, ...] = field(default=(), repr=False)
    plain: bool = False
    policy: str = ""

    @property
    def denial(self) -> Verdict | None:
        """The verdict that refused, if one did."""
        return next((each for each in self.verdicts if not each.allow), None)
