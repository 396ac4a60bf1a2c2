"""Sessions as lines of JSON for other systems, one session at a time, each with what verifying it came to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from ghost_core.paths import Home
from ghost_ledger.export import cloudevents, dsse, ocsf, otlp
from ghost_ledger.export.actions import Signed
from ghost_ledger.export.record import Record, gather
from ghost_ledger.export.source import Source
from ghost_ledger.export.view import view
from ghost_ledger.reader import Ledger

__all__ = ["Exported", "Form", "left_out", "sessions"]

type Form = Literal["otlp", "ocsf", "cloudevents", "jsonl", "dsse"]


class Exported(NamedTuple):
    """One session: its id, its documents, and the exit code of its verdict (contract §6)."""

    sid: str
    documents: Iterable[Mapping[str, Any]]
    exit_code: int


def sessions(
    ledger: Ledger, home: Home, form: Form, *, sid: str = "", key: str | None = None
) -> Iterator[Exported]:
    """Yield one session, or all but the recorder's own, oldest first; raises like `session_view`."""
    source = Source(ledger)
    for each in [sid] if sid else source.sessions():
        record = gather(source, home, each, key=key)
        yield Exported(each, _MADE[form](record), record.report.exit_code)


def left_out(ledger: Ledger) -> dict[str, int]:
    """Return what was pruned, which `sessions` does not yield: `entries`, `sessions`, `below`."""
    return Source(ledger).count().pruned.view()


def _view(record: Record) -> dict[str, Any]:
    return view(record, disclose=False, parts="none")


def _statement(record: Record) -> list[dict[str, Any]]:
    made = dsse.envelope(record.bundle)
    return [] if made is None else [made]


def _entry(item: Signed) -> dict[str, Any]:
    entry = item.entry
    known: dict[str, Any] = {"problem": item.problem} if item.problem else dict(entry.fields)
    return {
        "log": entry.log,
        "sid": entry.sid,
        "seq": entry.seq,
        "ts": entry.ts,
        "id": entry.id,
        "type": item.type,
        "fields": known,
        "entry_hash": item.leaf_hash.hex(),
        "signature": item.signature.hex(),
    }


_MADE: Final[Mapping[Form, Callable[[Record], Iterable[Mapping[str, Any]]]]] = {
    "otlp": lambda record: [otlp.spans(_view(record))],
    "ocsf": lambda record: ocsf.events(_view(record)),
    "cloudevents": lambda record: cloudevents.events(record.signed),
    "jsonl": lambda record: map(_entry, record.signed),
    "dsse": _statement,
}
