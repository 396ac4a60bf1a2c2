"""The policy's hash follows everything that decides."""

from __future__ import annotations

from pathlib import Path

from ghost_core.settings import Settings
from ghost_hooks.fingerprint import Fingerprint
from ghost_hooks.folder import HookFolder
from ghost_hooks.rules import RuleFolder
from ghost_hooks.tools import Catalogue


def _hex(folder: Path, tools: dict[str, object] | None = None) -> str:
    settings = Settings.model_validate({"hooks": {"dir": str(folder)}, "tools": tools or {}})
    return Fingerprint(
        settings,
        Catalogue.from_settings(settings),
        ["a"],
        hooks=HookFolder(folder),
        rules=RuleFolder(folder / "rules"),
    ).hex()


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
