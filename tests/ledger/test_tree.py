from __future__ import annotations

import base64
from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import IntegrityError
from ghost_ledger import tree
from ghost_ledger.tree import EMPTY, Frontier, leaf_hash, node_hash, root

# The eight leaves that Certificate Transparency implementations share, and the roots of 1 to 8.
INPUTS = [
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
]  # fmt: skip
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
LEAVES = [leaf_hash(bytes.fromhex(text)) for text in INPUTS]
SIZES = st.integers(1, 70)


def leaves(count: int) -> list[bytes]:
    return [leaf_hash(number.to_bytes(2, "big")) for number in range(count)]


def grown(hashes: list[bytes]) -> Frontier:
    frontier = Frontier()
    for item in hashes:
        frontier = frontier.append(item)
    return frontier


def refused(check, *arguments) -> None:
    with pytest.raises(IntegrityError) as caught:
        check(*arguments)
    assert caught.value.code == "ledger.proof"


@pytest.mark.parametrize("size", range(1, 9))
def test_the_well_known_roots_are_reproduced(size: int):
    assert root(LEAVES[:size]).hex() == ROOTS[size - 1]
    assert grown(LEAVES[:size]).root().hex() == ROOTS[size - 1]


def test_the_root_of_nothing_is_the_hash_of_nothing():
    assert sha256(b"").digest() == EMPTY
    assert root([]) == Frontier().root() == EMPTY


def test_a_published_consistency_proof_verifies():
    path = [
        "lqKW0iTyhcZ77pPDD4owkVfw2qNdxbh+QQt4YwoJz8c=",
        "Xwg/ChozygdqlSeYMlgNs+DvRYS9/x9UyKNg9Q3jAx4=",
        "a0eq8p7jwq+a+Im8H7klTavTEXfxYjLdaqsDXKOb9uQ=",
    ]
    proof = tuple(base64.b64decode(item) for item in path)
    assert tree.consistency_proof(LEAVES, 1, 8) == proof
    tree.verify_consistency(1, 8, proof, bytes.fromhex(ROOTS[0]), bytes.fromhex(ROOTS[7]))


def test_a_duplicated_last_leaf_changes_the_root():
    assert root(LEAVES[:3]) != root([*LEAVES[:3], LEAVES[2]])


def test_an_inner_node_does_not_pass_for_a_leaf():
    inner = LEAVES[0] + LEAVES[1]
    assert leaf_hash(inner) != node_hash(LEAVES[0], LEAVES[1])
    above = tree.inclusion_proof(LEAVES[:4], 0, 4)[1:]
    refused(tree.verify_inclusion, leaf_hash(inner), 0, 2, above, root(LEAVES[:4]))


@given(st.lists(st.binary(max_size=3), max_size=40))
def test_appending_one_by_one_gives_the_root_of_the_whole(data: list[bytes]):
    hashes = [leaf_hash(item) for item in data]
    frontier = grown(hashes)
    assert frontier.size == len(hashes)
    assert frontier.root() == root(hashes)
    assert Frontier.decode(frontier.encode()) == frontier


@given(SIZES, st.data())
def test_every_leaf_has_a_proof_of_inclusion(size: int, data):
    hashes, index = leaves(size), data.draw(st.integers(0, size - 1))
    proof = tree.inclusion_proof(hashes, index, size)
    tree.verify_inclusion(hashes[index], index, size, proof, root(hashes))


@given(SIZES, st.data())
def test_every_prefix_has_a_proof_of_consistency(size: int, data):
    hashes, old = leaves(size), data.draw(st.integers(1, size))
    proof = tree.consistency_proof(hashes, old, size)
    tree.verify_consistency(old, size, proof, root(hashes[:old]), root(hashes))


@given(st.integers(2, 70), st.data())
def test_a_changed_leaf_in_the_prefix_breaks_consistency(size: int, data):
    hashes, old = leaves(size), data.draw(st.integers(1, size - 1))
    forged = [leaf_hash(b"forged"), *hashes[1:old]]
    proof = tree.consistency_proof(hashes, old, size)
    refused(tree.verify_consistency, old, size, proof, root(forged), root(hashes))


@given(st.integers(2, 70), st.data())
def test_a_proof_fits_no_other_index_and_no_other_leaf(size: int, data):
    hashes = leaves(size)
    index, other = data.draw(
        st.lists(st.integers(0, size - 1), min_size=2, max_size=2, unique=True)
    )
    proof = tree.inclusion_proof(hashes, index, size)
    refused(tree.verify_inclusion, hashes[index], other, size, proof, root(hashes))
    refused(tree.verify_inclusion, hashes[other], index, size, proof, root(hashes))


@given(st.integers(1, 70), st.data())
def test_stored_subtrees_serve_as_well_as_leaves(size: int, data):
    hashes = leaves(size)
    index, old = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, size))

    def nodes(level: int, at: int) -> bytes:
        perfect = hashes[at << level : (at + 1) << level]
        assert len(perfect) == 1 << level
        return root(perfect)

    assert tree.inclusion_proof(nodes, index, size) == tree.inclusion_proof(hashes, index, size)
    assert tree.consistency_proof(nodes, old, size) == tree.consistency_proof(hashes, old, size)


@pytest.mark.parametrize(("index", "size"), [*pairwise(range(9))])
def test_inclusion_paths_of_another_length_are_refused(index: int, size: int):
    hashes = LEAVES[:size]
    proof, top = tree.inclusion_proof(hashes, index, size), root(hashes)
    refused(tree.verify_inclusion, hashes[index], index, size, (*proof, top), top)
    if proof:
        refused(tree.verify_inclusion, hashes[index], index, size, proof[:-1], top)


@pytest.mark.parametrize("size", [31, 33, 0])
def test_a_hash_of_another_length_is_refused(size: int):
    good = tree.inclusion_proof(LEAVES, 0, 8)
    refused(tree.verify_inclusion, LEAVES[0], 0, 8, (*good[:2], bytes(size)), root(LEAVES))
    refused(tree.verify_consistency, 4, 8, (bytes(size),), root(LEAVES[:4]), root(LEAVES))
    refused(tree.verify_inclusion, bytes(size), 0, 8, good, root(LEAVES))


def test_more_hashes_than_any_tree_needs_are_refused():
    refused(tree.verify_inclusion, LEAVES[0], 0, 8, [EMPTY] * 64, EMPTY)


@pytest.mark.parametrize(("index", "size"), [(8, 8), (9, 8), (-1, 8), (0, 0), (0, 2**53 + 1)])
def test_an_index_outside_the_tree_is_refused(index: int, size: int):
    refused(tree.verify_inclusion, LEAVES[0], index, size, (), LEAVES[0])
    if size < 9:
        refused(tree.inclusion_proof, LEAVES, index, size)


@pytest.mark.parametrize(("old", "new"), [(0, 8), (0, 0), (8, 7), (-1, 8)])
def test_sizes_out_of_order_are_refused(old: int, new: int):
    refused(tree.verify_consistency, old, new, (), EMPTY, EMPTY)
    refused(tree.consistency_proof, LEAVES, old, new)


def test_one_size_with_two_roots_is_a_fork():
    tree.verify_consistency(3, 3, (), root(LEAVES[:3]), root(LEAVES[:3]))
    refused(tree.verify_consistency, 3, 3, (), root(LEAVES[:3]), root(LEAVES[1:4]))
    refused(tree.verify_consistency, 3, 3, (EMPTY,), root(LEAVES[:3]), root(LEAVES[:3]))


@pytest.mark.parametrize("old", range(1, 8))
def test_consistency_proofs_of_another_length_are_refused(old: int):
    proof = tree.consistency_proof(LEAVES, old, 8)
    ends = root(LEAVES[:old]), root(LEAVES)
    refused(tree.verify_consistency, old, 8, (*proof, EMPTY), *ends)
    refused(tree.verify_consistency, old, 8, proof[:-1], *ends)
    refused(tree.verify_consistency, old, 8, (), *ends)


def test_a_tail_that_was_never_merged_into_the_tree_proves_nothing():
    grafted = [*LEAVES[:5], leaf_hash(b"grafted"), LEAVES[6], LEAVES[7]]
    proof = tree.consistency_proof(LEAVES, 6, 8)
    refused(tree.verify_consistency, 6, 8, proof, root(grafted[:6]), root(LEAVES))


@pytest.mark.parametrize(
    "data",
    [b"", bytes(7), (1).to_bytes(8, "big"), (1).to_bytes(8, "big") + bytes(31), bytes(40),
     (2**53).to_bytes(8, "big") + bytes(32)],
)  # fmt: skip
def test_a_frontier_whose_hashes_do_not_fit_its_size_is_refused(data: bytes):
    refused(Frontier.decode, data)


def test_a_frontier_of_negative_size_is_refused():
    refused(Frontier, -1, (EMPTY,))


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_frontier_takes_no_leaf_of_another_length(size: int):
    refused(Frontier().append, bytes(size))
