"""`ghost bundle` and `ghost bundle unpack`: the file that verifies offline, and its plain parts."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ghost_addons import cosigning, stamping
from ghost_cli import output
from ghost_core import settings
from ghost_core.errors import IntegrityError, UnavailableError
from ghost_ledger import bundle as bundles
from ghost_ledger.bundle import BUNDLE_LIMIT, Bundle
from ghost_ledger.export.files import plain_files
from ghost_ledger.export.values import sha256
from ghost_ledger.note import NOTE_LIMIT

if TYPE_CHECKING:
    from ghost_cli.evidence import Evidence
    from ghost_ledger.witness.gathering import Gathered

# Members are sorted, and only these can be the first.
_STARTS: Final = (b'{"consistency":{"', b'{"disclosures":[{"', b'{"entries":["')


def bundle(
    session_id: Annotated[str, typer.Argument(metavar="ID", help="Session to pack.")],
    *,
    file: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write, - for stdout; ID.ghost. Only an older bundle is replaced.",
        ),
    ] = None,
    disclose: Annotated[
        bool, typer.Option("--disclose", help="Add salts, requests and replies.")
    ] = False,
    head: Annotated[
        Path | None,
        typer.Option(
            help="Log head that the verifier kept from earlier: prove what leads from it."
        ),
    ] = None,
    tsa: Annotated[
        str, typer.Option(metavar="URL", help="Authority that stamps the head with the time.")
    ] = "",
) -> int:
    """Write a file that anyone can verify offline.

    The witnesses of ledger.witnesses are asked to sign its head; one that is not reached is named, and
    missing.

    The authority of --tsa gets a hash only (RFC 3161); without its token no file is written.

    Who kept an older head verifies with --head that the log still holds all of it.

    Example: ghost bundle gh_… -o session.ghost
    """
    from ghost_cli import evidence, verify

    known = None if head is None else verify.read(head, limit=NOTE_LIMIT)
    with evidence.opened() as found:
        gathered = _gathered(found, session_id)
        note = gathered.note if gathered else None
        made = found.ledger.bundle(session_id, found.home, disclose=disclose, head=note)
        if known is not None:
            made = found.ledger.heads(found.home).continuing(made, known)
        newest, erased = found.ledger.head(), found.ledger.erased(session_id)
    if gathered:
        made = replace(made, hints={"witnesses": list(cosigning.told(gathered))})
    if tsa and made.head is not None:
        made = replace(made, timestamps=(stamping.stamp(settings.load(), tsa, made.head),))
    data = bundles.encode(made)
    if file == Path("-"):
        output.raw(data)
        return _ended(gathered)
    path = file or Path(f"{session_id}.ghost")
    evidence.save(path, data, evidence.Kind("bundle", _STARTS))
    document = _document(session_id, path, made, len(data), newest.vkey if newest else "KEY")
    document["erased"] = [
        {"id": each.id, "fields": list(each.fields), "erased_by": sha256(each.said)}
        for each in erased
    ]
    output.result(document, _text(document))
    return _ended(gathered)


def _gathered(found: Evidence, sid: str) -> Gathered | None:
    """Have the head cosigned, if there are witnesses and there is something to bundle."""
    gathering = cosigning.of(found.home, settings.load())
    stored = found.ledger.entries(sid) if gathering else []
    if gathering is None or not stored:
        return None
    return gathering.gather(found.ledger.heads(found.home), needed=stored[-1].idx + 1)


def _ended(gathered: Gathered | None) -> int:
    """Return the exit code; a witness that knows another history is told as an error, the file is there."""
    if gathered is None or not gathered.conflicts:
        return 0
    first = gathered.conflicts[0]
    raise IntegrityError(
        f"witness {first.witness.name}: {first.detail}",
        code="witness.conflict",
        hint=f"what it said is kept in {gathered.evidence[0]}",
    )


def unpack(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Bundle to unpack.")],
    *,
    folder: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="New or empty folder.")
    ],
) -> int:
    """Unpack a bundle into plain notes, checkpoint and proofs; nothing is judged.

    Example: ghost bundle unpack session.ghost -o session
    """
    from ghost_cli import verify
    from ghost_core.files import write_file

    files = plain_files(bundles.decode(verify.read(file, limit=BUNDLE_LIMIT)))
    _make_empty(folder)
    for name, data in files.items():
        write_file(folder / name, data, mode=0o600)
    output.result(
        {"schema": "ghost/bundle-unpack/v1", "folder": str(folder), "files": sorted(files)},
        f"unpacked {len(files)} files into {folder}",
    )
    return 0


def _make_empty(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        occupied = any(folder.iterdir())
    except OSError as error:
        raise UnavailableError(
            f"folder {str(folder)!r}: cannot be used, {error.strerror}", code="file.unwritable"
        ) from error
    if folder.is_symlink() or occupied:
        raise UnavailableError(
            f"folder {str(folder)!r}: expected a new or empty folder", code="folder.occupied"
        )


def _document(sid: str, path: Path, made: Bundle, size: int, key: str) -> dict[str, Any]:
    return {
        "schema": "ghost/bundle/v1",
        "session_id": sid,
        "file": str(path),
        "bytes": size,
        "entries": len(made.entries),
        "sealed": made.seal is not None,
        "disclosures": len(made.disclosures),
        "witnesses": made.hints.get("witnesses", []),
        "timestamps": len(made.timestamps),
        "key": key,
        "verify": f"ghost verify {shlex.quote(str(path))} --key {shlex.quote(key)}",
    }


def _text(document: dict[str, Any]) -> str:
    state = "sealed" if document["sealed"] else "not sealed: more may follow"
    count = sum(len(each["fields"]) for each in document["erased"])
    erased = f"; {count} payload{'' if count == 1 else 's'} of it erased" if count else ""
    lines = [f"wrote {document['file']}: {document['entries']} entries, {state}{erased}"]
    for each in document["witnesses"]:
        said = f" ({each['detail']})" if each["detail"] else ""
        lines.append(f"witness {each['name']}: {each['state']}{said}")
    if document["timestamps"]:
        lines.append("time stamp: there, judged by ghost verify --tsa-root FILE")
    return "\n".join([*lines, f"verify: {document['verify']}"])
