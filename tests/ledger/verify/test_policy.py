"""The policy file: read strictly, and what its quorum asks for."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import IntegrityError
from ghost_ledger.note import Vkey
from ghost_ledger.verify.policy import POLICY_LIMIT, Policy
from support.bundles import Log, key
from support.cosigners import named

LOG = Log().vkey.format()
W = {number: f"witness w{number} {named(number).format()}" for number in range(1, 7)}

TWO_LEVELS = f"""# the example of the specification, with keys
log {LOG}

{W[1]}
\t{W[2]}\t
{W[3]} https://witness.example/prefix
group X-witnesses 2 w1 w2 w3

{W[4]}
{W[5]}
{W[6]}
group Y-witnesses any w4  w5\tw6

group X-and-Y all X-witnesses Y-witnesses
  # quorum none
quorum X-and-Y
"""


def read(text: str) -> Policy:
    return Policy.parse(text.encode())


def refused(text: str | bytes, why: str) -> None:
    with pytest.raises(IntegrityError) as caught:
        Policy.parse(text if isinstance(text, bytes) else text.encode())
    assert why in caught.value.message
    assert caught.value.code in {"ledger.policy", "ledger.key"}


@pytest.mark.parametrize(
    ("signed", "enough"),
    [
        ({1, 2, 4}, True),
        ({2, 3, 6}, True),
        ({1, 2, 3, 4, 5, 6}, True),
        ({1, 2, 3}, False),
        ({1, 4, 5, 6}, False),
        ({4}, False),
        (set(), False),
    ],
    ids=range(7),
)
def test_two_levels_of_groups(signed: set[int], enough: bool):
    policy = read(TWO_LEVELS)
    assert [each.format() for each in policy.logs] == [LOG]
    assert len(policy.witnesses) == 6
    assert policy.allows([named(number) for number in signed]) is enough


def test_a_quorum_of_one_witness():
    policy = read(f"{W[1]}\n{W[2]}\nquorum w2\n")
    assert not policy.allows([named(1)])
    assert policy.allows([named(2)])
    assert policy.logs == ()


def test_a_quorum_of_nobody():
    assert read("quorum none\n").allows([])


def test_names_are_opaque_bytes():
    kelvin, letter = "\u212a", "K"
    text = f"witness {kelvin} {named(1).format()}\nwitness {letter} {named(2).format()}\nquorum K\n"
    assert not read(text).allows([named(1)])
    raw = b"witness \xff\xfe " + named(1).format().encode() + b"\nquorum \xff\xfe\n"
    assert Policy.parse(raw).allows([named(1)])


def test_as_many_as_are_recommended():
    lines = [f"witness w{number} {named(number + 100).format()}" for number in range(32)]
    lines += [f"group g{number} 1 w{number}" for number in range(32)]
    members = " ".join(f"g{number}" for number in range(32))
    policy = read("\n".join([*lines, f"group all 32 {members}", "quorum all", ""]))
    everybody = [named(number + 100) for number in range(32)]
    assert policy.allows(everybody)
    assert not policy.allows(everybody[1:])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "newline"),
        ("quorum none", "newline"),
        ("\n", "quorum line"),
        (f"{W[1]}\n", "quorum line"),
        ("quorum none\nquorum none\n", "line 2: expected one"),
        ("quorum\n", "line 1"),
        ("quorum w1 w2\n", "line 1"),
        (f"quorum w1\n{W[1]}\n", "'w1' is not defined before"),
        ("quorum none\r\n", "control"),
        ("quorum none\x0b\n", "control"),
        ("Quorum none\n", "expected log"),
        ("quorum none # all\n", "line 1"),
        (f"log {LOG} a b\nquorum none\n", "expected `log"),
        ("log\nquorum none\n", "expected `log"),
        (f"log {LOG}\nlog {LOG}\nquorum none\n", "line 2: this key of a log"),
        (f"log {LOG}\nlog {Vkey('other', key(1).public).format()}\nquorum none\n", "line 2"),
        (f"log {named(1).format()}\nquorum none\n", "type 01"),
        (f"witness w1 {LOG}\nquorum none\n", "type 04"),
        ("witness w1\nquorum none\n", "expected `witness"),
        (f"{W[1]}\n{W[1]}\nquorum none\n", "line 2: this key of a witness"),
        (f"{W[1]}\nwitness w1 {named(2).format()}\nquorum none\n", "'w1' is taken"),
        (f"witness none {named(1).format()}\nquorum none\n", "'none' is taken"),
        (f"{W[1]}\ngroup w1 any w1\nquorum none\n", "'w1' is taken"),
        (f"{W[1]}\ngroup g any\nquorum none\n", "expected `group"),
        (f"{W[1]}\ngroup g 0 w1\nquorum none\n", "1 to 1"),
        (f"{W[1]}\ngroup g 2 w1\nquorum none\n", "1 to 1"),
        (f"{W[1]}\ngroup g 01 w1\nquorum none\n", "1 to 1"),
        (f"{W[1]}\ngroup g -1 w1\nquorum none\n", "1 to 1"),
        (f"{W[1]}\ngroup g some w1\nquorum none\n", "1 to 1"),
        (f"{W[1]}\ngroup g any w2\nquorum none\n", "'w2' is not defined"),
        (f"{W[1]}\ngroup g any none\nquorum none\n", "'none' is not defined"),
        (f"{W[1]}\ngroup g any g\nquorum none\n", "'g' is not defined"),
        (f"{W[1]}\ngroup g 2 w1 w1\nquorum none\n", "'w1' is a member already"),
        (f"{W[1]}\ngroup g any w1\ngroup h any w1\nquorum none\n", "'w1' is a member already"),
        ("#" * POLICY_LIMIT + "\nquorum none\n", "at most"),
    ],
    ids=range(35),
)
def test_everything_else_is_refused(text: str, why: str):
    refused(text, why)


@pytest.mark.parametrize("point", ["01" + "00" * 31, "00" * 32, "ec" + "ff" * 30 + "7f"])
@pytest.mark.parametrize("kind", ["log", "witness w"])
def test_keys_of_small_order_are_refused(kind: str, point: str):

    byte = b"\x01" if kind == "log" else b"\x04"
    raw = byte + bytes.fromhex(point)
    id_ = hashlib.sha256(b"name\n" + raw).digest()[:4].hex()
    refused(f"{kind} name+{id_}+{base64.b64encode(raw).decode()}\nquorum none\n", "prime-order")


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes):
    for each in (data, data + b"\nquorum none\n"):
        try:
            Policy.parse(each)
        except IntegrityError:
            continue
