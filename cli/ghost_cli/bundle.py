"""`ghost bundle` and `ghost bundle unpack`: the file that verifies offline, and its plain parts."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ghost_cli import output
from ghost_core.errors import UnavailableError
from ghost_ledger import bundle as bundles
from ghost_ledger.bundle import BUNDLE_LIMIT, Bundle
from ghost_ledger.export.files import plain_files

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
) -> int:
    """Write a file that anyone can verify offline.

    Example: ghost bundle gh_… -o session.ghost
    """
    from ghost_cli import evidence

    with evidence.opened() as found:
        made = found.ledger.bundle(session_id, found.home, disclose=disclose)
        head = found.ledger.head()
    data = bundles.encode(made)
    if file == Path("-"):
        output.raw(data)
        return 0
    path = file or Path(f"{session_id}.ghost")
    evidence.save(path, data, evidence.Kind("bundle", _STARTS))
    document = _document(session_id, path, made, len(data), head.vkey if head else "KEY")
    output.result(document, _text(document))
    return 0


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
        "key": key,
        "verify": f"ghost verify {shlex.quote(str(path))} --key {shlex.quote(key)}",
    }


def _text(document: dict[str, Any]) -> str:
    state = "sealed" if document["sealed"] else "not sealed: more may follow"
    return (
        f"wrote {document['file']}: {document['entries']} entries, {state}\n"
        f"verify: {document['verify']}"
    )
