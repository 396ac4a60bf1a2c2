"""The one way to wrap a step of the engine: once by each wrapper, around those who came before."""

from __future__ import annotations

from collections.abc import Callable

from ghost_core.errors import FailedError

_WRAPPERS = "ghost_wrappers"


def around[Result](
    owner: type, name: str, wrap: Callable[[Callable[..., Result]], Callable[..., Result]]
) -> None:
    """Put `wrap(step)` in the place of a step; does nothing if this wrapper is there already.

    Raises: FailedError `proxy.engine` if the engine has no such step any more.
    """
    step = getattr(owner, name, None)
    if not callable(step):
        raise FailedError(f"the engine has no {name} any more", code="proxy.engine")
    known: tuple[str, ...] = getattr(step, _WRAPPERS, ())
    ours = f"{wrap.__module__}.{wrap.__qualname__}"
    if ours in known:
        return
    wrapped = wrap(step)
    vars(wrapped)[_WRAPPERS] = (*known, ours)
    setattr(owner, name, wrapped)
