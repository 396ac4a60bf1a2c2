"""Operator logs: events on stderr, and the last processor knows every live secret.

Logs may be lost and are no evidence. Rooms take `events`; only the command line calls `configure`.
structlog is imported with the first event: it is a tenth of a start that is mostly silent.
"""

from __future__ import annotations

import base64
import json as json_codec
import logging
import sys
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, override
from urllib.parse import quote

from ghost_core.secret import SecretBytes

if TYPE_CHECKING:
    from structlog.stdlib import BoundLogger
    from structlog.typing import EventDict, Processor, WrappedLogger

MARK = "[redacted by ghost]"

_hidden: list[SecretBytes] = []


def hide(secret: SecretBytes) -> None:
    """Keep a secret out of every log line from now on, in each form it may take."""
    if secret and not any(known is secret for known in _hidden):
        _hidden.append(secret)


def forget(secret: SecretBytes) -> None:
    """Stop looking for a secret, once it is wiped or revoked."""
    _hidden[:] = [known for known in _hidden if known is not secret]


def redact(text: str) -> str:
    """Replace every hidden secret in the text, in raw, base64, percent, hex and JSON form."""
    for secret in _hidden:
        for form in sorted(set(_forms(secret.reveal())), key=len, reverse=True):
            text = text.replace(form, MARK)
    return text


def configure(*, json: bool = False, verbose: bool = False) -> None:
    """Send log events to stderr: text on a terminal, JSON lines elsewhere or with `json`.

    Shown are warnings, with `verbose` everything but the libraries' own detail.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines(as_json=json or not sys.stderr.isatty()))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO if verbose else logging.WARNING)


def events(name: str) -> BoundLogger:
    """Return the logger of events under a module's name."""
    import structlog

    if not structlog.is_configured():
        structlog.configure(
            processors=[*_first(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
            logger_factory=structlog.stdlib.LoggerFactory(),
            wrapper_class=structlog.stdlib.BoundLogger,
            cache_logger_on_first_use=False,
        )
    logger: BoundLogger = structlog.stdlib.get_logger(name)
    return logger


class Lines(logging.Formatter):
    """Makes a redacted line of each event, of ours or of a library: JSON, or text for a person."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    @override
    def format(self, record: logging.LogRecord) -> str:
        return self._lines.format(record)

    @cached_property
    def _lines(self) -> logging.Formatter:
        import structlog

        return structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_first(), processors=_last(as_json=self._as_json)
        )


def _first() -> list[Processor]:
    import structlog

    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _last(*, as_json: bool) -> list[Processor]:
    import structlog

    renderer: Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if as_json
        else structlog.dev.ConsoleRenderer(
            colors=False, exception_formatter=structlog.dev.plain_traceback
        )
    )
    exceptions: list[Processor] = [structlog.processors.format_exc_info] if as_json else []
    return [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        *exceptions,
        renderer,
        _redacted,
    ]


def _redacted(_logger: WrappedLogger, _name: str, rendered: EventDict | str) -> str:
    return redact(str(rendered))


def _forms(secret: bytes) -> Iterator[str]:
    """Yield the secret as it may stand in a line of text."""
    if not any(secret):
        return  # wiped, or nothing to look for
    yield secret.hex()
    yield secret.hex().upper()
    yield from _base64_forms(secret)
    plain = secret.decode("utf-8", "surrogateescape")
    yield from (plain, plain.lower(), plain.upper())
    yield repr(plain)[1:-1]
    yield quote(secret, safe="")
    yield quote(secret, safe="/")
    if not any(0xDC80 <= ord(each) <= 0xDCFF for each in plain):
        yield json_codec.dumps(plain)[1:-1]
        yield json_codec.dumps(plain, ensure_ascii=False)[1:-1]


def _base64_forms(secret: bytes) -> Iterator[str]:
    """Yield the characters that depend on the secret alone, for its three places in a group."""
    for phase in range(3):
        start = (0, 2, 3)[phase]
        usable = (len(secret) + phase) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            form = encode(bytes(phase) + secret).decode()[start:usable]
            if len(form) >= 4:
                yield form
