"""Limits of an action: calls, request bytes and the sum of a field, counted per session elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from ghost_core.settings_tables import LimitSettings
from ghost_hooks.params import Json, Kind, UnreadableError, of_request
from ghost_hooks.request import Request, Verdict
from ghost_hooks.when import UndecidableError, lookup, number, path_of

_ZERO = Decimal(0)
_TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class Spent:
    """What calls of one action have used: how many, request bytes, the sum of the limited field."""

    calls: int = 0
    bytes: int = 0
    sum: Decimal = _ZERO

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.calls + other.calls, self.bytes + other.bytes, self.sum + other.sum)


def limited(limits: LimitSettings | None) -> bool:
    """Tell whether anything is limited."""
    return limits is not None and any(
        each is not None for each in (limits.calls, limits.bytes, limits.sum)
    )


def cost(limits: LimitSettings, request: Request, kind: Kind | None) -> Spent:
    """Return what one call uses.

    Raises: UnreadableError for a streamed body, or a summed field that is missing, negative or no
    number: without it nobody can tell what the call would spend.
    """
    if request.body is None:
        raise UnreadableError(
            "body: streams past a limit that counts it", code="params.streamed", status=500
        )
    amount = _ZERO
    if limits.sum is not None:
        amount = _amount(of_request(request, kind).values, limits.sum.field)
    return Spent(1, len(request.body), amount)


def judge(limits: LimitSettings, spent: Spent | None, now: Spent, *, rule: str) -> Verdict | None:
    """Return the refusal of a call that would go over a limit.

    `spent` is what the session has used, unknown outcomes included; None means that nobody counts.
    """
    if spent is None:
        reason = "limits cannot be counted here: refused"
        return Verdict.no("limit", rule, reason, code="limit.uncounted", status=500)
    total = spent + now
    most = limits.sum.max if limits.sum is not None else None
    checks = (
        ("calls", total.calls, limits.calls),
        ("bytes", total.bytes, limits.bytes),
        ("sum", total.sum, most),
    )
    for name, used, limit in checks:
        if limit is not None and used > limit:
            reason = f"would go over the limit of this session: {name} {limit}"
            return Verdict.no("limit", rule, reason, code=f"limit.{name}", status=_TOO_MANY)
    return None


def _amount(values: Json, field: str) -> Decimal:
    try:
        found = number(lookup(values, path_of(field)))
    except UndecidableError as error:
        raise UnreadableError(
            f"params: expected a number in {field!r}, which is limited", code="params.limited"
        ) from error
    if found < 0:
        raise UnreadableError(
            f"params: expected no negative number in {field!r}", code="params.limited"
        )
    return found
