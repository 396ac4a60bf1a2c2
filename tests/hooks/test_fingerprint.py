"""The policy's hash follows everything that decides."""

from __future__ import annotations

from pathlib import Path

from ghost_core.settings import Settings
from ghost_hooks.fingerprint import Fingerprint
from ghost_hooks.tools import Catalogue


def _fingerprint(
    folder: Path, tools: dict[str, object] | None = None, *, now_ns: int = 2**62
) -> Fingerprint:
    settings = Settings.model_validate({"hooks": {"dir": str(folder)}, "tools": tools or {}})
    catalogue = Catalogue.from_settings(settings)
    return Fingerprint(settings, catalogue, ["a"], now_ns=lambda: now_ns)


def _hex(folder: Path, tools: dict[str, object] | None = None) -> str:
    return _fingerprint(folder, tools).hex()


def test_the_content_of_a_schema_file_counts(tmp_path: Path) -> None:
    schema = tmp_path / "s.json"
    action = {"request_schema": str(schema)}
    tools: dict[str, object] = {"t": {"base_url": "https://a.example", "actions": {"x": action}}}
    schema.write_text("{}")
    first = _hex(tmp_path / "hooks", tools)
    schema.write_text('{"type":"object"}')
    assert _hex(tmp_path / "hooks", tools) != first


def test_folders_and_broken_links_beside_hooks_break_nothing(tmp_path: Path) -> None:
    empty = _hex(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "missing")
    assert _hex(tmp_path) == _hex(tmp_path) != empty


def test_a_change_shows_whether_the_file_had_settled_or_not(tmp_path: Path) -> None:
    hook = tmp_path / "_pre.sh"
    for now_ns in (0, 2**62):
        found = _fingerprint(tmp_path, now_ns=now_ns)
        hook.write_text("one")
        first = found.hex()
        assert found.hex() == first
        hook.write_text("three")
        assert found.hex() != first


def test_left_overs_of_editors_do_not_count(tmp_path: Path) -> None:
    empty = _hex(tmp_path)
    (tmp_path / "_pre.sh~").write_text("x")
    (tmp_path / "rules").mkdir()
    with_folder = _hex(tmp_path)
    (tmp_path / "rules" / "notes.txt").write_text("x")
    assert _hex(tmp_path) == with_folder != empty


def test_a_folder_that_cannot_be_listed_has_a_hash_too(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert len(_hex(loop)) == 64
    assert _hex(loop) != _hex(tmp_path / "missing")
