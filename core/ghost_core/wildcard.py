"""Path patterns as expressions whose time grows with the path alone, whatever an agent writes into it."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ONE_SEGMENT = "[^/]+"
_REST = r"(?:/.*)?"


def compiled(literals: Sequence[str], *, rest: bool, any_case: bool = False) -> re.Pattern[str]:
    """Return the expression of literals with one or more characters of a segment between them.

    With `rest` anything may follow behind a slash, with `any_case` letters stand for both cases. A wildcard
    takes as little as it can and is not tried again, since a longer one would leave the next one less; only
    the last has to reach the end.
    """
    first, *others = map(re.escape, literals)
    middle = [f"(?>{_ONE_SEGMENT}?{each})" for each in others[:-1]]
    last = [_ONE_SEGMENT + each for each in others[-1:]]
    tail = _REST if rest else ""
    flags = re.DOTALL | (re.IGNORECASE if any_case else re.NOFLAG)
    return re.compile("".join((first, *middle, *last, tail, r"\Z")), flags)
