"""`ghost upgrade`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ghost_cli.upgrade.installer import Installation
from ghost_core.version import __version__
from support.certs import Certs
from support.commands import Command
from support.index import PackageIndex, wheel


@pytest.fixture
def ghost(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    certs: Certs,
    monkeypatch: pytest.MonkeyPatch,
) -> Command:
    monkeypatch.setenv("GHOST_PROXY__UPSTREAM_CA", str(certs.ca))
    return Command(capsys, tmp_path)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment whose Python notes what it is called with and takes the version of the wheel it gets."""
    python = tmp_path / "python"
    python.write_text(
        f"""#!/bin/sh
cd {tmp_path}
case "$*" in
  *version*) cat answer ;;
  *) printf '%s\\n' "$@" > called
     cp "$5" installed.whl
     name=${{5##*/ghost_ledger-}}
     printf '{{"version": "%s"}}' "${{name%-py3-none-any.whl}}" > answer ;;
esac
"""
    )
    python.chmod(0o755)
    made = Installation(python, tmp_path, "pip")
    monkeypatch.setattr(Installation, "here", classmethod(lambda cls: made))
    return tmp_path


def test_a_newer_version_is_checked_and_installed(
    ghost: Command, index: PackageIndex, environment: Path
) -> None:
    data = index.offer("99.1")
    said = ghost("upgrade", "--index", index.url, "--json").json
    assert (said["schema"], said["from"], said["to"]) == ("ghost/upgrade/v1", __version__, "99.1")
    assert (said["installed"], said["installer"]) == (True, "pip")
    assert (environment / "installed.whl").read_bytes() == data
    *words, file = (environment / "called").read_text().splitlines()
    assert words == ["-m", "pip", "install", "--upgrade"]
    assert file.endswith("/ghost_ledger-99.1-py3-none-any.whl")
    assert not Path(file).exists()
    assert ghost("upgrade", "--index", index.url).out == "installed ghost 99.1 with pip\n"


def test_a_dry_run_downloads_and_installs_nothing(
    ghost: Command, index: PackageIndex, environment: Path
) -> None:
    index.offer("99.1")
    said = ghost("upgrade", "--index", index.url, "--dry-run")
    assert said.out.startswith("would install ghost 99.1: ")
    assert [path for path, _ in index.asked] == ["/simple/ghost-ledger/"]
    assert not (environment / "called").exists()
    assert ghost("upgrade", "--index", index.url, "--dry-run", "--json").json["installed"] is False


def test_the_newest_is_left_as_it_is(
    ghost: Command, index: PackageIndex, environment: Path
) -> None:
    index.offer(__version__)
    assert f"ghost {__version__} is the newest of" in ghost("upgrade", "--index", index.url).out
    assert ghost("upgrade", "--index", index.url, "--json").json["newer"] is False
    assert not (environment / "called").exists()


def test_an_older_version_is_refused(
    ghost: Command, index: PackageIndex, environment: Path
) -> None:
    index.offer("0.0.1")
    said = ghost("upgrade", "--index", index.url, "--json", code=5)
    assert json.loads(said.err)["code"] == "upgrade.downgrade"
    assert not (environment / "called").exists()


@pytest.mark.parametrize("case", ["checksum", "inside"])
def test_a_wheel_that_is_another_is_not_installed(
    ghost: Command, index: PackageIndex, environment: Path, case: str
) -> None:
    if case == "checksum":
        index.offer("99.1", hashes={"sha256": "0" * 64})
    else:
        index.offer("99.1", wheel("99.1", inside="0.0.1"))
    ghost("upgrade", "--index", index.url, code=7)
    assert not (environment / "called").exists()


def test_an_installer_that_did_something_else_is_told(
    ghost: Command, index: PackageIndex, environment: Path
) -> None:
    index.offer("99.1")
    (environment / "python").write_text("#!/bin/sh\nexit 0\n")
    assert (
        "expected ghost 99.1, found none that answers"
        in ghost("upgrade", "--index", index.url, code=1).err
    )


def test_without_a_network_nothing_happens_and_it_is_exit_4(
    ghost: Command, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "localhost")
    said = ghost("upgrade", "--index", "https://localhost:1/simple/", code=4)
    assert "cannot be reached, Connection refused" in said.err
    assert "hint: nothing was changed" in said.err
    assert not (environment / "called").exists()


def test_an_index_must_be_named_and_be_https(
    ghost: Command, index: PackageIndex, environment: Path, home: Path
) -> None:
    assert "upgrade.index" in ghost("upgrade", code=3).err
    ghost("upgrade", "--index", "http://localhost/simple/", code=4)
    home.mkdir(mode=0o700)
    (home / "ghost.toml").write_text(f'[upgrade]\nindex = "{index.url}"\n')
    index.offer(__version__)
    assert "is the newest of" in ghost("upgrade").out


def test_a_projects_file_cannot_name_an_index(
    ghost: Command, index: PackageIndex, environment: Path, tmp_path: Path
) -> None:
    (tmp_path / "ghost.toml").write_text(f'[upgrade]\nindex = "{index.url}"\n')
    assert "no index is named" in ghost("upgrade", code=3).err
    assert index.asked == []


def test_what_was_built_from_sources_is_left_to_git(
    ghost: Command, index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.offer(__version__)
    monkeypatch.setenv("GHOST_UPGRADE__INDEX", index.url)
    for editable in (False, True):
        made = Installation(tmp_path / "python", tmp_path, "pip", "file:///src/ghost", editable)
        monkeypatch.setattr(Installation, "here", classmethod(lambda cls, made=made: made))
        assert "was installed from 'file:///src/ghost'" in ghost("upgrade", code=4).err
        ghost("upgrade", "--index", index.url, code=4 if editable else 0)
