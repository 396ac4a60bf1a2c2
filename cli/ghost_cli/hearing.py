"""What settings and ledger have to say becomes a warning of the command; without either no logging loads."""

from __future__ import annotations

import logging
from typing import override

from ghost_cli import output


class _Warnings(logging.Handler):
    @override
    def emit(self, record: logging.LogRecord) -> None:
        output.warn(record.getMessage())


def hear() -> None:
    """Show warnings of settings and ledger on stderr, as the command shows its own."""
    for name in ("ghost.settings", "ghost.ledger"):
        logger = logging.getLogger(name)
        logger.propagate = False
        logger.handlers = [_Warnings()]
