"""`ghost ledger prune`: delete the entries of sessions that are long over; an entry says so."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import typer

from ghost_cli import inside, output
from ghost_cli.sessions import Opened
from ghost_core import db
from ghost_core.clock import SystemClock, rfc3339
from ghost_core.errors import DeniedError, GhostError, UsageError
from ghost_ledger import pruning
from ghost_ledger.drafts import Receipt
from ghost_ledger.export.values import sha256
from ghost_ledger.pruning import Plan

RETENTION_DAYS: Final = 183
_DAY_US: Final = 86_400_000_000


def prune(
    *,
    days: Annotated[int | None, typer.Option(help="Keep this many days; 183 without it.")] = None,
    before: Annotated[str, typer.Option(help="Or keep what is from this day (UTC) on.")] = "",
    short: Annotated[
        bool, typer.Option("--allow-short", help="Keep fewer than 183 days, knowingly.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
) -> None:
    """Delete the entries of sessions that are long over, for good.

    Only whole sealed sessions, below an index in steps of 256, with payloads and data keys. Seals, hashes
    and heads stay, so proofs and older bundles hold, and an entry says what went. Sessions that changed
    memory, and those of the recorder that speak of others, stay. Other commands wait while the database is
    written anew. Once more does no harm: it finishes what was interrupted.

    Example: ghost ledger prune --days 365 --dry-run
    """
    if inside.session():
        raise DeniedError(
            "pruning: is refused inside a session, which GHOST_SESSION_ID names",
            code="session.inside",
            hint="a human unsets GHOST_SESSION_ID first",
        )
    before_us = _before(days, before, short=short)
    place = Opened.now()
    plan, said = _looked(place, before_us) if dry_run else _pruned(place, before_us)
    document = _document(plan, said, before_us, dry_run=dry_run)
    output.result(document, _text(document))


def _before(days: int | None, day: str, *, short: bool) -> int:
    """Return the instant from which on everything stays, in microseconds UTC.

    Raises:
        UsageError: codes `usage.retention`, `usage.date`, `usage.days`.
    """
    if days is not None and day:
        raise UsageError("expected --days or --before, found both", code="usage.retention")
    now = SystemClock().now_us()
    if day:
        end = _midnight(day)
    elif days is None or days >= 0:
        end = max(0, now - (RETENTION_DAYS if days is None else days) * _DAY_US)
    else:
        raise UsageError(f"--days {days}: expected a number from 0 on", code="usage.days")
    if end > now:
        raise UsageError(f"--before {day}: is not over yet", code="usage.date")
    if now - end < RETENTION_DAYS * _DAY_US and not short:
        raise UsageError(
            f"retention: would keep fewer than {RETENTION_DAYS} days",
            code="usage.retention",
            hint="rules for the logs of AI systems ask for six months at the least;"
            " --allow-short, if none binds you",
        )
    return end


def _midnight(day: str) -> int:
    try:
        found = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as error:
        raise UsageError(
            f"--before {day[:32]!r}: expected a day as 2026-06-01", code="usage.date"
        ) from error
    return int(found.timestamp()) * 1_000_000


def _looked(place: Opened, before_us: int) -> tuple[Plan, Sequence[Receipt]]:
    with place.ledger() as ledger:
        return ledger.prunable(before_us), ()


def _pruned(place: Opened, before_us: int) -> tuple[Plan, Sequence[Receipt]]:
    with place.ledger(), place.recorder() as recorder:  # the first makes none where there is none
        plan, said = recorder.prune(before_us)
    if said or plan.before:
        _rewrite(place)
    return plan, said


def _rewrite(place: Opened) -> None:
    engine = db.engine(place.settings.database.url, home=place.home)
    try:
        pruning.scrub(engine)
    except GhostError as error:
        raise type(error)(
            f"pruned and entered, but pages of the database still hold copies: {error.message}",
            code=error.code,
            hint="the same command again finishes it",
        ) from error
    finally:
        engine.dispose()


def _document(
    plan: Plan, said: Sequence[Receipt], before_us: int, *, dry_run: bool
) -> dict[str, Any]:
    return {
        "schema": "ghost/pruning/v1",
        "dry_run": dry_run,
        "kept_from": rfc3339(before_us),
        "old_minimum": plan.old_minimum,
        "new_minimum": plan.new_minimum,
        "entries": plan.count,
        "payloads": plan.payloads,
        "sessions": list(plan.sids),
        "root_hash": sha256(plan.root) if plan.count else None,
        "pruned_by": [sha256(each.leaf_hash) for each in said],
        "pruned_before": [
            {"entries": each.count, "below": each.new_minimum, "pruned_by": sha256(each.leaf_hash)}
            for each in plan.before
        ],
    }


def _text(document: dict[str, Any]) -> str:
    before = sum(each["entries"] for each in document["pruned_before"])
    lines = [f"pruned before: {before} entries"] if before else []
    if not document["entries"]:
        return "\n".join([f"nothing to prune before {document['kept_from']}", *lines])
    would = "would prune" if document["dry_run"] else "pruned"
    lines.insert(
        0,
        f"{would} {document['entries']} entries and {document['payloads']} payloads of"
        f" {len(document['sessions'])} sessions below idx {document['new_minimum']}",
    )
    lines += [f"the entry that says so: {each}" for each in document["pruned_by"]]
    return "\n".join(lines)
