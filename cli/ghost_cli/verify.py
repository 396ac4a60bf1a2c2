"""`ghost verify`: judge bundles offline, with nothing but the file and the caller's key."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ghost_cli import output
from ghost_cli.pinned import pinned
from ghost_core.errors import (
    IncompleteError,
    IntegrityError,
    NotFoundError,
    UnavailableError,
)
from ghost_ledger.bundle import BUNDLE_LIMIT
from ghost_ledger.export import words
from ghost_ledger.export.views import is_view
from ghost_ledger.note import NOTE_LIMIT
from ghost_ledger.verify import Axis, Policy, Report, verify_bundle
from ghost_ledger.verify.policy import POLICY_LIMIT
from ghost_ledger.verify.revocation import REVOKED_LIMIT, Revocations

if TYPE_CHECKING:
    from ghost_ledger.timestamp import Roots

_SCHEMA = "ghost/verify/v1"
_ROOTS_LIMIT = 1024 * 1024
_VIEW = "a view, not evidence: nothing in it is signed, whatever it says about itself"
_HIDDEN = {"absent"}
_PIN = "ghost verify FILE --key KEY, as spawn printed it"


@dataclass(frozen=True, slots=True)
class _Trusted:
    """What the caller brings: keys, a head kept earlier, a policy, revoked keys, authorities of time."""

    keys: tuple[str, ...]
    head: bytes | None
    policy: Policy | None
    revoked: Revocations | None
    roots: Roots | None


@dataclass(frozen=True, slots=True)
class _Judged:
    """A file and what was found; `hint` is the command that would help."""

    path: Path
    report: Report
    hint: str = ""


def verify(
    files: Annotated[list[Path], typer.Argument(help="Bundles (.ghost)", metavar="FILE")],
    *,
    key: Annotated[
        list[str] | None,
        typer.Option(help="Key that you trust: session vkey, log vkey or ed25519_public_…"),
    ] = None,
    head: Annotated[
        Path | None, typer.Option(help="Log head that you kept from earlier (checkpoint)")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(help="Logs and witnesses that you trust (tlog-policy)")
    ] = None,
    revoked: Annotated[
        Path | None, typer.Option(help="Keys of logs that count up to a size only (revoked …)")
    ] = None,
    tsa_root: Annotated[
        Path | None, typer.Option(help="Certificates that you trust to stamp with the time (PEM)")
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Check hashes, seal and head, not each signature")
    ] = False,
) -> None:
    """Verify bundles offline; exit 0 verified, 7 broken, 8 incomplete.

    Example: ghost verify session.ghost --key "$(cat session.key)"
    """
    keys = tuple(pinned(text) for text in key or ())
    known = None if head is None else read(head, limit=NOTE_LIMIT)
    asked = None if policy is None else Policy.parse(read(policy, limit=POLICY_LIMIT))
    listed = None if revoked is None else Revocations.parse(read(revoked, limit=REVOKED_LIMIT))
    roots = None if tsa_root is None else _roots(read(tsa_root, limit=_ROOTS_LIMIT))
    contents = [(path, read(path, limit=BUNDLE_LIMIT)) for path in files]
    trusted = _Trusted(keys, known, asked, listed, roots)
    judged = [_judge(path, data, trusted, fast=fast) for path, data in contents]
    code = _worst([item.report.exit_code for item in judged])
    output.result(_document(judged, code), "\n\n".join(_text(item) for item in judged))
    raise typer.Exit(code)


def read(path: Path, *, limit: int) -> bytes:
    """Read a file of at most `limit` bytes and one more, so that too much shows.

    Raises:
        NotFoundError: there is no such file.
        UnavailableError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(limit + 1)
    except FileNotFoundError as error:
        raise NotFoundError(f"file {str(path)!r}: does not exist", code="file.missing") from error
    except OSError as error:
        raise UnavailableError(
            f"file {str(path)!r}: cannot be read, {error.strerror}", code="file.unreadable"
        ) from error


def _roots(pem: bytes) -> Roots:
    from ghost_ledger import timestamp

    return timestamp.Roots(pem)


def _judge(path: Path, data: bytes, trusted: _Trusted, *, fast: bool) -> _Judged:
    if is_view(data):
        hint = "ghost bundle SESSION_ID -o FILE.ghost, then verify that file"
        return _Judged(path, Report((Axis("content", "invalid", _VIEW),)), hint)
    try:
        report = verify_bundle(
            data,
            trusted.keys,
            head=trusted.head,
            policy=trusted.policy,
            roots=trusted.roots,
            revoked=trusted.revoked,
            fast=fast,
        )
    except IntegrityError as error:
        return _Judged(path, Report((Axis("content", "invalid", f"no bundle: {error.message}"),)))
    except IncompleteError as error:
        return _Judged(path, Report((Axis("content", "incomplete", error.message),)))
    pinned = trusted.keys or (trusted.policy and trusted.policy.logs)
    return _Judged(path, report, "" if pinned else _PIN)


def _worst(codes: list[int]) -> int:
    """Return broken before incomplete before verified."""
    return next((code for code in (7, 8) if code in codes), 0)


def _document(judged: list[_Judged], code: int) -> dict[str, Any]:
    verdict = {0: "valid", 7: "invalid", 8: "incomplete"}[code]
    files = [_file(item) for item in judged]
    return {"schema": _SCHEMA, "verdict": verdict, "exit_code": code, "files": files}


def _file(item: _Judged) -> dict[str, Any]:
    report = item.report
    return {
        "file": str(item.path),
        "session_id": report.sid or None,
        "entries": report.entries,
        "verdict": report.verdict,
        "exit_code": report.exit_code,
        "axes": {axis.name: {"state": axis.state, "detail": axis.detail} for axis in report.axes},
        "keys": list(report.keys),
    }


def _text(item: _Judged) -> str:
    report = item.report
    about = f": session {report.sid}, {report.entries} entries" if report.sid else ""
    axes = [_line(axis) for axis in report.axes if axis.state not in _HIDDEN]
    word, sentence = words.verdict_word(report.verdict), words.verdict_sentence(report.verdict)
    hint = [f"hint: {item.hint}"] if item.hint else []
    return "\n".join([f"{item.path}{about}", *axes, f"{word}. {sentence}", *hint])


def _line(axis: Axis) -> str:
    detail = f" ({axis.detail})" if axis.detail else ""
    sentence = words.axis_sentence(axis.name, axis.state)
    return f"  {words.SIGNS[axis.state]} {axis.name:<11} {sentence}{detail}"
