"""Words of a text: whatever is asked, the full-text index understands the query."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ghost_memory import words

ASSIGNED = st.characters(exclude_categories=["Cs", "Cn", "Co"], exclude_characters="\0")
ANY = st.text(st.characters(), max_size=200)  # with lone surrogates and NUL


@pytest.fixture(scope="module")
def index() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE f USING fts5(content, tags, pairs, tokenize='porter unicode61')"
        )
        yield connection


def found(index: sqlite3.Connection, content: str, asked: str) -> bool:
    """Tell whether a text that is alone in the index is found by a query."""
    index.execute("DELETE FROM f")
    index.execute("INSERT INTO f VALUES (?, '', ?)", (content, words.pairs(content)))
    query = words.query(asked)
    return bool(query and index.execute("SELECT 1 FROM f WHERE f MATCH ?", (query,)).fetchall())


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        ("run the pre-edit check", "pre-edit"),
        ("memory:safe is a flag", "memory:safe"),
        ("see grammar::fa", "grammar::fa"),
        ('a "quoted word', '"quoted'),
        ("foo and bar", "foo AND"),
        ("near by", "NEAR("),
        ("python is used", "(python"),
        ("built with C++", "C++"),
        ("at 10 GB/s", "GB/s"),
        ("the answer", "answer?"),
        ("it's here", "it's"),
        ("a.b is a name", "a.b"),
        ("clang --error-on-warnings", "--error-on-warnings"),
        ("address 192.168.9.150", "192.168.9.150"),
        ("use sealed-secrets", "sealed-secrets"),
        ("prefix match", "prefix*"),
        ("snake_case_name here", "snake_case_name"),
        ("the café is open", "cafe"),
        ("Мы храним ключи в базе", "ключи базе"),
        ("Ωmega and ﬁnal", "final"),
        ("数据库连接池的大小是二十", "连接池"),
        ("数据库连接池的大小是二十", "大小"),
        ("データベースの接続", "接続"),
        ("在 gen-itgc 里有问题", "gen-itgc"),
        ("在gen-itgc里有问题", "gen-itgc"),
        ("我们把数据库的连接池调到二十", "请问数据库现在的连接池有多大呢"),
        ("서버를 다시 시작했다", "다시 시작"),
        ("黑猫白猫", "猫"),
        ("黑猫和狗", "狗"),
        ("one word only of many", "nothing here but word"),
        ("to be or not to be", "to be or not to be"),
    ],
)
def test_what_was_written_is_found(index: sqlite3.Connection, content: str, asked: str) -> None:
    assert found(index, content, asked)


@pytest.mark.parametrize("asked", ["", " ", "\0", "!?…", "*", '"', "''", "\ud800", "\u200b"])
def test_what_holds_no_word_asks_nothing(asked: str) -> None:
    assert words.query(asked) == ""
    assert words.terms(asked, limit=9) == []


@given(ANY)
@example("\ud800\0\"' OR NEAR( a:b ^ {c} - _ __")
def test_no_text_makes_a_query_that_the_index_refuses(index: sqlite3.Connection, text: str) -> None:
    for query in filter(
        None, (words.query(text), words.query(text, limit=1), *words.terms(text, limit=5))
    ):
        index.execute("SELECT 1 FROM f WHERE f MATCH ?", (query,)).fetchall()


@given(st.text(ASSIGNED, max_size=80))
def test_a_text_with_words_is_found_by_itself(index: sqlite3.Connection, text: str) -> None:
    if any(each.isascii() and each.isalnum() for each in text):
        assert found(index, text, text)


@given(ANY)
def test_nothing_about_words_can_fail(text: str) -> None:
    assert len(words.digest(text)) == 32
    assert all(len(each.encode("utf-8", "replace")) > 1 for each in words.tokens(text))
    assert words.normal(words.normal(text)) == words.normal(text) or not text.isascii()
    assert not words.pairs(text) or words.query(text)


def test_stop_words_are_left_out_unless_there_is_nothing_else() -> None:
    assert words.query("where is the Port of the proxy") == '"Port" OR "proxy"'
    assert words.query("where is it") == '"where" OR "is" OR "it"'


def test_a_word_counts_once_and_no_query_is_endless() -> None:
    assert words.query("port port proxy") == '"port" OR "proxy"'
    many = " ".join(f"word{number}" for number in range(100))
    assert words.query(many).count('"') == 2 * words.QUERY_WORDS
    assert len(words.terms(many, limit=words.PROBE_WORDS)) == words.PROBE_WORDS


def test_only_what_the_index_would_miss_is_written_twice() -> None:
    assert words.pairs("the port is 8402, snake_case, café") == ""
    assert words.pairs("用gen的") == "用 gen 的 用 的"
    assert words.pairs("连接池") == "连接 接池 池"
    assert words.pairs("10² ﬁn") == "102 fin"


def test_equal_texts_differ_in_spaces_only() -> None:
    assert words.digest(" the  port\nis 1 ") == words.digest("the port is 1")
    assert words.digest("cafe\u0301") == words.digest("caf\u00e9")
    for one, two in [("100 Mb", "100 MB"), ("10²", "102"), ("v1.2", "v1.3"), ("a b", "ab")]:
        assert words.digest(one) != words.digest(two)


def test_tokens_are_what_likeness_compares() -> None:
    assert words.tokens("The PORT is 8402, not a-b é") == {"the", "port", "is", "8402", "not", "é"}
