"""One real request with each client found here, through a temporary session to an API on loopback.

Home, runtime folder, key and API are the demo's and are gone afterwards. The clients run in this
shell's own environment with the session's block over it, as an agent's would.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ghost_cli.demo import commands, place
from ghost_cli.demo.api import EMPTY_REPOSITORY, Api
from ghost_cli.doctor.check import Check, fail, ok, warn
from ghost_core.errors import FailedError

if TYPE_CHECKING:
    from ghost_cli.demo.commands import Done
    from ghost_cli.demo.place import Place

_PYTHON = """\
import sys, urllib.request
url, key = sys.argv[1:]
request = urllib.request.Request(url, headers={"Authorization": "Bearer " + key})
urllib.request.urlopen(request, timeout=10).read()
"""
_NODE = """\
const [url, key] = process.argv.slice(1);
const answer = await fetch(url, {headers: {Authorization: `Bearer ${key}`}});
process.exit(answer.ok ? 0 : 1);
"""
_VERSION = re.compile(r"v(\d+)\.(\d+)")
_CAUSES = (
    (re.compile(r"(?i)certificate|self.signed|unable to get .*issuer|ssl.*verif|CERT_"), "trust"),
    (re.compile(r"\b407\b"), "credentials"),
    (re.compile(r"(?i)refused|ECONNREFUSED|could not connect|couldn't connect"), "reach"),
)
_MENDS = {
    "trust": (
        "does not trust ghost's certificate: a file of its own names other roots",
        "remove cacert, cafile or sslCAInfo from its own configuration",
    ),
    "credentials": (
        "does not send the session to the proxy",
        'eval "$(ghost possess --env --session-id ID)"',
    ),
    "reach": (
        "does not reach the proxy on loopback",
        "remove the proxy from its own configuration",
    ),
}


@dataclass(frozen=True, slots=True)
class Client:
    """One client: its name, and the words that make it send one request."""

    name: str
    program: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Stage:
    place: Place
    api: Api
    session: str
    environment: Mapping[str, str]


def found_in(environ: Mapping[str, str], url: str, key: str) -> Iterator[Client | Check]:
    """Yield each client of the environment's PATH, or that it is not there; `key` is a stand-in."""
    header = f"Authorization: Bearer {key}"
    repository = f"{url}{EMPTY_REPOSITORY}"
    url = f"{url}/v1/balance"
    for name, words in (
        ("curl", ("-sS", "-f", "-m", "10", "-H", header, url)),
        ("python3", ("-c", _PYTHON, url, key)),
        ("node", ("--input-type=module", "-e", _NODE, url, key)),
        ("git", ("-c", "credential.helper=", "ls-remote", repository)),
    ):
        program = shutil.which(name, path=environ.get("PATH", ""))
        yield Client(name, program, words) if program else ok(name, "not installed")


def examine(environ: Mapping[str, str]) -> Iterator[Check]:
    """Spawn, possess, call once with each client, and look for the calls in the ledger."""
    with place.prepare() as where, Api(where.certificate, where.key) as api:
        where.configure(api, actions=_GIT_ACTION)
        words = ("--intent", "ghost doctor", "--ttl", "120", "--scope", place.TOOL)
        document = _ghost(where, "spawn", *words).json()
        session = str(document.get("session_id"))
        with commands.possess(where.environment, folder=where.root):
            stage = _Stage(where, api, session, _block(where, session, environ))
            for each in found_in(environ, api.url, where.placeholder):
                yield each if isinstance(each, Check) else _tried(stage, each)
            yield _evidence(stage, sum(1 for call in api.calls if call.authorised))


_GIT_ACTION = f'actions.list_refs = {{ method = "GET", path = "{EMPTY_REPOSITORY}/info/refs" }}\n'


def _tried(stage: _Stage, client: Client) -> Check:
    try:
        return _too_old(stage, client) or _called(stage, client)
    except FailedError as error:
        return fail(client.name, error.message, "ghost doctor, again")
    except OSError as error:
        return fail(client.name, f"cannot be started, {error.strerror}", f"ls -l {client.program}")


def _called(stage: _Stage, client: Client) -> Check:
    """Let the client make its request, and judge by what the API saw."""
    before = len(stage.api.calls)
    done = _run(stage, client, *client.words)
    calls = stage.api.calls[before:]
    if any(not call.authorised for call in calls):
        mend = f"{_ITSELF}; ghost replaces a key only in what passes it"
        return fail(client.name, "went past the proxy, with a stand-in for a key", mend)
    if calls and done.code == 0:
        return ok(client.name, f"{client.program}, one request entered and answered")
    return _diagnosed(client, done)


_ITSELF = "remove proxy and no_proxy from the client's own configuration"


def _diagnosed(client: Client, done: Done) -> Check:
    """Name the cause by what the client said, which is not repeated."""
    for pattern, cause in _CAUSES:
        if pattern.search(done.err):
            found, mend = _MENDS[cause]
            return fail(client.name, found, mend)
    found = f"ended with {done.code} and no whole answer"
    return fail(client.name, found, f"ghost demo, then run {client.name} by hand")


def _too_old(stage: _Stage, client: Client) -> Check | None:
    """Return a warning for a Node that ignores the environment (before 22.21 and 24)."""
    if client.name != "node":
        return None
    said = _run(stage, client, "--version").out
    found = _VERSION.match(said)
    major, minor = (int(each) for each in found.groups()) if found else (0, 0)
    if major >= 24 or (major == 22 and minor >= 21):
        return None
    text = f"{said.strip()[:20] or 'node'} ignores HTTPS_PROXY and goes past the proxy"
    return warn(client.name, text, "install Node 24, which hears NODE_USE_ENV_PROXY")


def _run(stage: _Stage, client: Client, *words: str) -> Done:
    return commands.run([client.program, *words], stage.environment, folder=stage.place.root)


def _evidence(stage: _Stage, expected: int) -> Check:
    """End the session and compare what was entered with what the API saw."""
    document = _ghost(stage.place, "evaporate", "--session-id", stage.session).json()
    summary = document.get("summary")
    rows = summary if isinstance(summary, list) else []
    entered = sum(int(row["count"]) for row in rows if row["status"] == "executed")
    if entered != expected:
        found = f"the API answered {expected} requests, the ledger has {entered}"
        return fail("evidence", found, "ghost doctor, again; then report it")
    return ok("evidence", f"{entered} requests entered, the session sealed and gone")


def _block(where: Place, session: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return this shell's environment with the session's block over it, as `ghost run` does."""
    words = ("possess", "--env", "--shell", "json", "--session-id", session)
    block = json.loads(_ghost(where, *words).out)
    kept = {
        name: value
        for name, value in environ.items()
        if name not in block["unset"] and not name.startswith("GHOST_")
    }
    return {**kept, **block["values"], "GIT_TERMINAL_PROMPT": "0"}


def _ghost(where: Place, *words: str) -> Done:
    return commands.ghost(where.environment, *words, folder=where.root)
