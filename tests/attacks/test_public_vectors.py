"""Our verdicts over the public edge vectors, each pinned: signatures, tree proofs, canonical text.

Where verifiers differ the verdict is ours on purpose, and stands here. Sources: tests/vectors/NOTICE.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ghost_core.errors import GhostError
from ghost_ledger import canonical, keys, tree

VECTORS = Path(__file__).parents[1] / "vectors"
# Of a bare signature, as libsodium has it. A key with a part of small order never gets as far, see below.
ACCEPTED = {
    ("low_order_component_R", "low_order_component_A"): 35,
    ("low_order_component_A",): 7,
    (): 1,
}
NO_HASHES = "consistency/additional/sizes-are-equal-one-and-proof-is-empty"
"""Valid elsewhere, but the roots in it are texts of twelve bytes."""


def accepts(check: Callable[..., object], *arguments: object) -> bool:
    try:
        check(*arguments)
    except GhostError:
        return False
    return True


def load(name: str) -> Any:
    return json.loads((VECTORS / name).read_text("utf-8"))


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (VECTORS / name).read_text("utf-8").splitlines()]


def test_wycheproof_is_answered_as_it_asks() -> None:
    found = [
        (test["tcId"], accepts(keys.verify, key, *map(bytes.fromhex, (test["msg"], test["sig"]))))
        for group in load("wycheproof_ed25519.json")["testGroups"]
        for key in [bytes.fromhex(group["publicKey"]["pk"])]
        for test in group["tests"]
    ]
    valid = [
        (test["tcId"], test["result"] == "valid")
        for group in load("wycheproof_ed25519.json")["testGroups"]
        for test in group["tests"]
    ]
    assert found == valid
    assert len(found) == 151


def test_edge_cases_of_curve_points_are_answered_as_ever() -> None:
    accepted = [each for each in load("cctv_ed25519.json") if verifies(each)]
    assert Counter(tuple(each["flags"] or ()) for each in accepted) == ACCEPTED
    named = {flag for each in accepted for flag in each["flags"] or ()}
    assert named.isdisjoint({"low_order_A", "low_order_R", "non_canonical_A", "non_canonical_R"})


def verifies(vector: dict[str, Any]) -> bool:
    key, signature = bytes.fromhex(vector["key"]), bytes.fromhex(vector["sig"])
    return accepts(keys.verify, key, vector["msg"].encode(), signature)


def test_no_key_of_an_edge_case_can_be_pinned() -> None:
    """A key is looked at as it is parsed: whoever pins one learns at once that it is none."""
    vectors = load("cctv_ed25519.json")
    refused = [
        each for each in vectors if not accepts(keys.check_public, bytes.fromhex(each["key"]))
    ]
    flags = {flag for each in vectors if each not in refused for flag in each["flags"] or ()}
    assert len(refused) > 500
    assert flags.isdisjoint({"low_order_A", "non_canonical_A", "low_order_component_A"})


def test_proofs_of_a_tree_are_answered_as_published() -> None:
    wrong = [each["file"] for each in lines("merkle.jsonl") if proves(each) is each["wantErr"]]
    assert wrong == [NO_HASHES]
    assert len(lines("merkle.jsonl")) == 196


def proves(vector: dict[str, Any]) -> bool:
    proof = [b64decode(each) for each in vector["proof"] or ()]
    if "leafHash" in vector:
        leaf, root = b64decode(vector["leafHash"] or ""), b64decode(vector["root"] or "")
        return accepts(
            tree.verify_inclusion, leaf, vector["leafIdx"], vector["treeSize"], proof, root
        )
    roots = (b64decode(vector[name] or "") for name in ("root1", "root2"))
    return accepts(tree.verify_consistency, vector["size1"], vector["size2"], proof, *roots)


def test_texts_of_rfc_8785_outside_our_profile_are_refused() -> None:
    for each in lines("jcs.jsonl"):
        assert not accepts(canonical.decode, each["input"].encode()), each["file"]
        assert not accepts(canonical.decode, each["output"].encode()), each["file"]


def test_strings_are_written_as_rfc_8785_has_them() -> None:
    for each in lines("jcs.jsonl"):
        for text in strings(json.loads(each["output"])):
            written = canonical.encode({"x": text}).removeprefix(b'{"x":').removesuffix(b"}")
            assert written.decode() in each["output"], each["file"]


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from strings(each)
