"""What the core says about a request line."""

from __future__ import annotations

from ghost_hooks.decision import Decision
from ghost_hooks.request import Verdict


def test_the_denial_is_the_first_verdict_that_does_not_allow() -> None:
    yes = Verdict.yes("scope", "a")
    no = Verdict.no("rule", "b", "no", code="rule.denied")
    assert Decision((yes, no), allowed=False, tool="a", action="b").denial is no
    assert Decision((yes,), allowed=True, tool="a", action="b").denial is None
