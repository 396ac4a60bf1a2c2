"""The witnesses of the configuration: checked at the start, asked over HTTP, beside the calls."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ghost_core import log
from ghost_core.errors import ConfigError, GhostError
from ghost_core.paths import Home
from ghost_core.settings import Settings
from ghost_hooks.posting import Poster
from ghost_ledger.canonical import Value
from ghost_ledger.cosignature import WitnessKey
from ghost_ledger.log_heads import LogHeads
from ghost_ledger.note import LINES_LIMIT
from ghost_ledger.witness.asking import REPLY_LIMIT
from ghost_ledger.witness.gathering import Gathered, Gathering, Place
from ghost_ledger.witness.kept import Kept

__all__ = ["check", "following", "of", "told"]

type _Trouble = tuple[str, str, str]
"""An event, the name of the witness, the reason."""

SECONDS = 3.0
"""How long one witness may take for one answer."""
PAUSE_SECONDS = 30.0
"""How often `possess` and `run` have new heads cosigned."""
_FORM = '"URL VKEY", as ghost witness serve prints it'
_HEADERS = {"Content-Type": "text/plain; charset=utf-8"}


def check(settings: Settings) -> None:
    """Refuse witnesses that could never be asked; raises ConfigError `config.witnesses`."""
    _places(settings, _poster(settings))


def of(home: Home, settings: Settings) -> Gathering | None:
    """Return how the witnesses of the configuration are asked, None without any; raises like `check`."""
    poster = _poster(settings)
    places = _places(settings, poster)

    def post(url: str, body: bytes) -> tuple[int, bytes]:
        answer = poster.post(
            f"{url.rstrip('/')}/add-checkpoint", body, _HEADERS, reply_limit=REPLY_LIMIT
        )
        return answer.status, answer.body

    return Gathering(Kept.of(home), places, post) if places else None


def told(gathered: Gathered) -> Iterator[dict[str, Value]]:
    """Yield what became of each witness: it signed the head that goes out, earlier maybe, or why not."""
    for reply in gathered.replies:
        earlier = reply.witness in gathered.signed and reply.state in {"unreachable", "refused"}
        yield {
            "name": reply.witness.name,
            "state": "signed" if earlier else reply.state,
            "detail": f"earlier, now {reply.state}: {reply.detail}" if earlier else reply.detail,
        }


@contextmanager
def following(home: Home, settings: Settings, heads: LogHeads) -> Iterator[None]:
    """Have new heads cosigned while the block runs, in a thread that nothing waits for."""
    gathering, ended = of(home, settings), threading.Event()
    if gathering is None:
        yield
        return
    args = (gathering, heads, ended)
    threading.Thread(target=_follow, args=args, name="ghost-cosigning", daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _follow(gathering: Gathering, heads: LogHeads, ended: threading.Event) -> None:
    done, known = 0, set[_Trouble]()
    while not ended.is_set():
        troubles = set[_Trouble]()
        try:
            size = heads.size()
            if size > done:
                troubles = _troubles(gathering.gather(heads))
                done = done if troubles else size
        except GhostError as error:
            troubles = {("witness.failed", "", error.message)}
        for event, name, reason in sorted(troubles - known):
            log.events(__name__).warning(event, witness=name, reason=reason)
        known = troubles
        ended.wait(PAUSE_SECONDS)


def _troubles(gathered: Gathered) -> set[_Trouble]:
    """Return what is to be told of witnesses that did not sign; the same is told once."""
    return {
        (f"witness.{reply.state}", reply.witness.name, reply.detail)
        for reply in gathered.replies
        if reply.state != "signed"
    }


def _poster(settings: Settings) -> Poster:
    return replace(Poster.of(settings), timeout_seconds=SECONDS)


def _places(settings: Settings, poster: Poster) -> tuple[Place, ...]:
    found = tuple(_place(text, poster) for text in settings.ledger.witnesses)
    if len(found) >= LINES_LIMIT:  # the log's own signature is one
        raise _refused(f"expected at most {LINES_LIMIT - 1}, found {len(found)}")
    if len({each.key.public for each in found}) < len(found):
        raise _refused("one key is there twice")
    return found


def _place(text: str, poster: Poster) -> Place:
    url, blank, vkey = text.partition(" ")
    if not blank:
        raise _refused(f"expected {_FORM}, found no space")
    try:
        poster.require_reachable(url)
        return Place(url, WitnessKey.parse(vkey.strip()))
    except GhostError as error:
        raise _refused(error.message, error.hint) from error


def _refused(reason: str, hint: str | None = None) -> ConfigError:
    return ConfigError(
        f"ledger.witnesses: {reason}", code="config.witnesses", hint=hint or f"expected {_FORM}"
    )
