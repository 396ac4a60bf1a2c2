from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import IntegrityError
from ghost_ledger import checkpoint
from ghost_ledger.checkpoint import (
    Checkpoint,
    Proof,
    decode_proof,
    encode_proof,
    head_text,
    open_checkpoint,
    parse_checkpoint,
)
from support.bundles import ORIGIN, Log

ROOT = bytes(range(32))
HEAD = checkpoint.sign_checkpoint(Log().key, ORIGIN, 9, ROOT)
PROOF = Proof(3, (ROOT, bytes(32)), HEAD)
TEXT = encode_proof(PROOF)
ROOT_TEXT = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


def test_a_head_is_three_lines_under_the_log_key():
    assert HEAD.startswith(f"{ORIGIN}\n9\n{ROOT_TEXT}\n\n— {ORIGIN} ".encode())
    assert open_checkpoint(HEAD, [Log().vkey]) == Checkpoint(ORIGIN, 9, ROOT)


@given(st.integers(0, 2**53 - 1), st.binary(min_size=32, max_size=32))
def test_a_head_reads_back_as_written(size: int, root: bytes):
    assert parse_checkpoint(head_text(ORIGIN, size, root)) == Checkpoint(ORIGIN, size, root)


def test_a_head_of_another_key_is_refused():
    with pytest.raises(IntegrityError) as caught:
        open_checkpoint(HEAD, [Log(number=2).vkey])
    assert caught.value.code == "ledger.signature"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\n1\n",
        f"a\n1\n{ROOT_TEXT}",
        f"a\n1\n{ROOT_TEXT}\nextension\n",
        f"\n1\n{ROOT_TEXT}\n",
        f"a b\n1\n{ROOT_TEXT}\n",
        f"a+b\n1\n{ROOT_TEXT}\n",
        f"a\n01\n{ROOT_TEXT}\n",
        f"a\n-1\n{ROOT_TEXT}\n",
        f"a\n١\n{ROOT_TEXT}\n",
        f"a\n9007199254740992\n{ROOT_TEXT}\n",
        f"a\n1\n{ROOT_TEXT[:-1]}\n",
        "a\n1\nAAAA\n",
        '{"type":"session.spawn"}\n',
    ],
)
def test_what_is_not_origin_size_and_root_is_no_head(text: str):
    with pytest.raises(IntegrityError):
        parse_checkpoint(text.encode())


def test_a_head_that_is_not_utf8_is_refused():
    with pytest.raises(IntegrityError):
        parse_checkpoint(b"\xff\n1\n" + ROOT_TEXT.encode() + b"\n")


def test_a_proof_is_written_in_the_published_form():
    lines = ["c2sp.org/tlog-proof@v1", "index 3", ROOT_TEXT, "A" * 43 + "=", "", HEAD.decode()]
    assert "\n".join(lines) == TEXT
    assert decode_proof(TEXT) == PROOF


def test_a_proof_of_63_hashes_is_read():
    proof = Proof(0, (ROOT,) * 63, HEAD)
    assert decode_proof(encode_proof(proof)) == proof


@given(st.integers(0, 2**53 - 1), st.lists(st.binary(min_size=32, max_size=32), max_size=63))
def test_a_proof_reads_back_as_written(index: int, hashes: list[bytes]):
    proof = Proof(index, tuple(hashes), HEAD)
    assert decode_proof(encode_proof(proof)) == proof


@pytest.mark.parametrize(
    "text",
    [
        "",
        TEXT.replace("@v1", "@v2"),
        TEXT.replace("index 3\n", ""),
        TEXT.replace("index 3", "index 03"),
        TEXT.replace("index 3", "index -3"),
        TEXT.replace("index 3", "index 3 "),
        TEXT.replace("index 3", "extra AAAA\nindex 3"),
        TEXT.replace(ROOT_TEXT, "AAAA", 1),
        TEXT.replace(ROOT_TEXT, "é", 1),
        TEXT.replace("\n\n", "\n"),
        "c2sp.org/tlog-proof@v1\n\nindex 3",
        encode_proof(Proof(0, (ROOT,) * 64, HEAD)),
    ],
)
def test_what_is_not_a_proof_is_refused(text: str):
    with pytest.raises(IntegrityError):
        decode_proof(text)
