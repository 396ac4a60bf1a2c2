"""The rules in force are as fresh as the files they were read from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ghost_addons.governance import Governor
from ghost_addons.record import Keeping
from ghost_core import settings as configuration
from ghost_core.errors import ConfigError
from ghost_core.settings import Settings

SCOPES = ("GET https://api.test/**",)


@pytest.fixture
def config(home: Path) -> Path:
    """A configuration file with one setting."""
    home.mkdir(mode=0o700)
    file = home / "ghost.toml"
    file.write_text("[ledger]\npayload_limit = 10\n")
    file.chmod(0o600)
    return file


@pytest.fixture
def governor(config: Path) -> Governor:
    """A governor over that file, and over one that does not exist."""
    return Governor(configuration.load, [str(config), str(config.parent / "gone.toml")])


def counted(loads: list[Settings]) -> Callable[[], Settings]:
    def load() -> Settings:
        loads.append(configuration.load())
        return loads[-1]

    return load


def test_unchanged_files_are_read_once(config: Path) -> None:
    loads: list[Settings] = []
    governor = Governor(counted(loads), [str(config)])
    assert governor.in_force(SCOPES) is governor.in_force(SCOPES)
    assert len(loads) == 1


def test_a_change_holds_from_the_next_question_on(config: Path, governor: Governor) -> None:
    before = governor.in_force(SCOPES)
    config.write_text("[ledger]\npayload_limit = 2000\n")
    assert governor.in_force(SCOPES) is not before
    assert governor.keeping() == Keeping("full", 2000)


def test_a_broken_file_gives_no_rules_until_it_is_mended(config: Path, governor: Governor) -> None:
    governor.in_force(SCOPES)
    config.write_text("[ledger]\noops = 1\n")
    for _ in range(2):
        with pytest.raises(ConfigError):
            governor.in_force(SCOPES)
    assert governor.keeping() == Keeping("none", 0)
    config.write_text("[ledger]\npayloads = 'headers'\n")
    assert governor.keeping().policy == "headers"


def test_a_change_of_a_document_beside_it_holds_too(
    config: Path, governor: Governor, tmp_path: Path
) -> None:
    document = tmp_path / "api.yaml"
    document.write_text("paths: {/a: {get: {operationId: a}}}")
    config.write_text(f"[tools.t]\nbase_url = 'https://t.test'\nopenapi = '{document}'\n")
    before = governor.in_force(("t",))
    assert governor.in_force(("t",)) is before
    document.write_text("paths: {/a: {get: {operationId: other}}}")
    assert list(governor.in_force(("t",)).policy.catalogue.actions["t"]) == ["other"]
    document.unlink()
    for _ in range(2):
        with pytest.raises(ConfigError):
            governor.in_force(("t",))


def test_other_scopes_have_rules_of_their_own(governor: Governor) -> None:
    one, other = governor.in_force(SCOPES), governor.in_force(("PUT https://api.test/**",))
    assert one.policy.hash != other.policy.hash


def test_a_change_is_told_once_with_the_new_settings(config: Path) -> None:
    told: list[int] = []
    governor = Governor(
        configuration.load,
        [str(config)],
        on_change=lambda found: told.append(found.ledger.payload_limit),
    )
    for _ in range(2):
        governor.settings()
    config.write_text("[ledger]\npayload_limit = 2000\n")
    for _ in range(2):
        governor.settings()
    assert told == [10, 2000]
