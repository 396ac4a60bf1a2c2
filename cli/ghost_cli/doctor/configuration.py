"""What the configuration says, what of it nobody hears, and what this version refuses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ghost_cli.doctor.check import Check, fail, ok, warn
from ghost_core import settings
from ghost_core.errors import ConfigError

if TYPE_CHECKING:
    from ghost_core.settings import Settings


@dataclass(frozen=True, slots=True)
class Known:
    """The settings in force; `hosts` are those that a credential or a tool is bound to."""

    host: str = "localhost"
    port: int = 9999
    hosts: tuple[str, ...] = ()


@dataclass(slots=True)
class Reading:
    """Reads the configuration once; `known` stays at the defaults where it is broken."""

    known: Known = Known()

    def examine(self) -> Iterator[Check]:
        """Read and check every source; raises ConfigError for what is wrong."""
        gathered = settings.sources(warn=lambda _: None)
        for text in gathered.warnings:
            yield _warning(text)
        found = settings.load(warn=lambda _: None)
        self.known = Known(found.proxy.host, found.proxy.port, _bound(found))
        yield from _supported(found)


def _warning(text: str) -> Check:
    """Tell a variable that nobody reads from a project's file that waits for trust."""
    name, _, rest = text.partition(":")
    if name.startswith("variable "):
        return fail("variables", text, f"unset {name.removeprefix('variable ')}")
    return warn("project", text, rest.rpartition("to trust it: ")[2])


def _supported(found: Settings) -> Iterator[Check]:
    """Ask the proxy itself whether it would start with these settings."""
    from ghost_addons.supported import refuse_unsupported

    notes: list[str] = []
    try:
        refuse_unsupported(found, note=notes.append)
    except ConfigError as error:
        yield fail("configuration", error.message, error.hint or "ghost config show --origin")
        return
    yield from (warn("project", text, "ghost config show --origin") for text in notes)
    named = f"{len(found.tools)} tools, {len(found.credentials)} credentials"
    yield ok("configuration", f"{named}, {len(found.rules)} rules")


def _bound(found: Settings) -> tuple[str, ...]:
    """Return the names of all hosts that something is bound to, without ports."""
    named = [host for each in found.credentials.values() for host in each.hosts]
    named += [urlsplit(each.base_url).netloc for each in found.tools.values() if each.base_url]
    return tuple(dict.fromkeys(urlsplit(f"//{host}").hostname or host for host in named))
