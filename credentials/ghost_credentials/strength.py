"""Whether a secret can be guessed: refusals of leaks, and redactions, tell whether a whole guess is right.

Nothing here says how strong a secret is, since that would be a part of it.
"""

from __future__ import annotations

import string
from math import log2

LEAST_BYTES = 16
LEAST_BITS = 64

_HEX = frozenset(string.hexdigits.encode())
_KINDS = (
    (26, frozenset(string.ascii_lowercase.encode())),
    (26, frozenset(string.ascii_uppercase.encode())),
    (10, frozenset(string.digits.encode())),
    (33, frozenset(string.punctuation.encode() + b" ")),
    (128, frozenset(range(128, 256))),
)
_RUNS = (-1, 0, 1)


def is_weak(secret: bytes) -> bool:
    """Tell whether a secret has under 16 bytes, or under about 64 bits.

    A byte counts as many bits as the kinds of characters in the secret allow. One that goes on with a run
    (`aaa`, `123`) or repeats what was there (`abcabc`) counts nothing. Words are not known.
    """
    return len(secret) < LEAST_BYTES or _fresh(secret) * log2(_alphabet(secret)) < LEAST_BITS


def _alphabet(secret: bytes) -> int:
    used = frozenset(secret)
    if used <= _HEX:
        return 16 if used - _KINDS[2][1] else 10
    return sum(size for size, kind in _KINDS if used & kind) or 1


def _fresh(secret: bytes) -> int:
    """Count the bytes that neither run on nor repeat."""
    seen: set[bytes] = set()
    found = 0
    for end in range(1, len(secret) + 1):
        piece = secret[max(0, end - 3) : end]
        runs = len(piece) == 3 and piece[2] - piece[1] == piece[1] - piece[0] in _RUNS
        found += not runs and piece not in seen
        seen.add(piece)
    return found
