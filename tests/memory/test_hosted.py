"""What Claude Code wrote down by itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ghost_memory import binding, changing, hosted, projects
from ghost_memory.limits import fit
from ghost_memory.saving import Note
from ghost_memory.values import GLOBAL, Project
from support.memory import SECRET, Store
from support.repositories import repository


@pytest.fixture
def app(memory: Store, tmp_path: Path) -> Project:
    folder = repository(tmp_path / "src" / "app")
    return memory.write(lambda w: binding.bind(w, "app", folder))


def written(home: Path, project: Project, name: str, text: str) -> Path:
    folder = home / ".claude" / "projects" / project.path.replace("/", "-") / "memory"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    return folder / name


def waiting(memory: Store, project: Project, home: Path) -> list[Note]:
    return memory.read(lambda connection: hosted.waiting(connection, project, home))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("feedback", ("preference", 0.9)),
        ("user", ("preference", 0.9)),
        ("project", ("architecture", 0.8)),
        ("reference", ("fact", 0.7)),
        ("pattern", ("pattern", 0.7)),
        ("Decision", ("decision", 0.7)),
        ("gotcha", ("gotcha", 0.7)),
        ("else", ("fact", 0.7)),
    ],
)
def test_a_note_with_fields_becomes_a_memory(
    memory: Store, app: Project, tmp_path: Path, kind: str, expected: tuple[str, float]
) -> None:
    text = f'---\nname: Ports\ndescription: "where it listens"\ntype: {kind}\n---\n\nThe port is 8402.\n'
    written(tmp_path, app, "ports.md", text)
    (note,) = waiting(memory, app, tmp_path)
    assert note.content == "Ports — where it listens\n\nThe port is 8402."
    assert (note.category, note.importance) == expected
    assert (note.source, note.tags) == ("onboarding", ("claude-code", "auto-import"))


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("The port of the proxy is 8402.", "The port of the proxy is 8402."),
        ("---\nname: The port of the proxy\n---\n", "The port of the proxy"),
        ("---\r\nname: Ports\r\n---\r\nThe port is 8402.", "Ports\n\nThe port is 8402."),
        ("---\nThis has no end, so it is a text", "---\nThis has no end, so it is a text"),
        (f"the key of staging is {SECRET}", "the key of staging is [secret removed by ghost]"),
    ],
)
def test_a_note_with_few_fields_or_none_is_a_text(
    memory: Store, app: Project, tmp_path: Path, text: str, content: str
) -> None:
    written(tmp_path, app, "note.md", text)
    assert [each.content for each in waiting(memory, app, tmp_path)] == [content]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("MEMORY.md", "This is the index of all memories."),
        ("plan_deploy.md", "First we build, then we deploy."),
        ("research_ports.md", "We looked at all of the ports."),
        ("note.txt", "This is no note of that program."),
        ("short.md", "too short"),
        ("empty.md", ""),
        ("moved.md", "These notes were migrated to ghost long ago."),
    ],
)
def test_other_files_are_passed_over(
    memory: Store, app: Project, tmp_path: Path, name: str, text: str
) -> None:
    written(tmp_path, app, name, text)
    assert waiting(memory, app, tmp_path) == []


def test_nothing_outside_of_the_folder_is_read(memory: Store, app: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("This is of no concern to anybody.")
    folder = written(tmp_path, app, "note.md", "The port of the proxy is 8402.").parent
    (folder / "link.md").symlink_to(outside)
    (folder / "folder.md").mkdir()
    os.mkfifo(folder / "pipe.md")
    assert len(waiting(memory, app, tmp_path)) == 1
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert waiting(memory, app, tmp_path) == []


def test_a_long_note_is_cut_and_the_same_text_comes_once(
    memory: Store, app: Project, tmp_path: Path
) -> None:
    written(tmp_path, app, "a.md", "ä" * 5000)
    written(tmp_path, app, "b.md", "The port of the proxy is 8402.")
    written(tmp_path, app, "c.md", "---\ntype: gotcha\n---\nThe port of the  proxy is 8402.")
    long, short = waiting(memory, app, tmp_path)
    assert long.content == fit("ä" * 5000, 4000).text
    assert short.content == "The port of the proxy is 8402."


def test_what_is_brought_is_entered_and_only_once(
    memory: Store, app: Project, tmp_path: Path
) -> None:
    written(tmp_path, app, "a.md", "The port of the proxy is 8402.")
    written(tmp_path, app, "b.md", "Answers are short, always.")
    notes = waiting(memory, app, tmp_path)
    assert memory.write(lambda w: hosted.bring(w, app, notes)) == 2
    assert memory.write(lambda w: hosted.bring(w, app, notes)) == 0
    assert memory.kinds()[-2:] == ["memory.saved", "memory.saved"]
    assert waiting(memory, app, tmp_path) == []


def test_what_was_deleted_does_not_come_back(memory: Store, app: Project, tmp_path: Path) -> None:
    written(tmp_path, app, "a.md", "The port of the proxy is 8402.")
    memory.write(lambda w: hosted.bring(w, app, waiting(memory, app, tmp_path)))
    (saved,) = memory.rows("SELECT id FROM memories")
    memory.write(lambda w: changing.delete(w, "app", saved))
    assert waiting(memory, app, tmp_path) == []


def test_a_project_without_a_directory_and_what_all_share_have_none(
    memory: Store, app: Project, tmp_path: Path
) -> None:
    named = memory.write(lambda w: projects.ensure(w, "named"))
    shared = Project(GLOBAL, GLOBAL, app.path, None)
    written(tmp_path, app, "a.md", "The port of the proxy is 8402.")
    assert waiting(memory, named, tmp_path) == []
    assert waiting(memory, shared, tmp_path) == []
    assert waiting(memory, app, tmp_path / ("a" * 5000)) == []
