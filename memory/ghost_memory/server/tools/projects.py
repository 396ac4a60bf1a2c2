"""Tools about whole projects: their context, what is concluded, which there are, deleting one, health."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import DeniedError
from ghost_memory import belongings, changing, concluded, hosted, memories, projects
from ghost_memory.concluded import Judged
from ghost_memory.journal import Writing
from ghost_memory.quotation import harmless, quoted
from ghost_memory.server.answer import Answer, Entry, Page, paged, start_of
from ghost_memory.server.budget import clip
from ghost_memory.server.desk import Desk, named_project
from ghost_memory.values import GLOBAL, Project

__all__ = ["context", "delete", "health", "listing", "resolve"]

_BATCH: Final = 100
_WHY: Final[Mapping[str, str]] = {
    "replaced": "a newer memory replaces it",
    "said": "it says so itself",
    "record": "it is a record of finished work",
    "unsure": "only a word points to it; replace or delete it if it is over",
    "rule": "it reads as a rule, so it stays",
    "open": "it reads as still open, so it stays",
}


def context(desk: Desk, *, project_id: str, limit: int) -> Answer:
    """Show what is known of a project; at first contact what the host wrote down of it comes in."""
    with desk.journal.read() as connection:
        place = named_project(connection, project_id)
        notes = hosted.waiting(connection, place, Path.home())
    if notes:
        desk.change(lambda writing: hosted.bring(writing, place, notes))
    with desk.journal.read() as connection:
        shown = desk.parts.context(connection, place, limit=limit, now=desk.journal.now())
    data = {
        "project_id": place.id,
        "shown": shown.shown,
        "total": shown.total,
        "context": shown.text,
    }
    if shown.empty:
        text = f"Project {quoted(place.name)} is known but nothing is remembered of it yet."
        return Answer(text, {**data, "context": text})
    return Answer(shown.text, data)


def resolve(desk: Desk, *, project: str, apply: bool, limit: int, cursor: str) -> Answer:
    """Tell which memories are concluded evidence, and mark those that a rule confirms."""
    start = start_of(cursor)
    if not apply:
        with desk.journal.read() as connection:
            loaded, found = _judged(connection, named_project(connection, project))
        sure = sum(each.confirmed for each in found)
        heading = f"{loaded} loaded, {len(found)} after prefilter, would resolve {sure}"
        return _judgement(found, start, limit, heading, {"loaded": loaded, "resolved": 0})

    def work(writing: Writing) -> tuple[int, list[Judged], list[str]]:
        place = named_project(writing.connection, project)
        loaded, found = _judged(writing.connection, place)
        sure = [each.memory.id for each in found if each.confirmed]
        return loaded, found, changing.resolve(writing, place.id, sure)

    loaded, found, marked = desk.change(work)
    heading = f"{loaded} loaded, {len(found)} after prefilter, resolved {len(marked)}"
    counts = {"loaded": loaded, "resolved": len(marked)}
    return _judgement(found, start, limit, heading, counts)


def _judged(connection: Connection, place: Project) -> tuple[int, list[Judged]]:
    """Judge every memory of a project; what all share is never concluded."""
    if place.id == GLOBAL:
        raise DeniedError(
            f"project {GLOBAL}: is shared by all others and never resolved",
            code="project.protected",
            hint="name another project",
        )
    rows, total = memories.listing(connection, place.id, limit=_BATCH)
    while len(rows) < total:
        more, total = memories.listing(connection, place.id, limit=_BATCH, offset=len(rows))
        if not more:
            break
        rows += more
    older = connection.execute(
        sa.text(
            "SELECT l.target_id FROM memory_links l JOIN memories m ON m.id = l.target_id"
            " JOIN memories n ON n.id = l.source_id AND n.project_id IN (:id, :shared)"
            " WHERE l.relation = 'supersedes' AND l.invalidated_at IS NULL AND m.project_id = :id"
        ),
        {"id": place.id, "shared": GLOBAL},
    ).scalars()
    return len(rows), concluded.judge(rows, {str(each) for each in older})


def _judgement(
    found: list[Judged], start: int, limit: int, heading: str, counts: Mapping[str, int]
) -> Answer:
    ordered = sorted(found, key=lambda each: not each.confirmed)
    entries = [_candidate(each) for each in ordered[start : start + limit]]
    page = Page(entries, start, len(found), "candidates")
    return paged(page, none="Nothing is concluded.", heading=heading, more=counts)


def _candidate(judged: Judged) -> Entry:
    memory, why = judged.memory, _WHY[judged.because]
    first = memory.content.split("\n", 1)[0]
    return Entry(
        (first,),
        lambda texts: f"- `{memory.id[:8]}` [{memory.category}] {quoted(texts[0])} ({why})",
        lambda texts: {
            "id": memory.id,
            "category": memory.category,
            "content": quoted(texts[0]),
            "confirmed": judged.confirmed,
            "why": why,
        },
    )


def delete(desk: Desk, *, project: str, apply: bool) -> Answer:
    """Tell what a project holds, and with `apply` delete it with all of that."""
    if not apply:
        with desk.journal.read() as connection:
            place = projects.own(connection, project)
            found = belongings.counts(connection, place)
        text = f"Would delete project {quoted(place.name)}: {_counted(found)}. Nothing was changed."
        return Answer(text, _deleted(place, found, done=False))

    def work(writing: Writing) -> tuple[Project, Mapping[str, int]]:
        place = projects.own(writing.connection, project)
        return place, belongings.delete(writing, place.id)

    place, found = desk.change(work)
    text = f"Project {quoted(place.name)} deleted: {_counted(found)}."
    return Answer(text, _deleted(place, found, done=True))


def _counted(found: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in found.items())


def _deleted(place: Project, found: Mapping[str, int], *, done: bool) -> Mapping[str, object]:
    return {"project_id": place.id, "deleted": done, "counts": dict(found)}


def listing(desk: Desk, *, limit: int, cursor: str) -> Answer:
    """List the projects."""
    start = start_of(cursor)
    with desk.journal.read() as connection:
        every = projects.every(connection)
    entries = [_project(each) for each in every[start : start + limit]]
    return paged(Page(entries, start, len(every), "projects"), none="No projects yet.")


def _project(place: Project) -> Entry:
    return Entry(
        (place.name, place.path),
        lambda texts: (
            f"- {quoted(texts[0])} id: `{place.id}` path: {quoted(texts[1])}"
            f" ({place.memories} memories)"
        ),
        lambda texts: {
            "id": place.id,
            "name": quoted(texts[0]),
            "path": quoted(texts[1]),
            "memories": place.memories,
        },
    )


def health(desk: Desk) -> Answer:
    """Tell what the store holds and whether the embedder keeps up."""
    with desk.journal.read() as connection:
        every = projects.every(connection)
        links, scans = (_count(connection, each) for each in ("memory_links", "link_scans"))

    vectors = desk.parts.embedding()
    total = sum(each.memories for each in every)
    lines = [f"{len(every)} projects, {total} memories, {links} links, {scans} scanned for links"]
    lines += [f"- {quoted(clip(each.name, 60))}: {each.memories} memories" for each in every[:50]]
    if len(every) > 50:
        lines.append(f"(50 of {len(every)} shown; ghost_list_projects shows all)")
    lines.append(_embedder(vectors))
    counts = {"projects": len(every), "memories": total, "links": links, "scanned": scans}
    return Answer("\n".join(lines), {**counts, "embedding": dict(vectors)})


def _embedder(found: Mapping[str, object]) -> str:
    """Say how far the vectors are, and what is wrong, so that a silent fallback is seen."""
    if not found:
        return "embeddings: off, search works on keywords"
    told = [f"{name} {value}" for name, value in found.items() if value not in ("", {}, None)]
    return f"embeddings: {harmless(', '.join(told))}"


def _count(connection: Connection, table: str) -> int:
    return int(connection.execute(sa.text(f"SELECT count(*) FROM {table}")).scalar_one())
