from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from ghost_core.errors import ConfigError
from ghost_core.settings_sources import parse
from ghost_core.settings_syntax import explained

SECRET = "sk_live_secret"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[proxy]\nport = 1\n[session]\n[proxy]\nhost = 'x'\n",
            ", line 4, column 7, [proxy] is there already (line 1)",
        ),
        ("[[a]]\nx = 1\n[a]\n", ", line 3, column 3, [a] is there already (line 1)"),
        (
            '[ tools . "a b" ]\n[tools."a b"]\n',
            ", line 2, column 13, [tools.a b] is there already (line 1)",
        ),
        ("proxy.port = 1\n[proxy]\n", ", line 2, column 7, [proxy] is there already"),
        ("a = 1\na = 2\n", ", line 2, column 6, a name is there a second time"),
        ("a = localhost\n", ", line 1, column 5, invalid value"),
        ('a = "x', ", end of document, unterminated string"),
        ("a b = 1\n", ", line 1, column 3, expected '=' after a key in a key/value pair"),
        ("[a\n", ", line 1, column 3, expected ']' at the end of a table declaration"),
        (
            "a = 1 2\n",
            ", line 1, column 7, expected newline or end of document after a statement",
        ),
        (f'a = "\\{SECRET}"\n', ", line 1, column 8"),
    ],
)
def test_the_place_and_the_rule_are_told(text: str, said: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError) as caught:
        tomllib.loads(text)
    assert explained(str(caught.value), text)[0] == said


@pytest.mark.parametrize(
    ("data", "said", "hint"),
    [
        (b"[a]\n[a]\n", "is no TOML, line 2, column 3, [a] is there already (line 1)", "the first"),
        (b"a = x\n", "is no TOML, line 1, column 5, invalid value", "text in quotes"),
        (b"\xff\n", "is no TOML", "expected UTF-8 text"),
    ],
)
def test_the_error_of_a_file_says_it_with_a_hint(data: bytes, said: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(data, Path("/x/ghost.toml"))
    assert caught.value.message == f"file '/x/ghost.toml': {said}"
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize("text", [f"a = {SECRET}", f'a = "{SECRET}', f"a = 1\na = '{SECRET}'\n]"])
def test_no_value_is_repeated(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text.encode(), Path("ghost.toml"))
    assert SECRET not in f"{caught.value.message}{caught.value.hint}"
