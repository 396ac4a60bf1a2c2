"""`ghost ca`: the local certificate."""

from __future__ import annotations

import hashlib
import json
import ssl

from support.home import GhostHome
from support.shell import inside


def test_show_names_the_files_and_the_fingerprint(place: GhostHome) -> None:
    found = inside(place, "ca", "show", "--json").json
    pem = (place.root / "ca" / "ghost-ca-cert.pem").read_text()
    assert found["schema"] == "ghost/ca/v1"
    assert found["certificate"] == str(place.root / "ca" / "ghost-ca-cert.pem")
    assert found["bundle"] == str(place.root / "ca" / "bundle.pem")
    assert found["sha256"] == hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()
    assert found["expires_at"] > "2026"
    assert found["expires_at"].endswith("Z")
    assert f"sha256: {found['sha256']}" in inside(place, "ca", "show").out


def test_export_prints_the_certificate_and_never_the_key(place: GhostHome) -> None:
    done = inside(place, "ca", "export")
    assert done.out == (place.root / "ca" / "ghost-ca-cert.pem").read_text()
    assert "PRIVATE" not in done.out


def test_the_certificate_is_made_once(place: GhostHome) -> None:
    assert inside(place, "ca", "export").out == inside(place, "ca", "export").out


def test_the_key_is_for_its_owner_only(place: GhostHome) -> None:
    assert inside(place, "ca", "show").code == 0
    assert (place.root / "ca" / "ghost-ca.pem").stat().st_mode & 0o777 == 0o600


def test_without_a_verb_the_help_is_shown(place: GhostHome) -> None:
    done = inside(place, "ca")
    assert done.code == 0
    assert "export" in done.out
    assert json.dumps("Traceback") not in done.err
