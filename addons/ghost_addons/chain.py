"""Events go straight to the handlers that exist, instead of through every addon for each event.

The engine walks its chain twice for each hook (the second time for `update`, which nobody here has). With six
addons and eight hooks a call that is a measurable part of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

from mitmproxy import exceptions, hooks
from mitmproxy.addonmanager import AddonManager, safecall

from ghost_addons.parts import Master

type Handlers = tuple[Callable[..., object], ...]


class Table:
    """The handlers of each event, looked up once; addons must all be added before."""

    def __init__(self, manager: AddonManager) -> None:
        self._manager = manager
        self._found: dict[str, Handlers] = {}

    def of(self, name: str) -> Handlers:
        """Return the handlers of an event, in the order of the addons."""
        found = self._found.get(name)
        if found is None:
            attributes = (getattr(addon, name, None) for addon in self._manager.chain)
            found = self._found[name] = tuple(each for each in attributes if callable(each))
        return found


def shorten(master: Master) -> Table:
    """Replace the walk by a table of handlers, and return it."""
    table = Table(master.addons)

    async def trigger_event(event: hooks.Hook) -> None:
        await call(table.of(event.name), event.args())

    vars(master.addons).update(trigger_event=trigger_event, handle_lifecycle=trigger_event)
    return table


async def call(handlers: Handlers, arguments: Sequence[object]) -> None:
    """Run handlers one after the other; one that fails is logged, and the next one runs."""
    for handler in handlers:
        try:
            result = handler(*arguments)
            if result is not None and inspect.isawaitable(result):
                await result
        except exceptions.AddonHalt:
            return
        except Exception as error:  # noqa: BLE001  # as the engine: our own guard lets nothing get here
            _log(error)


def _log(error: Exception) -> None:
    """Log as the engine logs it."""
    with safecall():
        raise error
