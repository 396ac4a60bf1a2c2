"""Runs the demo and ends with what to open, what to run, and how to go on."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ghost_cli import output
from ghost_cli.demo import closing, commands, opening, place, working
from ghost_cli.demo.api import Api
from ghost_cli.demo.narrator import Narrator
from ghost_cli.demo.program import called
from ghost_cli.demo.stage import Stage
from ghost_core.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    type Steps = tuple[tuple[str, Callable[[Stage], str]], ...]

GO_ON = "{0} config init, a credential and a tool in ghost.toml, then: {0} run --scope TOOL -- your-agent"

OPENING: Steps = (("an API", opening.open_api), ("ghost spawn", opening.spawn))
WORKING: Steps = (
    ("environment", opening.prepare_agent),
    ("script", working.run_agent),
    ("POST payment", working.pay),
    ("GET balance", working.balance),
    ("event stream", working.feed),
    ("echoed key", working.echo),
    ("DELETE by curl", working.refuse),
)
ENDING: Steps = (("ghost evaporate", closing.evaporate), ("dead session", closing.dead))
CLOSING: Steps = (
    ("ghost replay", closing.replay),
    ("ghost verify", closing.verify),
    ("tampered copy", closing.tamper),
    ("no trace", closing.search),
)

Folder = Annotated[
    Path, typer.Option("--output", metavar="DIR", help="Where the page and the bundle go.")
]


def demo(folder: Folder = Path("demo")) -> None:
    """Run the main job end to end on this machine: no network, your home and ghost.toml are not touched.

    A local API wants a key; an ordinary script calls it through ghost and never holds that key.
    Writes DIR/audit.html and DIR/session.ghost. Exit 1 if anything is not as promised.

    Example: ghost demo --output ./demo
    """
    _make(folder)
    narrator = Narrator()
    with place.prepare() as where, Api(where.certificate, where.key) as api:
        stage = Stage(where, api, folder)
        narrator.heading("A session instead of a key")
        _tell(narrator, stage, OPENING)
        words = ("--session-id", stage.session)
        with commands.possess(where.environment, *words, folder=where.root) as proxy:
            ready = f"localhost:{where.port} accepts calls after {proxy.ready_ms} ms"
            narrator.step("ghost possess", lambda: ready)
            narrator.heading("An unmodified agent works")
            _tell(narrator, stage, WORKING)
            narrator.heading("What is left")
            _tell(narrator, stage, ENDING)
        _tell(narrator, stage, CLOSING)
    _close(narrator, stage)


def _tell(narrator: Narrator, stage: Stage, steps: Steps) -> None:
    for name, work in steps:
        narrator.step(name, partial(work, stage))


def _close(narrator: Narrator, stage: Stage) -> None:
    ghost = called()
    verify = f"{ghost} verify {shlex.quote(str(stage.bundle))} --key {stage.public_key}"
    narrator.close({"open": str(stage.audit), "verify": verify, "your agent": GO_ON.format(ghost)})
    if output.options().json:
        document = {
            "schema": "ghost/demo/v1",
            "session_id": stage.session,
            "steps": [asdict(step) for step in narrator.steps],
            "audit": str(stage.audit),
            "bundle": str(stage.bundle),
            "verify": verify,
        }
        output.result(document)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnavailableError(
            f"folder {str(folder)!r}: cannot be made, {error.strerror}",
            code="demo.output",
            hint="name another: ghost demo --output DIR",
        ) from error
