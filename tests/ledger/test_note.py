from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import IntegrityError
from ghost_ledger import note
from ghost_ledger.note import Line, Vkey, open_note, sign_note, signature_line, split
from support.bundles import key

# The worked example of C2SP signed-note.
EXAMPLE_KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
EXAMPLE = """This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
""".encode()
# The example of Go's note package.
GO_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO = """If you think cryptography is the answer to your problem,
then you don't know what your problem is.

— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
""".encode()

NAME = "ghost.test/log"
KEY = key(1)
VKEY = Vkey(NAME, KEY.public)
TEXT = b"one\n\ntwo\n"
NOTE = sign_note(KEY, NAME, TEXT)
OTHER = Vkey("other.test", key(2).public)


def line(number: int, name: str = NAME, text: bytes = TEXT) -> bytes:
    signer = key(number)
    return signature_line(name, note.key_id(name, signer.public), signer.sign(text)).encode()


def refused(data: bytes, *keys: Vkey, code: str = "ledger.note") -> None:
    with pytest.raises(IntegrityError) as caught:
        open_note(data, keys)
    assert caught.value.code == code


@pytest.mark.parametrize(("vkey", "example"), [(EXAMPLE_KEY, EXAMPLE), (GO_KEY, GO)])
def test_published_examples_verify(vkey: str, example: bytes):
    text = open_note(example, [Vkey.parse(vkey)])
    assert text == example.rpartition(b"\n\n")[0] + b"\n"
    assert Vkey.parse(vkey).format() == vkey


def test_a_published_example_with_one_more_letter_does_not_verify():
    refused(
        EXAMPLE.replace(b"message", b"messages"), Vkey.parse(EXAMPLE_KEY), code="ledger.signature"
    )


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40))
def test_any_text_that_was_signed_opens_to_itself(text: str):
    data = f"{text}\n".encode()
    assert open_note(sign_note(KEY, NAME, data), [VKEY]) == data


def test_a_note_is_cut_at_its_last_empty_line():
    text, lines = split(NOTE)
    assert text == TEXT
    assert lines == (Line(NAME, VKEY.key_id, KEY.sign(TEXT)),)


def test_a_signature_of_an_unknown_key_is_ignored():
    assert open_note(NOTE + line(2, "other.test"), [VKEY]) == TEXT


@pytest.mark.parametrize(
    "stranger", [line(2), signature_line("other.test", VKEY.key_id, bytes(64)).encode()]
)
def test_a_line_that_shares_only_name_or_only_id_with_a_known_key_is_ignored(stranger: bytes):
    assert open_note(NOTE + stranger, [VKEY]) == TEXT


def test_one_failing_signature_of_a_known_key_rejects_the_note():
    failing = signature_line(NAME, VKEY.key_id, bytes(64)).encode()
    for data in (NOTE + failing, NOTE[: len(TEXT) + 1] + failing + line(1)):
        refused(data, VKEY, code="ledger.signature")
    refused(NOTE + line(2, "other.test", b"else\n"), VKEY, OTHER, code="ledger.signature")


def test_a_note_without_a_known_signature_is_rejected():
    refused(NOTE, OTHER, code="ledger.signature")
    refused(NOTE, code="ledger.signature")


def test_two_known_keys_may_both_sign():
    assert open_note(NOTE + line(2, "other.test"), [VKEY, OTHER]) == TEXT


def test_sixteen_lines_are_read_and_the_seventeenth_is_refused():
    assert open_note(NOTE + line(2, "other.test") * 15, [VKEY]) == TEXT
    refused(NOTE + line(2, "other.test") * 16, VKEY)


def test_a_note_of_exactly_the_limit_is_read_and_one_byte_more_is_refused():
    room = note.NOTE_LIMIT - len(sign_note(KEY, NAME, b""))
    text = b"x" * (room - 1) + b"\n"
    assert open_note(sign_note(KEY, NAME, text), [VKEY]) == text
    refused(sign_note(KEY, NAME, b"x" + text), VKEY)


def test_signature_lines_without_a_text_are_no_note():
    refused(line(1, text=b"\n"), VKEY)


@pytest.mark.parametrize("control", [b"\x00", b"\t", b"\r", b"\x1f"])
def test_a_control_character_is_refused(control: bytes):
    refused(sign_note(KEY, NAME, b"a" + control + b"\n"), VKEY)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"text\n",
        TEXT,
        NOTE[:-1],
        NOTE + b"\n",
        NOTE + b"\n\n",
        b"text\n\n",
        NOTE.replace("—".encode(), b"-"),
        NOTE.replace(b" ghost", b"  ghost"),
        NOTE.replace(NAME.encode(), b"gh+ost"),
        NOTE.replace(NAME.encode(), "gh\u2003ost".encode()),
        NOTE.replace(NAME.encode(), b""),
        NOTE.replace(b"one", b"\xff"),
        NOTE.replace(NAME.encode(), b"\xff"),
        TEXT + b"\n" + signature_line(NAME, VKEY.key_id, b"").encode(),
        TEXT + "\n— name not*base64\n".encode(),
        TEXT + "\n— name AAAAAAB=\n".encode(),
        TEXT + "\n— name é\n".encode(),
        NOTE[:-1] + b" more\n",
    ],
)
def test_what_is_not_a_note_is_refused(data: bytes):
    refused(data, VKEY)


def test_the_signature_of_a_known_key_has_exactly_64_bytes():
    for signature in (KEY.sign(TEXT) + b"\x00", KEY.sign(TEXT)[:-1]):
        data = TEXT + b"\n" + signature_line(NAME, VKEY.key_id, signature).encode()
        refused(data, VKEY, code="ledger.signature")


@given(st.integers(0, len(NOTE) * 8 - 1))
def test_every_flipped_bit_of_a_note_is_refused(bit: int):
    data = bytearray(NOTE)
    data[bit // 8] ^= 1 << bit % 8
    with pytest.raises(IntegrityError):
        open_note(bytes(data), [VKEY])


def test_a_key_line_reads_back_as_written():
    assert Vkey.parse(VKEY.format()) == VKEY


def test_the_key_id_binds_name_and_key():
    assert VKEY.key_id != Vkey("else", KEY.public).key_id != Vkey("else", key(2).public).key_id


def vkey_text(name: str, raw: bytes, shown: str | None = None) -> str:
    hashed = note.key_id(name, raw[1:]).hex() if shown is None else shown
    return f"{name}+{hashed}+{base64.b64encode(raw).decode()}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name",
        VKEY.format() + "\n",
        " " + VKEY.format(),
        VKEY.format().replace("ghost", "gh ost"),
        VKEY.format().replace("ghost", "gh+ost"),
        VKEY.format().replace("ghost", "host"),
        VKEY.format().removeprefix(NAME),
        VKEY.format().replace(VKEY.key_id.hex(), VKEY.key_id.hex().upper() + "a"),
        vkey_text(NAME, b"\x01" + KEY.public, "00000000"),
        vkey_text(NAME, b"\x02" + KEY.public),
        vkey_text(NAME, b"\x06" + KEY.public),
        vkey_text(NAME, b"\x01" + KEY.public[:31]),
        vkey_text(NAME, b"\x01" + KEY.public + b"\x00"),
        vkey_text(NAME, b"\x01\x01" + bytes(31)),
        vkey_text(NAME, b"\x01" + bytes.fromhex("eeff" + "ff" * 29 + "7f")),
        f"{NAME}+{VKEY.key_id.hex()}+AAA",
    ],
)
def test_a_key_line_that_is_wrong_in_any_part_is_refused(text: str):
    with pytest.raises(IntegrityError):
        Vkey.parse(text)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\u00a0b", "x" * 256])
def test_a_key_name_is_one_word_without_plus(name: str):
    with pytest.raises(IntegrityError) as caught:
        Vkey(name, KEY.public)
    assert caught.value.code == "ledger.key"
