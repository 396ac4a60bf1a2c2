"""The home's long-lived secrets."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ghost_core.errors import IntegrityError, UnavailableError
from ghost_core.paths import Home
from ghost_ledger import identity

CREATE = """
import sys
from pathlib import Path
from ghost_core.paths import Home
from ghost_ledger import identity
sys.stdin.readline()
sys.stdout.write(identity.log_key(Home(Path(sys.argv[1]))).public.hex())
"""


@pytest.fixture
def house(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").ensure()


def test_a_key_is_created_once_and_kept(house: Home):
    assert identity.log_key(house).public == identity.log_key(house).public
    assert identity.vault_key(house) == identity.vault_key(house)


def test_key_files_are_private(house: Home):
    identity.log_key(house)
    identity.vault_key(house)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in house.keys.iterdir()}
    assert modes == {0o600}


def test_nothing_else_is_left_in_the_folder(house: Home):
    identity.log_key(house)
    assert [path.name for path in house.keys.iterdir()] == ["log_key"]


def test_looking_for_the_log_key_creates_none(house: Home):
    assert identity.existing_log_key(house) is None
    assert list(house.keys.iterdir()) == []


def test_a_link_is_not_followed(house: Home, tmp_path: Path):
    (tmp_path / "elsewhere").write_bytes(b"k" * 32)
    (house.keys / "log_key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(IntegrityError) as caught:
        identity.log_key(house)
    assert caught.value.code == "keys.file"


@pytest.mark.parametrize(
    ("content", "mode"), [(b"k" * 31, 0o600), (b"k" * 33, 0o600), (b"k" * 32, 0o640)]
)
def test_a_key_file_of_another_size_or_mode_is_refused(house: Home, content: bytes, mode: int):
    path = house.keys / "vault_key"
    path.write_bytes(content)
    path.chmod(mode)
    with pytest.raises(IntegrityError) as caught:
        identity.vault_key(house)
    assert caught.value.code == "keys.file"


def test_a_folder_that_is_not_there_is_unwritable(tmp_path: Path):
    with pytest.raises(UnavailableError) as caught:
        identity.vault_key(Home(tmp_path / "none"))
    assert caught.value.code == "keys.unwritable"


def test_processes_that_start_at_once_agree_on_one_key(house: Home):
    command = [sys.executable, "-c", CREATE, str(house.root)]
    children = [
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ}
        )
        for _ in range(3)
    ]
    keys = {child.communicate("go\n", timeout=5)[0] for child in children}
    assert keys == {identity.log_key(house).public.hex()}


def test_the_key_of_a_witness_is_one_more_private_file(house: Home):
    assert not identity.has_witness_key(house)
    assert identity.witness_key(house).public == identity.witness_key(house).public
    assert identity.has_witness_key(house)
    assert identity.existing_log_key(house) is None
    assert stat.S_IMODE((house.keys / "witness_key").stat().st_mode) == 0o600


def test_the_next_key_takes_the_place_of_the_present_one(house: Home):
    old, new = identity.log_key(house).public, identity.next_log_key(house).public
    assert old != new == identity.next_log_key(house).public
    for public in (old, new):  # while it is being replaced, whichever rules is found
        key = identity.key_of_log(house, public)
        assert key is not None
        assert key.public == public
    assert (identity.replacing(house, old), identity.replacing(house, new)) == (False, True)
    identity.replace_log_key(house)
    assert identity.log_key(house).public == new
    assert identity.key_of_log(house, old) is None
    assert not identity.replacing(house, new)
    assert [path.name for path in house.keys.iterdir()] == ["log_key"]
    identity.replace_log_key(house)
    assert identity.log_key(house).public == new


def test_a_next_key_takes_the_place_of_one_that_is_lost(house: Home):
    new = identity.next_log_key(house).public
    identity.replace_log_key(house)
    assert identity.log_key(house).public == new
