"""What an agent must not send: a secret of ours by its own hand, and a stand-in where no binding names it.

An agent that holds a secret has it from somewhere: the call is refused wherever it goes, but for the very
place where injection puts the secret anyway. Looked at is what would leave, and what the client brought and
strip took away. A secret under `MIN_ENCODED_BYTES` would be found by chance and refuses nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ghost_addons.action import Action
from ghost_addons.hidden import Secrets
from ghost_addons.inject import Outgoing
from ghost_addons.record import Attempt
from ghost_addons.refusal import Refusal, refusal_of
from ghost_core import log
from ghost_core.errors import DeniedError, GhostError
from ghost_credentials.decode import Decoder, Limits, decoder
from ghost_credentials.head import Head
from ghost_credentials.placeholder import exposed, is_a_value

if TYPE_CHECKING:
    from ghost_credentials.scrub import Scrubber

LEAKED = "credential.leaked"
_FORM = b"application/x-www-form-urlencoded"


class LeakedError(DeniedError):
    """A secret of ours is in what the agent sends; `name` is the credential's."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"credential {name!r}: its secret is in what was sent, and an agent must not hold it",
            code=LEAKED,
            hint="a human should replace this secret at its service; agents hold the placeholder",
        )
        self.name = name


def refuse_held(
    secrets: Secrets, action: Action, *, agent: Head, base: Head, leaving: Outgoing, suspect: bool
) -> Refusal | None:
    """Return the refusal of a call that holds what may not leave, or None.

    `base` is the agent's head as it was stripped, `leaving` what would be sent, with a mark for the secret.
    `suspect` says that a secret was found in the body as the agent sent it.
    """
    name = secrets.owner(exposed(_seen(agent, base, leaving.head)))
    if name is None and leaving.body:
        name = secrets.owner(leaving.body) if suspect else None
        name = name or _in_coded(secrets, action, agent, leaving.body)
    if name is not None:
        return leaked(action, name)
    return _stray(action, agent, leaving)


def refuse_elsewhere(secrets: Secrets, action: Action, agent: Head) -> Refusal | None:
    """Return the refusal of a leak, for a call that is refused anyway and holds a secret not for there."""
    name = secrets.owner(exposed(agent))
    if name is None:
        return None
    target = action.request.target
    held = action.governance.credentials.by_name.get(name)
    if held is not None and held.bound_to(target.scheme, target.host, target.port, target.path):
        return None
    return leaked(action, name)


def leaked(action: Action, name: str) -> Refusal:
    """Return the refusal of a leak and tell the operator."""
    told(action, name)
    return refusal_about(name)


def spoken(secrets: Secrets, refusal: Refusal, attempt: Attempt) -> Refusal:
    """Return a refusal as it is told; one whose text would show a secret that was sent is that of a leak.

    With a mark in its place the agent would see as well that it guessed right, and nobody would count it.
    """
    said = f"{refusal.message}\n{refusal.hint}\n{refusal.rule}"
    name = secrets.owner(said.encode("utf-8", "backslashreplace"))
    if name is None:
        return clean_refusal(refusal, secrets.scrubber)
    _warn(attempt.sid, attempt.id, name, attempt.host)
    return refusal_about(name)


def refusal_about(name: str) -> Refusal:
    """Return the refusal of a leak; the value is never said."""
    return replace(refusal_of(LeakedError(name)), rule=f"credential:{name}")


def told(action: Action, name: str) -> None:
    """Log a leak, so that a human replaces the secret."""
    _warn(action.session.sid, action.id, name, action.request.target.host)


def _warn(sid: str, action_id: str, name: str, host: str) -> None:
    log.events(__name__).warning(LEAKED, sid=sid, action_id=action_id, credential=name, host=host)


def _seen(agent: Head, base: Head, leaving: Head) -> Head:
    """Return what would leave, and the client's lines that would not, but for the slot of the credential."""
    kept = frozenset(base.headers)
    slots = {name.lower() for name, value in leaving.headers if (name, value) not in kept}
    brought = [line for line in agent.headers if line not in kept and line[0].lower() not in slots]
    return Head(leaving.method, leaving.path, (*leaving.headers, *brought))


def _in_coded(secrets: Secrets, action: Action, agent: Head, body: bytes) -> str | None:
    """Look into a body with a content coding; one that cannot be undone is flagged."""
    coding = agent.get("content-encoding")
    if not coding:
        return None
    limit = action.governance.settings.proxy.buffer_limit
    found = decoder(coding, Limits(total_bytes=limit))
    try:
        if found is not None:
            return secrets.owner(found.feed(body) + found.finish())
    except GhostError:
        pass  # it cannot be undone either
    action.flags.append("uninspected")
    return None


def _stray(action: Action, agent: Head, leaving: Outgoing) -> Refusal | None:
    target = action.request.target
    credentials = action.governance.credentials
    place = (target.scheme, target.host, target.port, target.path)
    found = credentials.stray(agent, *place, leaving=leaving.head)
    if found is None and leaving.body:
        form = (agent.get("content-type") or b"").lower().startswith(_FORM)
        named = [each for each in credentials.by_name.values() if each.stand_in in leaving.body]
        # In a longer text it is talk about a harmless string, and refusing it would silence the agent.
        values = (each for each in named if is_a_value(leaving.body, each.stand_in, form=form))
        found = next(values, None)
        action.flags += ["placeholder"] if named and found is None else []
    if found is None:
        return None
    where = "stand there" if found.bound_to(*place) else f"go to {target.host}"
    error = DeniedError(
        f"the stand-in of credential {found.name!r} may not {where}",
        code="credential.stray",
        hint=f"a human can name the place with kind and hosts in [credentials.{found.name}]",
    )
    return replace(refusal_of(error), rule=f"credential:{found.name}")


class Outflow:
    """Lets a streamed body pass up to the piece in which a secret of ours would be complete."""

    def __init__(self, secrets: Secrets, action: Action, coding: bytes) -> None:
        self._secrets = secrets
        self._action = action
        self._held = b""
        self._decoded = b""
        self._decoder = decoder(coding) if coding else None
        if coding and self._decoder is None:
            action.flags.append("uninspected")

    def feed(self, chunk: bytes) -> bytes:
        """Take a piece and return what may go on; the end of an unfinished line waits.

        Raises LeakedError.
        """
        if self._decoder is not None:
            self._look_into(self._decoder, chunk)
        data = self._held + chunk
        self._held = self._rest_of(data)
        return data[: len(data) - len(self._held)]

    def finish(self) -> bytes:
        """Return the rest, at the end of the body; raises LeakedError."""
        rest, self._held = self._held, b""
        self._refuse(rest)
        return rest

    def _rest_of(self, data: bytes) -> bytes:
        """Return the end of the text in which a secret can have begun, whatever it says."""
        self._refuse(data)
        return data[self._secrets.scrubber.settled(data) :]

    def _look_into(self, coded: Decoder, chunk: bytes) -> None:
        try:
            self._decoded = self._rest_of(self._decoded + coded.feed(chunk))
        except LeakedError:
            raise
        except GhostError:
            self._decoder = None
            self._action.flags.append("uninspected")

    def _refuse(self, data: bytes) -> None:
        name = self._secrets.owner(data)
        if name is not None:
            raise LeakedError(name)


def clean_refusal(refusal: Refusal, scrubber: Scrubber) -> Refusal:
    """Return a refusal whose texts, which may quote the request, hold no secret."""

    def clean(text: str) -> str:
        return scrubber.clean(text.encode("utf-8", "backslashreplace")).data.decode()

    return replace(
        refusal,
        message=clean(refusal.message),
        rule=clean(refusal.rule),
        hint=clean(refusal.hint),
    )


def clean_attempt(attempt: Attempt, scrubber: Scrubber) -> Attempt:
    """Return an attempt that may be entered: a host name or a method can be a way to say a secret."""

    def clean(text: str) -> str:
        return scrubber.clean(text.encode("utf-8", "backslashreplace")).data.decode()

    verdicts = tuple(
        replace(each, rule=clean(each.rule), reason=clean(each.reason)) for each in attempt.verdicts
    )
    return replace(
        attempt,
        method=clean(attempt.method),
        host=clean(attempt.host),
        tool=clean(attempt.tool),
        action=clean(attempt.action),
        verdicts=verdicts,
    )
