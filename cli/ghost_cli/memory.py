"""`ghost memory`: save, find, show and change memories from the command line."""

from __future__ import annotations

import codecs
import sys
from typing import Annotated

import typer

from ghost_cli import memory_shown as shown
from ghost_cli import output, remembered
from ghost_cli.memory_backup import backup
from ghost_cli.memory_file import export, import_
from ghost_cli.memory_history import history
from ghost_cli.memory_list import list_
from ghost_cli.memory_model import model
from ghost_cli.memory_verify import verify
from ghost_core.errors import UsageError
from ghost_memory import changing, links, memories, saving
from ghost_memory.asking import Query
from ghost_memory.changing import Fields
from ghost_memory.journal import Writing
from ghost_memory.limits import CONTENT_BYTES, LOOKED_AT
from ghost_memory.saving import Note
from ghost_memory.search import search as search_memory

app = typer.Typer(
    name="memory",
    help="Save, search and change memories; verify, export, import and back them up.",
    add_completion=False,
    pretty_exceptions_enable=False,
)

Project = Annotated[
    str, typer.Option("--project", help="Project by name or id; else that of the directory.")
]
Id = Annotated[str, typer.Argument(metavar="ID", help="The memory, or a beginning of its id.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be given again.")]
Category = Annotated[str, typer.Option(help="Kind of the memory, as `fact` or `gotcha`.")]


@app.command()
def save(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to keep; - reads stdin.")],
    *,
    project: Project = "",
    category: Category = "fact",
    importance: Annotated[float, typer.Option(help="From 0 to 1.", min=0, max=1)] = 0.7,
    tag: Tags = None,
    supersedes: Annotated[
        list[str] | None, typer.Option(help="A memory that this one replaces; may be given again.")
    ] = None,
) -> None:
    """Keep a text; the same text again is one memory.

    A likely twin is linked, and both stay.

    Example: ghost memory save "the staging proxy listens on 8402" --category gotcha --tag network
    """
    note = Note(_text(text), category, importance, tag or (), "manual", supersedes or ())
    with remembered.changing() as journal:
        saved, kept = journal.write(
            lambda w: (
                made := saving.save(w, remembered.here_or_new(w, project), note),
                memories.get(w.connection, made.id),
            )
        )
    document = {"schema": "ghost/memory-saved/v1", **saved._asdict(), "project": kept.project_id}
    output.result(document, shown.saved(saved, kept))


@app.command()
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in any words.")],
    *,
    project: Project = "",
    everywhere: Annotated[bool, typer.Option("--all", help="Search all projects.")] = False,
    category: Category = "",
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=100)] = 10,
    offset: Annotated[int, typer.Option(help="How many to leave out.", min=0)] = 0,
    explain: Annotated[bool, typer.Option("--explain", help="Show what made each score.")] = False,
) -> int:
    """Find memories by what they say, the best first.

    The last line says how good the answer is: `answerable`, where one of the first three has at least 40 % of
    the words asked for, endings aside, else `weak`: what was found may be about something else. A memory can
    be found by its meaning alone, so some question without an answer finds one too. Exit 1 where nothing is
    found.

    Example: ghost memory search "which port does the proxy use"
    """
    with remembered.reading() as (seen, settings):
        wanted = None if everywhere else remembered.here_or_everywhere(seen, project)
        asked = Query(query, wanted, category, limit, offset)
        rules = settings.memory.search
        with remembered.meaning(seen, settings) as near:
            found = search_memory(
                seen.connection, asked, vectors=near, settings=rules, now=seen.now
            )
    output.result(
        {"schema": "ghost/memory-search/v1", **shown.found(found)},
        shown.hits(found, explain=explain),
    )
    return 0 if found.hits else 1


@app.command()
def show(memory_id: Id) -> None:
    """Show one memory whole, and what replaced it.

    Example: ghost memory show 3f78
    """
    with remembered.reading() as (seen, _):
        found = memories.get(seen.connection, memory_id)
        newer = links.replacements(seen.connection, [found.id]).get(found.id)
    document = {"schema": "ghost/memory/v1", **found._asdict(), "replaced_by": newer}
    output.result(document, shown.whole(document))


@app.command()
def update(
    memory_id: Id,
    *,
    content: Annotated[str | None, typer.Option(help="A new text; - reads stdin.")] = None,
    category: Annotated[str | None, typer.Option(help="A new category.")] = None,
    importance: Annotated[float | None, typer.Option(help="From 0 to 1.", min=0, max=1)] = None,
    tag: Tags = None,
    no_tags: Annotated[bool, typer.Option("--no-tags", help="Take all tags away.")] = False,
) -> None:
    """Change what is given of a memory; the older text is not kept.

    Example: ghost memory update 3f78 --importance 0.9 --tag network
    """
    tags = [] if no_tags else tag
    fields = Fields(None if content is None else _text(content), category, importance, tags)
    with remembered.changing() as journal:
        kept, changed = journal.write(
            lambda w: changing.update(w, _owner(w, memory_id), memory_id, fields)
        )
    document = {"schema": "ghost/memory/v1", **kept._asdict(), "changed": changed}
    output.result(document, f"changed {', '.join(changed)} of {kept.id}")


@app.command()
def pin(
    memory_id: Id, *, off: Annotated[bool, typer.Option("--off", help="End it.")] = False
) -> None:
    """Exempt a memory from ageing and consolidation.

    Example: ghost memory pin 3f78
    """
    with remembered.changing() as journal:
        kept = journal.write(
            lambda w: changing.pin(w, _owner(w, memory_id), memory_id, pinned=not off)
        )
    document = {"schema": "ghost/memory/v1", **kept._asdict()}
    output.result(document, f"{'unpinned' if off else 'pinned'} {kept.id}")


@app.command()
def delete(memory_id: Id) -> None:
    """Remove a memory with its links.

    Its words leave the database; the entry that says so stays.

    Example: ghost memory delete 3f78
    """
    with remembered.changing() as journal:
        gone = journal.write(lambda w: changing.delete(w, _owner(w, memory_id), memory_id))
    document = {"schema": "ghost/memory-deleted/v1", "id": gone.id, "project": gone.project_id}
    output.result(document, f"deleted {gone.id}")


def _owner(writing: Writing, memory_id: str) -> str:
    return memories.get(writing.connection, memory_id).project_id


def _text(given: str) -> str:
    """Return the text, or stdin for `-`; of what is far too long only what is looked at anyway.

    Raises UsageError `memory.encoding` for bytes that are no UTF-8: what is kept is what was given.
    """
    if given != "-":
        return given
    most = LOOKED_AT * CONTENT_BYTES + 1
    data = sys.stdin.buffer.read(most)
    try:
        # Where it was cut off the last character may be half a one.
        return codecs.getincrementaldecoder("utf-8")().decode(data, final=len(data) < most)
    except UnicodeDecodeError as error:
        raise UsageError(
            f"standard input: expected UTF-8, found another byte at {error.start}",
            code="memory.encoding",
            hint="iconv -f latin1 -t utf-8 FILE | ghost memory save -",
        ) from error


app.command("list")(list_)
app.command()(history)
app.command()(verify)
app.command()(export)
app.command("import")(import_)
app.command()(model)
app.command()(backup)
