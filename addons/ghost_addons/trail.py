"""What an operator may watch with `-v`: one log event for each call that ended and for each refusal.

Logs may be lost and are no evidence. Path and query are payload and stay out of them.
"""

from __future__ import annotations

import logging

from ghost_core import log

LOGGER = logging.getLogger("ghost.trail")


def told(event: str, **fields: object) -> None:
    """Log an event, unless nobody listens, which costs next to nothing."""
    if LOGGER.isEnabledFor(logging.INFO):
        log.events("ghost.trail").info(event, **fields)
