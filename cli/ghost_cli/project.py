"""`ghost project`: which projects memory has, which directories belong to them, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from ghost_cli import output, remembered
from ghost_memory import belongings, binding, projects
from ghost_memory.journal import Writing
from ghost_memory.values import Project

app = typer.Typer(
    name="project",
    help="List, bind, merge and delete the projects of memory.",
    add_completion=False,
    pretty_exceptions_enable=False,
)

Named = Annotated[str, typer.Argument(metavar="PROJECT", help="Its name, id or directory.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")]


@app.command("list")
def list_() -> None:
    """List all projects with their directories.

    Example: ghost project list --json
    """
    with remembered.reading() as (seen, _):
        found = projects.every(seen.connection)
    document = {"schema": "ghost/projects/v1", "projects": [each._asdict() for each in found]}
    output.result(document, "\n".join(map(_line, found)) or "no projects")


@app.command()
def bind(
    name: Annotated[str, typer.Argument(metavar="PROJECT", help="A project, or a new name.")],
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A checkout of it.")],
    *,
    dry_run: DryRun = False,
) -> None:
    """Say that a directory belongs to a project.

    Its worktrees, and clones with the same remote, are found by it.

    Example: ghost project bind shop ~/src/shop
    """
    projects.refuse_shared(name)
    bound = _run(lambda writing: binding.bind(writing, name, directory), dry_run=dry_run)
    document = {"schema": "ghost/project/v1", **_without_count(bound), "applied": not dry_run}
    output.result(document, f"{_would(dry_run)}bound {bound.name} to {bound.path}")


@app.command()
def merge(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The project that goes.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The project that gets everything.")],
    *,
    dry_run: DryRun = False,
) -> None:
    """Move everything of one project into another.

    It is done at once; ids, links, pins and snapshots stay.

    Example: ghost project merge shop-old shop --dry-run
    """
    projects.refuse_shared(old)
    projects.refuse_shared(new)
    moved = _run(lambda writing: belongings.merge(writing, old, new), dry_run=dry_run)
    document = {
        "schema": "ghost/project-merge/v1",
        "from": old,
        "into": new,
        "moved": dict(moved),
        "applied": not dry_run,
    }
    output.result(document, f"{_would(dry_run)}merged {old} into {new}: {_counts(moved)}")


@app.command()
def delete(
    project: Named,
    *,
    apply: Annotated[bool, typer.Option("--apply", help="Do it; without, only count.")] = False,
) -> None:
    """Count what a project has; with --apply remove it.

    Example: ghost project delete shop-old --apply
    """
    projects.refuse_shared(project)
    gone = _run(lambda writing: belongings.delete(writing, project), dry_run=not apply)
    document = {
        "schema": "ghost/project-delete/v1",
        "project": project,
        "deleted": dict(gone),
        "applied": apply,
    }
    output.result(document, f"{_would(not apply)}deleted {project}: {_counts(gone)}")
    if not apply:
        output.note("nothing was changed; --apply does it")


def _run[T](work: Callable[[Writing], T], *, dry_run: bool) -> T:
    if dry_run:
        return remembered.preview(work)
    with remembered.changing() as journal:
        return journal.write(work)


def _would(dry_run: bool) -> str:
    return "would have " if dry_run else ""


def _counts(found: Mapping[str, int]) -> str:
    named = {
        name.removeprefix("memory_").replace("_", " "): number for name, number in found.items()
    }
    told = (_counted(number, name) for name, number in named.items() if number)
    return ", ".join(told) or "nothing"


def _counted(number: int, name: str) -> str:
    one = name.removesuffix("ies") + "y" if name.endswith("ies") else name.removesuffix("s")
    return f"{number} {one if number == 1 else name}"


def _without_count(project: Project) -> dict[str, object]:
    return {name: value for name, value in project._asdict().items() if name != "memories"}


def _line(project: Project) -> str:
    place = project.path if project.path != project.id else "(no directory)"
    remote = f"  {project.remote}" if project.remote else ""
    return f"{project.name}  {project.memories}  {place}{remote}"
