"""An index of packages (the simple API as JSON, PEP 691): its newest wheel, and that one checked."""

from __future__ import annotations

import email.parser
import hashlib
import hmac
import io
import json
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urljoin

from ghost_cli.doctor.program import DISTRIBUTION
from ghost_cli.upgrade.fetching import Fetcher, place
from ghost_cli.upgrade.versions import Version, parse
from ghost_core.errors import IntegrityError, NotFoundError, UnavailableError

__all__ = ["Wheel", "download", "newest"]

FORM: Final = "application/vnd.pypi.simple.v1+json"
PAGE_BYTES: Final = 16 * 1024 * 1024
WHEEL_BYTES: Final = 256 * 1024 * 1024
METADATA_BYTES: Final = 1024 * 1024
_STEM: Final = DISTRIBUTION.replace("-", "_")
_WHEEL: Final = re.compile(rf"{_STEM}-(?P<version>[0-9][A-Za-z0-9.]{{0,60}})-py3-none-any\.whl")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_AT_LEAST: Final = re.compile(r">=\s*(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Wheel:
    """A file that an index offers, and what the index says it hashes to."""

    name: str
    version: str
    order: Version
    url: str
    sha256: str


def newest(fetcher: Fetcher, index: str) -> Wheel:
    """Return the newest release for this Python that is not withdrawn.

    Raises:
        NotFoundError: code `upgrade.missing`, the index has none.
        UnavailableError: code `upgrade.index`, it does not speak the JSON form; and as `Fetcher.get`.
    """
    page = f"{index.rstrip('/')}/{DISTRIBUTION}/"
    found = list(_offered(_page(fetcher, page), page))
    if not found:
        raise NotFoundError(
            f"index {place(page)}: has no release for this Python", code="upgrade.missing"
        )
    return max(found, key=lambda each: each.order)


def download(fetcher: Fetcher, wheel: Wheel) -> bytes:
    """Return the bytes of a wheel, which are what the index promised and call themselves so.

    Raises:
        IntegrityError: codes `upgrade.checksum`, `upgrade.wheel`.
    """
    data = fetcher.get(wheel.url, limit=WHEEL_BYTES, seconds=600)
    found = hashlib.sha256(data).hexdigest()
    if not hmac.compare_digest(found, wheel.sha256):
        raise IntegrityError(
            f"wheel {wheel.name}: expected sha256 {wheel.sha256}, found {found}",
            code="upgrade.checksum",
            hint="nothing was installed",
        )
    _require_itself(data, wheel)
    return data


def _page(fetcher: Fetcher, page: str) -> Mapping[str, Any]:
    try:
        document = json.loads(fetcher.get(page, limit=PAGE_BYTES, seconds=60, accept=FORM))
    except (ValueError, RecursionError):
        document = None
    version = _inner(document, "meta").get("api-version")
    if not (isinstance(version, str) and version.startswith("1.")):
        raise UnavailableError(
            f"index {place(page)}: expected the JSON form of the simple API, version 1",
            code="upgrade.index",
        )
    return _inner({"document": document}, "document")


def _offered(document: Mapping[str, Any], page: str) -> Iterator[Wheel]:
    files = document.get("files")
    for each in files if isinstance(files, list) else ():
        file = each if isinstance(each, dict) else {}
        name, url = str(file.get("filename")), file.get("url")
        named, digest = _WHEEL.fullmatch(name), _inner(file, "hashes").get("sha256")
        order = parse(named["version"]) if named else None
        usable = order is not None and order.released and not file.get("yanked")
        sure = isinstance(url, str) and _SHA256.fullmatch(str(digest)) is not None
        if named and order and usable and sure and _fits(str(file.get("requires-python") or "")):
            yield Wheel(name, named["version"], order, urljoin(page, str(url)), str(digest))


def _inner(document: object, name: str) -> Mapping[str, Any]:
    found = document.get(name) if isinstance(document, dict) else None
    return found if isinstance(found, dict) else {}


def _fits(required: str) -> bool:
    """Tell whether a file is for this Python; what else a requirement says the installer judges."""
    found = _AT_LEAST.search(required)
    return found is None or (int(found[1]), int(found[2])) <= sys.version_info[:2]


def _require_itself(data: bytes, wheel: Wheel) -> None:
    """Refuse a wheel that is not what its name says: another version in it could be an older one."""
    try:
        with (
            zipfile.ZipFile(io.BytesIO(data)) as archive,
            archive.open(f"{_STEM}-{wheel.version}.dist-info/METADATA") as file,
        ):
            told = email.parser.BytesParser().parsebytes(file.read(METADATA_BYTES))
    except (OSError, KeyError, ValueError, RuntimeError, zipfile.BadZipFile) as error:
        raise IntegrityError(f"wheel {wheel.name}: is no wheel", code="upgrade.wheel") from error
    name = str(told["Name"]).lower().replace("_", "-")
    if (name, str(told["Version"])) != (DISTRIBUTION, wheel.version):
        raise IntegrityError(f"wheel {wheel.name}: is something else inside", code="upgrade.wheel")
