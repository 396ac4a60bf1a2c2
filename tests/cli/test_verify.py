"""`ghost verify`: offline, on files alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ghost_cli.main import main
from ghost_ledger import bundle
from ghost_ledger.export.table import csv_text
from ghost_templates.render import page
from support import tsa, views
from support.bundles import Log, Session
from support.cosigners import cosigned_bundle, policy_text


def _write(folder: Path, session: Session, name: str = "a.ghost") -> Path:
    path = folder / name
    path.write_bytes(bundle.encode(session.bundle()))
    return path


def _json(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    out = capsys.readouterr().out
    document: dict[str, Any] = json.loads(out)
    return document


@pytest.fixture
def session() -> Session:
    return Log().session().action().finish()


def test_a_sealed_session_verifies_under_the_log_key(
    tmp_path: Path, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _write(tmp_path, session)
    assert main(["verify", str(path), "--key", session.log.vkey.format()]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{path}: session {session.sid}, 5 entries\n")
    assert "  ✓ chain       No entry is missing, added or moved." in text
    assert text.endswith("Verified. Everything that was checked holds.\n")


@pytest.mark.parametrize("form", ["vkey", "ephemeral"])
def test_a_sealed_session_verifies_under_the_key_that_spawn_printed(
    tmp_path: Path, session: Session, form: str
) -> None:
    bare = f"ed25519_public_{session.key.public.hex()}"
    key = bare if form == "ephemeral" else session.vkey.format()
    assert main(["verify", str(_write(tmp_path, session)), "--key", key]) == 0


def test_the_axes_are_in_the_json(
    tmp_path: Path, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _write(tmp_path, session)
    assert main(["verify", str(path), "--key", session.vkey.format(), "--json"]) == 0
    document = _json(capsys)
    assert document["schema"] == "ghost/verify/v1"
    assert document["verdict"] == "valid"
    (file,) = document["files"]
    assert file["session_id"] == session.sid
    assert file["axes"]["signatures"] == {"state": "valid", "detail": "5 entries and the seal"}
    assert file["keys"] == [session.vkey.format()]


def test_without_a_key_the_best_verdict_is_incomplete(
    tmp_path: Path, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(_write(tmp_path, session))]) == 8
    text = capsys.readouterr().out
    assert "  … key         No key was pinned" in text
    assert "hint: ghost verify FILE --key KEY" in text


def test_another_key_is_broken(tmp_path: Path, session: Session) -> None:
    other = Log(number=2).vkey.format()
    assert main(["verify", str(_write(tmp_path, session)), "--key", other]) == 7


def test_an_open_session_is_incomplete(tmp_path: Path) -> None:
    session = Log().session().action()
    path = _write(tmp_path, session)
    assert main(["verify", str(path), "--key", session.vkey.format()]) == 8


def test_a_changed_byte_is_broken(
    tmp_path: Path, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _write(tmp_path, session)
    path.write_bytes(path.read_bytes().replace(b"create_payment_intent", b"create_payment_inteNt"))
    assert main(["verify", str(path), "--key", session.vkey.format()]) == 7
    text = capsys.readouterr().out
    assert "  ✗ signatures" in text
    assert "Broken." in text


def test_a_log_that_went_back_is_broken(tmp_path: Path, session: Session) -> None:
    path = _write(tmp_path, session)
    session.log.session(8).finish()
    head = tmp_path / "head"
    head.write_bytes(session.log.head())
    arguments = ["verify", str(path), "--key", session.log.vkey.format(), "--head", str(head)]
    assert main(arguments) in {7, 8}


def test_an_equal_known_head_is_fine(tmp_path: Path, session: Session) -> None:
    head = tmp_path / "head"
    head.write_bytes(session.log.head())
    path = _write(tmp_path, session)
    key = session.log.vkey.format()
    assert main(["verify", str(path), "--key", key, "--head", str(head)]) == 0


def test_the_worst_of_several_files_decides(
    tmp_path: Path, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    good = _write(tmp_path, session)
    unsealed = _write(tmp_path, session.log.session(8).action(), "open.ghost")
    broken = tmp_path / "broken.ghost"
    broken.write_bytes(b"{}")
    key = ["--key", session.log.vkey.format(), "--json"]
    assert main(["verify", str(good), str(unsealed), *key]) == 8
    assert main(["verify", str(good), str(unsealed), str(broken), *key]) == 7
    capsys.readouterr()


def test_a_missing_file_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(tmp_path / "none.ghost"), "--json"]) == 4
    assert json.loads(capsys.readouterr().err)["code"] == "file.missing"


def test_a_folder_cannot_be_read(tmp_path: Path) -> None:
    assert main(["verify", str(tmp_path)]) == 4


@pytest.mark.parametrize("form", ["html", "csv", "json", "edited"])
def test_a_view_is_not_evidence(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    view = views.view(views.action(2))
    texts = {
        "html": page(view),
        "csv": csv_text(view),
        "json": json.dumps(view),
        "edited": json.dumps({"session_id": views.SID, "actions": [], "verified": True}),
    }
    path = tmp_path / f"view.{form}"
    path.write_text(texts[form], encoding="utf-8")
    assert main(["verify", str(path), "--key", Log().vkey.format()]) == 7
    text = capsys.readouterr().out
    assert "a view, not evidence" in text
    assert "hint: ghost bundle" in text


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"{}", b"[]", b"nonsense", b'{"v":1}', b"{" * 100_000, b"\xff" * 40]
)
def test_any_other_file_is_broken(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.ghost"
    path.write_bytes(data)
    assert main(["verify", str(path), "--key", Log().vkey.format()]) == 7


def test_an_unknown_version_is_incomplete(tmp_path: Path, session: Session) -> None:
    path = _write(tmp_path, session)
    path.write_bytes(path.read_bytes().replace(b'"v":1}', b'"v":2}'))
    assert main(["verify", str(path), "--key", session.vkey.format()]) == 8


def test_fast_says_what_it_left_out(
    tmp_path: Path, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _write(tmp_path, session)
    assert main(["verify", str(path), "--key", session.vkey.format(), "--fast"]) == 0
    assert "of the seal and the head only (fast)" in capsys.readouterr().out


def test_verification_loads_neither_database_nor_proxy(tmp_path: Path, session: Session) -> None:
    path = _write(tmp_path, session)
    code = (
        "import sys; from ghost_cli.main import main;"
        f"code = main(['verify', {str(path)!r}, '--key', {session.vkey.format()!r}]);"
        "heavy = {'sqlalchemy', 'sqlmodel', 'mitmproxy', 'jinja2'} & set(sys.modules);"
        "sys.exit(code if not heavy else f'loaded {heavy}')"
    )
    environment = {"GHOST_HOME": str(tmp_path / "no-home"), "PATH": "/usr/bin"}
    done = subprocess.run(  # noqa: PLW1510  # the code is the result
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "no-home").exists()


def test_a_policy_asks_for_witnesses_and_brings_the_key_of_the_log(
    tmp_path: Path, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    path, policy = tmp_path / "a.ghost", tmp_path / "policy"
    path.write_bytes(cosigned_bundle(session, 1))
    policy.write_bytes(policy_text(session.log, [1, 2], "any"))
    assert main(["verify", str(path), "--policy", str(policy)]) == 0
    out = capsys.readouterr().out
    assert "  ✓ witness     Enough witnesses signed the head of the log. (1 of 2 witnesses" in out
    policy.write_bytes(policy_text(session.log, [1, 2], "all"))
    assert main(["verify", str(path), "--policy", str(policy)]) == 8
    out = capsys.readouterr().out
    assert "  … witness     Too few witnesses signed the head of the log." in out
    assert "hint" not in out


def test_a_policy_that_is_none_or_is_missing(tmp_path: Path, session: Session) -> None:
    path, policy = _write(tmp_path, session), tmp_path / "policy"
    assert main(["verify", str(path), "--policy", str(policy)]) == 4
    policy.write_text("quorum all\n")
    assert main(["verify", str(path), "--policy", str(policy)]) == 7


def test_time_is_judged_when_roots_are_given(
    tmp_path: Path, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    path, authority, root = tmp_path / "a.ghost", tsa.Authority(), tmp_path / "root.pem"
    root.write_bytes(authority.root.pem)
    arguments = ["verify", str(path), "--key", session.vkey.format(), "--tsa-root", str(root)]
    for tokens, code in (
        ((), 8),
        ((authority.stamp(session.log.head()),), 0),
        ((authority.stamp(b"other"),), 7),
    ):
        path.write_bytes(bundle.encode(session.bundle(timestamps=tokens)))
        assert main(arguments) == code
    root.write_bytes(b"no certificate")
    assert main(arguments) == 2
    assert "--tsa-root: no certificate as PEM" in capsys.readouterr().err


def test_without_the_extra_time_is_never_judged_as_good(
    tmp_path: Path,
    session: Session,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    authority, root = tsa.Authority(), tmp_path / "root.pem"
    root.write_bytes(authority.root.pem)
    token = authority.stamp(session.log.head())
    path = tmp_path / "a.ghost"
    path.write_bytes(bundle.encode(session.bundle(timestamps=(token,))))
    monkeypatch.setitem(sys.modules, "rfc3161_client", None)
    monkeypatch.delitem(sys.modules, "ghost_ledger.timestamp", raising=False)
    monkeypatch.delattr("ghost_ledger.timestamp", raising=False)
    arguments = ["verify", str(path), "--key", session.vkey.format()]
    assert main([*arguments, "--tsa-root", str(root)]) == 4
    assert "pip install 'ghost-ledger[evidence]'" in capsys.readouterr().err
    assert main(arguments) == 0
