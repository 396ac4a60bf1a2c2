"""Word pieces, as the tokenizer of the model makes them (values of the package `tokenizers` 0.23.3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_memory.embedding.pieces import Splitter, words
from ghost_memory.embedding.static import FOLDER

NAMES = (FOLDER / "vocabulary.txt").read_text("utf-8").split("\n")[:-1]
SPLITTER = Splitter({name: number for number, name in enumerate(NAMES)})


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (
            "The mainnet cardano-node listens on TCP port 3001.",
            [
                1996,
                2364,
                7159,
                4003,
                6761,
                1011,
                13045,
                4952,
                2015,
                2006,
                22975,
                2361,
                3417,
                3998,
                2487,
                1012,
            ],
        ),
        (
            "user_id != NULL && x >= 0x1F",
            [
                5310,
                1035,
                8909,
                999,
                1027,
                19701,
                1004,
                1004,
                1060,
                1028,
                1027,
                1014,
                2595,
                2487,
                2546,
            ],
        ),
        (
            "Gr\xf6\xdfe der \xc4-Datei: na\xefve Caf\xe9",
            [24665, 2080, 17499, 4315, 1037, 1011, 3058, 2072, 1024, 15743, 7668],
        ),
        (
            "don't re-run `make check`!",
            [2123, 1005, 1056, 2128, 1011, 2448, 1036, 2191, 4638, 1036, 999],
        ),
        ("/srv/app/ghost.toml", [1013, 5034, 2615, 1013, 10439, 1013, 5745, 1012, 3419, 2140]),
        (
            "pneumonoultramicroscopicsilicovolcanoconiosis",
            [
                1052,
                2638,
                2819,
                17175,
                11314,
                6444,
                2594,
                7352,
                26461,
                27572,
                11261,
                6767,
                15472,
                6761,
                8663,
                10735,
                2483,
            ],
        ),
        (
            "\u6f22\u5b57\u3068\u304b\u306a\u3001\u6df7\u305c\u308b",
            [1904, 1666, 30177, 30193, 1635, 1659, 30213],
        ),
        (
            "\ud55c\uad6d\uc5b4 \uba54\ubaa8",
            [1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008, 1459, 30009, 29995, 30011],
        ),
        (
            "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440",
            [1194, 16856, 10325, 25529, 15290, 22919, 1010, 1191, 10325, 16856],
        ),
        ("tab\tand\nnew line\x00nul\ufffd", [21628, 1998, 2047, 17517, 5313]),
        ("a\u0301e\u0300 \u200b zero", [29347, 5717]),
        ("192.168.9.150:8402", [17613, 1012, 16923, 1012, 1023, 1012, 5018, 1024, 28122, 2475]),
        ("", []),
        ("   ", []),
        ("!?", [999, 1029]),
        ("\U0001f600 smile", [2868]),
        ("\u0130stanbul \xdf \u017f", [9960, 1096]),
        ("fi ligature \ufb01", [10882, 8018, 11244, 1984]),
        (
            "C++ \xa74 \u20ac5 \xb9\xb2 \xbd",
            [1039, 1009, 1009, 1073, 1018, 1574, 2629, 1088, 10701, 1092],
        ),
        ("~^`|<>$+=", [1066, 1034, 1036, 1064, 1026, 1028, 1002, 1009, 1027]),
    ],
)
def test_text_splits_as_the_model_was_trained(text: str, numbers: list[int]) -> None:
    assert SPLITTER.split(text) == numbers


def test_a_word_of_more_than_a_hundred_characters_has_no_pieces() -> None:
    assert SPLITTER.split("x" * 100) != []
    assert SPLITTER.split("x" * 101 + " the") == SPLITTER.split("the")


@given(st.text())
def test_any_text_splits_and_an_ascii_text_the_same_in_both_ways(text: str) -> None:
    assert all(0 <= number < len(NAMES) for number in SPLITTER.split(text))
    plain = text.encode("ascii", "ignore").decode()
    assert words(plain) == words(plain + " ə")[:-1]


@given(st.text())
def test_case_and_accents_do_not_count(text: str) -> None:
    assert SPLITTER.split("Ärger " + text) == SPLITTER.split("arger " + text)
