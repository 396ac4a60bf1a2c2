"""Cosignatures: what is signed, and that nothing else passes for it."""

from __future__ import annotations

import base64

import pytest

from ghost_core.errors import IntegrityError
from ghost_ledger import cosignature
from ghost_ledger.checkpoint import sign_checkpoint
from ghost_ledger.cosignature import WitnessKey, cosign, cosigned
from ghost_ledger.keys import verify
from ghost_ledger.note import Vkey, key_id, signature_line
from support.bundles import Log, key

NAME = "witness.test/1"
KEY = key(50)
WITNESS = WitnessKey(NAME, KEY.public)
OTHER = WitnessKey("witness.test/2", key(51).public)
HEAD = Log().session().finish().log.head()
TEXT = HEAD.partition(b"\n\n")[0] + b"\n"
SECONDS = 1_790_000_000
LINE = cosign(KEY, NAME, TEXT, SECONDS)


def refused(note: bytes, code: str = "ledger.cosignature") -> None:
    with pytest.raises(IntegrityError) as caught:
        cosigned(note, [WITNESS])
    assert caught.value.code == code


def test_a_cosignature_is_what_the_specification_says():
    raw = base64.b64decode(LINE.split(" ")[2])
    assert len(raw) == 4 + 8 + 64
    assert raw[:4] == key_id(NAME, KEY.public, b"\x04")
    assert int.from_bytes(raw[4:12], "big") == SECONDS
    verify(KEY.public, b"cosignature/v1\ntime 1790000000\n" + TEXT, raw[12:])


def test_a_cosigned_head_names_its_witness_and_time():
    found = cosigned(HEAD + LINE.encode(), [OTHER, WITNESS])
    assert {name.name: each.seconds for name, each in found.items()} == {NAME: SECONDS}
    assert found[WITNESS].line == LINE


def test_a_key_of_a_witness_is_none_of_a_log():
    assert WitnessKey.parse(WITNESS.format()) == WITNESS
    assert Vkey(NAME, KEY.public) != WITNESS
    assert Vkey(NAME, KEY.public).key_id != WITNESS.key_id
    for kind, text in ((Vkey, WITNESS.format()), (WitnessKey, Vkey(NAME, KEY.public).format())):
        with pytest.raises(IntegrityError):
            kind.parse(text)


def test_of_two_lines_the_earlier_counts():
    later = cosign(KEY, NAME, TEXT, SECONDS + 5)
    for lines in (LINE + later, later + LINE):
        assert cosigned(HEAD + lines.encode(), [WITNESS])[WITNESS].seconds == SECONDS


def test_lines_of_nobody_known_are_ignored():
    foreign = cosign(key(52), "witness.test/3", TEXT, SECONDS)
    renamed = signature_line(NAME, b"\0\0\0\0", b"x" * 72)
    assert cosigned(HEAD + (foreign + renamed).encode(), [WITNESS]) == {}
    assert cosigned(HEAD + (foreign + LINE).encode(), [WITNESS]).keys() == {WITNESS}


def test_one_failing_line_spoils_the_note():
    wrong = cosign(KEY, NAME, TEXT.replace(b"\n3\n", b"\n4\n"), SECONDS)
    refused(HEAD + wrong.encode())
    refused(HEAD + (LINE + wrong).encode())


def test_no_byte_of_a_cosignature_can_be_changed():
    raw = bytearray(base64.b64decode(LINE.split(" ")[2]))
    for at in range(4, len(raw)):
        for bit in range(8):
            changed = bytearray(raw)
            changed[at] ^= 1 << bit
            line = signature_line(NAME, bytes(changed[:4]), bytes(changed[4:]))
            refused(HEAD + line.encode())


def test_a_changed_key_id_is_nobodys():
    raw = base64.b64decode(LINE.split(" ")[2])
    for at in range(4):
        changed = bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
        line = signature_line(NAME, changed[:4], changed[4:])
        assert cosigned(HEAD + line.encode(), [WITNESS]) == {}


@pytest.mark.parametrize("length", [1, 8, 64, 71, 73, 136])
def test_another_length_is_no_cosignature(length: int):
    line = signature_line(NAME, WITNESS.key_id, b"\0" * length)
    refused(HEAD + line.encode())


def test_a_time_beyond_all_clocks_is_refused():
    line = signature_line(NAME, WITNESS.key_id, b"\xff" * 72)
    refused(HEAD + line.encode())


def test_the_signature_of_a_log_is_no_cosignature():
    note = sign_checkpoint(KEY, NAME, 1, b"r" * 32)
    assert cosigned(note, [WITNESS]) == {}


def test_low_order_keys_are_refused():
    with pytest.raises(IntegrityError):
        WitnessKey(NAME, b"\1" + bytes(31))


def test_the_types_of_keys_differ():
    assert cosignature.COSIGNATURE != Vkey.KIND
