from __future__ import annotations

from pathlib import Path

import pytest

from ghost_cli.main import main
from ghost_cli.pinned import log_keys, pinned
from ghost_core.errors import UsageError
from support.bundles import Log

GOOD = Log().vkey.format()
BAD = [
    "",
    "nonsense",
    GOOD.partition("+")[0],
    GOOD[:-4],
    f"ed25519_public_{'0' * 64}",
    "ed25519_public_12",
]


@pytest.mark.parametrize("text", [GOOD, f"ed25519_public_{'58' + '66' * 31}"])
def test_a_key_is_taken_as_it_is(text: str) -> None:
    assert pinned(text) == text


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_key_is_the_callers_mistake(text: str) -> None:
    with pytest.raises(UsageError, match="^--key: no key ") as caught:
        pinned(text)
    assert caught.value.code == "usage.key"


@pytest.mark.parametrize(
    "words",
    [
        ["verify", "missing.ghost", "--key", GOOD, "--key", "nonsense"],
        ["replay", "--all", "--key", ""],
        ["ledger", "export", "--format", "jsonl", "--key", ""],
    ],
)
def test_no_command_goes_on_with_another_key(
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GHOST_HOME", str(tmp_path))
    assert main(words) == 2
    shown = capsys.readouterr()
    assert "--key: no key" in shown.err
    assert shown.out == ""


def test_keys_of_logs_are_read_and_what_is_none_is_the_callers_mistake() -> None:
    assert log_keys([GOOD]) == [Log().vkey]
    for text in BAD:
        with pytest.raises(UsageError, match="^--log: no key ") as caught:
            log_keys([GOOD, text])
        assert "ghost bundle" in (caught.value.hint or "")
