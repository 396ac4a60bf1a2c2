"""Limits of an action: calls, request bytes and the sum of a field, counted per session elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal

from ghost_core.settings_tables import LimitSettings
from ghost_hooks.params import Json, Kind, UnreadableError
from ghost_hooks.request import Request, Verdict
from ghost_hooks.spelling import read_params
from ghost_hooks.when import UndecidableError, lookup, number, path_of

_ZERO = Decimal(0)
_TOO_MANY = 429
# An entry holds 18 digits on each side of the point; sums of such amounts stay exact in 60.
_DIGITS = 18
_EXACT = Context(prec=60)


@dataclass(frozen=True, slots=True)
class Spent:
    """What calls of one action have used: how many, request bytes, the sum of the limited field."""

    calls: int = 0
    bytes: int = 0
    sum: Decimal = _ZERO

    def __add__(self, other: Spent) -> Spent:
        total = _EXACT.add(self.sum, other.sum)
        return Spent(self.calls + other.calls, self.bytes + other.bytes, total)

    def __sub__(self, other: Spent) -> Spent:
        rest = _EXACT.subtract(self.sum, other.sum)
        return Spent(self.calls - other.calls, self.bytes - other.bytes, rest)


def limited(limits: LimitSettings | None) -> bool:
    """Tell whether anything is limited."""
    return limits is not None and any(
        each is not None for each in (limits.calls, limits.bytes, limits.sum)
    )


def cost(limits: LimitSettings, request: Request, kind: Kind | None) -> Spent:
    """Return what one call uses.

    Raises: UnreadableError for a streamed body, or a summed field that is missing, negative, no number,
    one of more than 18 digits before or after its point, or there in two spellings: then nobody can
    tell, or enter, what the call would spend.
    """
    if request.body is None:
        raise UnreadableError(
            "body: streams past a limit that counts it", code="params.streamed", status=500
        )
    amount = _ZERO
    if limits.sum is not None:
        field = limits.sum.field
        amount = _amount(read_params(request, kind, [path_of(field)]).values, field)
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
            hint = (
                f"a human can raise limits.{name} of {rule} in ghost.toml, or spawn a new session"
            )
            code = f"limit.{name}"
            return Verdict.no("limit", rule, reason, code=code, status=_TOO_MANY, hint=hint)
    return None


def _amount(values: Json, field: str) -> Decimal:
    try:
        found = number(lookup(values, path_of(field)))
    except UndecidableError as error:
        raise UnreadableError(
            f"params: expected a number in {field!r}, which is limited", code="params.limited"
        ) from error
    if not _can_be_entered(found):
        raise UnreadableError(
            f"params: expected a number of at most {_DIGITS} digits in {field!r}, which is limited",
            code="params.limited",
        )
    if found < 0:
        raise UnreadableError(
            f"params: expected no negative number in {field!r}", code="params.limited"
        )
    return found


def _can_be_entered(amount: Decimal) -> bool:
    exponent = amount.as_tuple().exponent
    return isinstance(exponent, int) and amount.adjusted() < _DIGITS and exponent >= -_DIGITS
