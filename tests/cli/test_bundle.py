"""`ghost bundle` and `ghost bundle unpack`."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from ghost_cli import bundle as commands
from ghost_cli.main import main
from ghost_core import ids
from ghost_ledger import bundle
from ghost_ledger.bundle import Consistency, Disclosure
from ghost_ledger.cosignature import cosigned
from ghost_ledger.note import Vkey
from support import tsa
from support.bundles import Log
from support.cosigners import named, served, witness
from support.ledger import CLOSED, open_recorder, spawned
from support.processes import free_port


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder that is not the repository."""
    monkeypatch.chdir(tmp_path)


def _sealed(home: Path) -> tuple[str, str, str]:
    """Return the id of a sealed session, its key, and the key of its log."""
    with open_recorder(home) as recorder:
        owned = spawned(recorder)
        owned.act()
        recorder.seal(owned.sid, CLOSED)
        return owned.sid, owned.vkey, recorder.log_vkey


def test_a_bundle_verifies_without_the_home(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sid, vkey, log_vkey = _sealed(home)
    path = tmp_path / "a.ghost"
    assert main(["bundle", sid, "-o", str(path)]) == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    monkeypatch.setenv("GHOST_HOME", str(tmp_path / "nowhere"))
    assert main(["verify", str(path), "--key", vkey]) == 0
    assert main(["verify", str(path), "--key", log_vkey]) == 0


def test_who_kept_a_head_sees_that_the_log_continues_it(
    home: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    _sealed(home)
    assert main(["ledger", "head"]) == 0
    kept = tmp_path / "kept.head"
    kept.write_bytes(capfdbinary.readouterr().out)
    sid, _, log_vkey = _sealed(home)
    path, trusted = tmp_path / "a.ghost", ["--key", log_vkey, "--head", str(kept)]
    assert main(["bundle", sid, "-o", str(path)]) == 0
    assert main(["verify", str(path), *trusted]) == 8
    assert main(["bundle", sid, "-o", str(path), "--head", str(kept)]) == 0
    assert main(["verify", str(path), *trusted]) == 0


def test_a_head_that_cannot_be_read_packs_nothing(home: Path, tmp_path: Path) -> None:
    sid, _, _ = _sealed(home)
    path, other = tmp_path / "a.ghost", tmp_path / "other"
    assert main(["bundle", sid, "-o", str(path), "--head", str(other)]) == 4
    other.write_text("no head")
    assert main(["bundle", sid, "-o", str(path), "--head", str(other)]) == 7
    assert not path.exists()


def test_payloads_are_left_out_unless_disclosed(home: Path, tmp_path: Path) -> None:
    sid, vkey, _ = _sealed(home)
    plain, full = tmp_path / "plain.ghost", tmp_path / "full.ghost"
    assert main(["bundle", sid, "-o", str(plain)]) == 0
    assert main(["bundle", sid, "-o", str(full), "--disclose"]) == 0
    assert bundle.decode(plain.read_bytes()).disclosures == ()
    fields = {item.field for item in bundle.decode(full.read_bytes()).disclosures}
    assert fields == {"intent", "params", "response"}
    assert main(["verify", str(full), "--key", vkey]) == 0


def test_a_bundle_replaces_a_bundle_and_nothing_else(home: Path, tmp_path: Path) -> None:
    sid, _, _ = _sealed(home)
    path, notes = tmp_path / "a.ghost", tmp_path / "notes"
    for more in ([], ["--disclose"], []):
        assert main(["bundle", sid, "-o", str(path), *more]) == 0
    notes.write_text("mine")
    assert main(["bundle", sid, "-o", str(notes)]) == 4
    assert notes.read_text() == "mine"


def test_every_bundle_is_known_by_its_first_member() -> None:
    example = (Path(__file__).parents[2] / "docs/formats/example.ghost").read_bytes()
    made = bundle.decode(example)
    proof = Consistency(1, (b"a" * 32,))
    for each in (
        made,
        replace(made, disclosures=(), consistency=None),
        replace(made, disclosures=(), consistency=proof),
    ):
        assert bundle.encode(each).startswith(commands._STARTS)


def test_the_command_to_verify_is_printed(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sid, _, log_vkey = _sealed(home)
    assert main(["bundle", sid, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["file"] == f"{sid}.ghost"
    assert document["key"] == log_vkey
    assert document["verify"] == f"ghost verify {sid}.ghost --key {log_vkey}"
    assert (tmp_path / f"{sid}.ghost").is_file()


def test_an_open_session_is_packed_and_said_to_be_open(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_recorder(home) as recorder:
        sid = spawned(recorder).sid
    assert main(["bundle", sid]) == 0
    assert "not sealed: more may follow" in capsys.readouterr().out


def test_a_dash_writes_to_stdout(home: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    sid, *_ = _sealed(home)
    assert main(["bundle", sid, "-o", "-"]) == 0
    assert len(bundle.decode(capfdbinary.readouterr().out).entries) == 5


def test_an_unknown_session_is_missing(home: Path) -> None:
    _sealed(home)
    assert main(["bundle", ids.session_id()]) == 4


def test_a_link_is_not_followed(home: Path, tmp_path: Path) -> None:
    sid, *_ = _sealed(home)
    (tmp_path / "link").symlink_to(tmp_path / "target")
    assert main(["bundle", sid, "-o", str(tmp_path / "link")]) == 4
    assert not (tmp_path / "target").exists()


def test_unpacking_gives_the_parts_byte_for_byte(tmp_path: Path) -> None:
    session = Log().session().action().finish()
    path, folder = tmp_path / "a.ghost", tmp_path / "parts"
    path.write_bytes(bundle.encode(session.bundle()))
    assert main(["bundle", "unpack", str(path), "-o", str(folder)]) == 0
    assert sorted(item.name for item in folder.iterdir()) == [
        "000000-session.spawn.note",
        "000001-action.intent.note",
        "000002-action.outcome.note",
        "000003-session.closed.note",
        "000004-session.seal.note",
        "checkpoint",
        "seal.note",
        "seal.tlog-proof",
        "spawn.tlog-proof",
        "statement.intoto.jsonl",
    ]
    assert (folder / "000001-action.intent.note").read_bytes() == session.notes[1]
    assert (folder / "checkpoint").read_bytes() == session.log.head()
    assert (folder / "seal.note").read_bytes() == session.seal


@pytest.mark.parametrize("name", ["../evil", "/etc/x", "a/b", ".", "", "A", "x\x00y"])
def test_a_name_with_path_characters_is_refused(tmp_path: Path, name: str) -> None:
    hostile = Disclosure(0, name, b"\x00" * 32, b"payload")
    path, folder = tmp_path / "a.ghost", tmp_path / "parts"
    path.write_bytes(bundle.encode(Log().session().finish().bundle(disclosures=(hostile,))))
    assert main(["bundle", "unpack", str(path), "-o", str(folder)]) == 7
    assert not folder.exists()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    path, folder = tmp_path / "a.ghost", tmp_path / "parts"
    path.write_bytes(bundle.encode(Log().session().finish().bundle()))
    folder.mkdir()
    (folder / "mine").write_text("mine")
    assert main(["bundle", "unpack", str(path), "-o", str(folder)]) == 4
    assert [item.name for item in folder.iterdir()] == ["mine"]


def test_a_file_that_is_no_bundle_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "a.ghost"
    path.write_bytes(b"{}")
    assert main(["bundle", "unpack", str(path), "-o", str(tmp_path / "parts")]) == 7


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    assert main(["bundle", "unpack", str(tmp_path / "no"), "-o", str(tmp_path / "parts")]) == 4


def test_witnesses_are_asked_named_and_waited_for_shortly(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sid, _, log_vkey = _sealed(home)
    found, gone = witness(tmp_path / "w", [Vkey.parse(log_vkey)]), free_port()
    with served(found) as port:
        urls = [f"http://127.0.0.1:{port} {found.vkey.format()}"]
        urls.append(f"http://127.0.0.1:{gone} {named(1).format()}")
        text = f"allow_private = {[f'127.0.0.1:{each}' for each in (port, gone)]}\n"
        (home / "ghost.toml").write_text(f"[proxy]\n{text}[ledger]\nwitnesses = {urls}\n")
        assert main(["bundle", sid, "-o", "a.ghost"]) == 0
    out = capsys.readouterr().out
    assert f"witness {found.vkey.name}: signed\n" in out
    assert f"witness {named(1).name}: unreachable (receiver: cannot be reached" in out
    assert main(["bundle", sid, "-o", "b.ghost", "--json"]) == 0
    kept, missing = json.loads(capsys.readouterr().out)["witnesses"]
    assert (kept["state"], missing["state"]) == ("signed", "unreachable")
    assert kept["detail"].startswith("earlier, now unreachable: ")
    for name in ("a.ghost", "b.ghost"):
        made = bundle.decode((tmp_path / name).read_bytes())
        assert made.head is not None
        assert found.vkey in cosigned(made.head, [found.vkey])
        assert "unreachable" in str(made.hints)


def test_a_session_that_is_not_there_is_missing_with_witnesses_too(home: Path) -> None:
    _sealed(home)
    (home / "ghost.toml").write_text(
        f'[ledger]\nwitnesses = ["https://w.test {named(1).format()}"]\n'
    )
    assert main(["bundle", ids.session_id()]) == 4


def test_an_authority_stamps_the_head_and_whoever_trusts_it_verifies_that(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sid, vkey, _ = _sealed(home)
    authority = tsa.today()
    (tmp_path / "root.pem").write_bytes(authority.root.pem)
    with tsa.served(authority) as up:
        allowed = f"[proxy]\nallow_private = ['{up.authority}']\n"
        (home / "ghost.toml").write_text(allowed)
        assert main(["bundle", sid, "-o", "a.ghost", "--tsa", f"{up.url}/tsa"]) == 0
    assert "time stamp: there, judged by ghost verify --tsa-root FILE" in capsys.readouterr().out
    assert main(["verify", "a.ghost", "--key", vkey, "--tsa-root", "root.pem"]) == 0
    assert "  ✓ time        An authority that you trust saw the head" in capsys.readouterr().out
    assert main(["bundle", "unpack", "a.ghost", "-o", "parts"]) == 0
    made = bundle.decode((tmp_path / "a.ghost").read_bytes())
    assert (tmp_path / "parts" / "timestamp-0.tst").read_bytes() == made.timestamps[0]


def test_without_the_token_that_was_asked_for_no_file_is_written(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sid, *_ = _sealed(home)
    assert main(["bundle", sid, "-o", "a.ghost", "--tsa", "http://tsa.test/"]) == 5
    assert "time stamp: receiver: expected https" in capsys.readouterr().err
    assert not (tmp_path / "a.ghost").exists()
