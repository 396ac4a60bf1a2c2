"""The Merkle tree of RFC 6962 §2 over SHA-256: roots, the frontier of an append-only log, proofs.

Leaves and inner nodes are hashed under different prefixes, so one never passes for the other, and
an odd node is never duplicated (CVE-2012-2459).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from ghost_core.errors import IntegrityError

__all__ = [
    "EMPTY",
    "HASH_BYTES",
    "PROOF_LIMIT",
    "SIZE_LIMIT",
    "Frontier",
    "consistency_proof",
    "inclusion_proof",
    "leaf_hash",
    "node_hash",
    "root",
    "verify_consistency",
    "verify_inclusion",
]

type Nodes = Callable[[int, int], bytes]
"""Give the hash of the perfect subtree at (level, index): its leaves start at index << level."""

HASH_BYTES = 32
PROOF_LIMIT = 63
SIZE_LIMIT = 2**53
EMPTY = hashlib.sha256(b"").digest()
_SIZE_BYTES = 8


def leaf_hash(data: bytes) -> bytes:
    """Hash a leaf: SHA-256(0x00, data)."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash an inner node: SHA-256(0x01, left, right)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root(hashes: Sequence[bytes]) -> bytes:
    """Return the root over leaf hashes; `EMPTY` for none."""
    level = list(hashes)
    while len(level) > 1:
        paired = [node_hash(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
        level = paired + level[2 * len(paired) :]
    return level[0] if level else EMPTY


@dataclass(frozen=True, slots=True)
class Frontier:
    """The roots of the perfect subtrees of a log, largest first: all that appending needs."""

    size: int = 0
    hashes: tuple[bytes, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a number of hashes that is not the one of this size."""
        fits = 0 <= self.size < SIZE_LIMIT and len(self.hashes) == self.size.bit_count()
        if not fits or not all(len(item) == HASH_BYTES for item in self.hashes):
            raise _broken(f"a frontier of size {self.size} with {len(self.hashes)} hashes")

    def append(self, leaf: bytes) -> Frontier:
        """Return the frontier after one more leaf hash."""
        if len(leaf) != HASH_BYTES or self.size + 1 >= SIZE_LIMIT:
            raise _broken(f"a leaf of {len(leaf)} bytes after {self.size}")
        hashes, merged, size = list(self.hashes), leaf, self.size
        while size & 1:
            merged = node_hash(hashes.pop(), merged)
            size >>= 1
        return Frontier._of(self.size + 1, (*hashes, merged))

    @classmethod
    def _of(cls, size: int, hashes: tuple[bytes, ...]) -> Frontier:
        """Build one whose hashes are known to fit its size, without the check."""
        made = object.__new__(cls)
        object.__setattr__(made, "size", size)
        object.__setattr__(made, "hashes", hashes)
        return made

    def root(self) -> bytes:
        """Return the root of the whole tree."""
        if not self.hashes:
            return EMPTY
        result = self.hashes[-1]
        for left in reversed(self.hashes[:-1]):
            result = node_hash(left, result)
        return result

    def encode(self) -> bytes:
        """Return the size as 8 big-endian bytes, then the hashes."""
        return self.size.to_bytes(_SIZE_BYTES, "big") + b"".join(self.hashes)

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read `encode`'s form.

        Raises:
            IntegrityError: the number of hashes does not fit the size.
        """
        if len(data) < _SIZE_BYTES:
            raise _broken("a frontier of fewer than 8 bytes")
        steps = range(_SIZE_BYTES, len(data), HASH_BYTES)
        hashes = tuple(data[at : at + HASH_BYTES] for at in steps)
        return cls(int.from_bytes(data[:_SIZE_BYTES], "big"), hashes)


def inclusion_proof(leaf: Nodes | Sequence[bytes], index: int, size: int) -> tuple[bytes, ...]:
    """Return the audit path of a leaf, its sibling first (RFC 6962 §2.1.1).

    Raises:
        IntegrityError: the index is not in a tree of this size.
    """
    if not 0 <= index < size:
        raise _broken(f"index {index} is not in a tree of {size}")
    nodes = _nodes(leaf)
    start, path = 0, list[bytes]()
    while size > 1:
        half = _half(size)
        if index < half:
            path.append(_subtree(nodes, start + half, size - half))
            size = half
        else:
            path.append(_subtree(nodes, start, half))
            start, index, size = start + half, index - half, size - half
    return tuple(reversed(path))


def consistency_proof(leaf: Nodes | Sequence[bytes], size1: int, size2: int) -> tuple[bytes, ...]:
    """Return the proof that the tree of size1 is a prefix of the one of size2 (RFC 6962 §2.1.2).

    Raises:
        IntegrityError: size1 is zero or larger than size2.
    """
    if not 0 < size1 <= size2:
        raise _broken(f"no consistency between sizes {size1} and {size2}")
    nodes = _nodes(leaf)
    start, path, whole = 0, list[bytes](), True
    while size1 != size2:
        half = _half(size2)
        if size1 <= half:
            path.append(_subtree(nodes, start + half, size2 - half))
            size2 = half
        else:
            path.append(_subtree(nodes, start, half))
            start, size1, size2, whole = start + half, size1 - half, size2 - half, False
    if not whole:
        path.append(_subtree(nodes, start, size1))
    return tuple(reversed(path))


def verify_inclusion(
    leaf_hash: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes
) -> None:
    """Check an audit path (RFC 9162 §2.1.3.2).

    Raises:
        IntegrityError: the path does not lead from this leaf at this index to this root.
    """
    _check_hashes(leaf_hash, root, *proof)
    if not 0 <= index < size <= SIZE_LIMIT:
        raise _broken(f"index {index} is not in a tree of {size}")
    at, last, result = index, size - 1, leaf_hash
    for sibling in proof:
        if last == 0:
            raise _broken("an inclusion path that is too long")
        if at & 1 or at == last:
            result = node_hash(sibling, result)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            result = node_hash(result, sibling)
        at, last = at >> 1, last >> 1
    if last != 0:
        raise _broken("an inclusion path that is too short")
    if result != root:
        raise _broken(f"the inclusion path of index {index} does not lead to the root")


def verify_consistency(
    size1: int, size2: int, proof: Sequence[bytes], root1: bytes, root2: bytes
) -> None:
    """Check that the tree of size1 and root1 is a prefix of that of size2 and root2.

    RFC 9162 §2.1.4.2. A first size of zero proves nothing and is refused.

    Raises:
        IntegrityError: it is not, or the sizes are out of order.
    """
    _check_hashes(root1, root2, *proof)
    if not 0 < size1 <= size2 <= SIZE_LIMIT:
        raise _broken(f"no consistency between sizes {size1} and {size2}")
    if size1 == size2:
        if proof or root1 != root2:
            raise _broken(f"two roots for size {size1}")
        return
    path = [root1, *proof] if size1 & (size1 - 1) == 0 else list(proof)
    if not path:
        raise _broken("an empty consistency proof")
    old, new = _fold(size1 - 1, size2 - 1, path)
    if old != root1 or new != root2:
        raise _broken(f"size {size2} does not continue size {size1}")


def _fold(at: int, last: int, path: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Compute the old and the new root from one consistency path (steps 4-7 of the RFC)."""
    while at & 1:
        at, last = at >> 1, last >> 1
    old = new = path[0]
    for item in path[1:]:
        if last == 0:
            raise _broken("a consistency proof that is too long")
        if at & 1 or at == last:
            old, new = node_hash(item, old), node_hash(item, new)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            new = node_hash(new, item)
        at, last = at >> 1, last >> 1
    if last != 0:
        raise _broken("a consistency proof that is too short")
    return old, new


def _nodes(leaf: Nodes | Sequence[bytes]) -> Nodes:
    """Serve subtree hashes from a list of leaf hashes, where the caller has no stored nodes."""
    if callable(leaf):
        return leaf
    hashes = leaf
    return lambda level, index: root(hashes[index << level : (index + 1) << level])


def _subtree(nodes: Nodes, start: int, size: int) -> bytes:
    """Return the root over `size` leaves from an aligned start, out of perfect subtrees."""
    if size & (size - 1) == 0:
        level = size.bit_length() - 1
        return nodes(level, start >> level)
    half = _half(size)
    left = nodes(half.bit_length() - 1, start >> (half.bit_length() - 1))
    return node_hash(left, _subtree(nodes, start + half, size - half))


def _half(size: int) -> int:
    """Return the largest power of two below the size (RFC 6962's k)."""
    return 1 << (size - 1).bit_length() - 1


def _check_hashes(*hashes: bytes) -> None:
    if len(hashes) > PROOF_LIMIT + 2 or not all(len(item) == HASH_BYTES for item in hashes):
        raise _broken(f"a hash that has not {HASH_BYTES} bytes, or more than {PROOF_LIMIT} of them")


def _broken(reason: str) -> IntegrityError:
    return IntegrityError(f"tree: {reason}", code="ledger.proof")
