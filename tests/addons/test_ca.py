"""The local authority: made once, renewed in time, accepted by strict clients."""

from __future__ import annotations

import socket
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import certifi
import pytest
from cryptography import x509

from ghost_addons import ca
from ghost_core.errors import ConfigError
from support.agent import raw_connect
from support.certs import Certs
from support.live import LiveProxy, LiveSession
from support.upstream import Upstream

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def certificate(authority: ca.Authority) -> x509.Certificate:
    return x509.load_pem_x509_certificate(authority.certificate_file.read_bytes())


def test_only_we_may_read_the_key(tmp_path: Path) -> None:
    authority = ca.ensure(tmp_path / "ca")
    assert (tmp_path / "ca").stat().st_mode & 0o777 == 0o700
    assert authority.key_file.stat().st_mode & 0o777 == 0o600
    assert b"PRIVATE KEY" in authority.key_file.read_bytes()
    for public in (authority.certificate_file, authority.bundle_file):
        assert b"PRIVATE KEY" not in public.read_bytes()


def test_a_second_start_keeps_the_authority(tmp_path: Path) -> None:
    before = ca.fingerprint(ca.ensure(tmp_path, now=NOW))
    assert ca.fingerprint(ca.ensure(tmp_path, now=NOW + timedelta(days=357))) == before
    assert len(before) == 64


def test_an_authority_that_is_about_to_end_is_made_anew(tmp_path: Path) -> None:
    before = ca.ensure(tmp_path, now=NOW)
    old = ca.fingerprint(before)
    later = NOW + ca.LIFETIME - timedelta(days=6)
    renewed = ca.ensure(tmp_path, now=later)
    assert ca.fingerprint(renewed) != old
    made = certificate(renewed)
    assert made.not_valid_before_utc <= later - timedelta(days=1)
    assert made.not_valid_after_utc == later + ca.LIFETIME
    assert made.public_bytes(ca.serialization.Encoding.PEM) in renewed.bundle_file.read_bytes()


def test_the_bundle_holds_the_systems_roots_and_ours(tmp_path: Path) -> None:
    authority = ca.ensure(tmp_path)
    roots, ours = ca.system_roots(), authority.certificate_file.read_bytes()
    assert roots.count(b"-----BEGIN CERTIFICATE-----") > 10
    assert authority.bundle_file.read_bytes() == roots + ours


def test_without_a_file_of_the_system_certifis_roots_are_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ca, "_SYSTEM_BUNDLES", ("/nowhere/a.pem",))
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: ssl.DefaultVerifyPaths(*[""] * 6))
    assert ca.system_roots().strip() == Path(certifi.where()).read_bytes().strip()
    monkeypatch.setattr(certifi, "where", lambda: "/nowhere/b.pem")
    assert ca.system_roots() == b""


def test_a_broken_authority_is_not_replaced_silently(tmp_path: Path) -> None:
    (tmp_path / "ghost-ca.pem").write_text("nonsense")
    with pytest.raises(ConfigError) as caught:
        ca.ensure(tmp_path)
    assert caught.value.code == "ca.unreadable"
    assert caught.value.hint is not None


def test_a_certificate_without_its_key_is_no_authority(tmp_path: Path) -> None:
    authority = ca.ensure(tmp_path)
    authority.key_file.write_bytes(authority.certificate_file.read_bytes())
    with pytest.raises(ConfigError) as caught:
        ca.ensure(tmp_path)
    assert caught.value.code == "ca.unreadable"


def test_the_key_of_another_certificate_is_no_authority(tmp_path: Path) -> None:
    one, other = ca.ensure(tmp_path / "a"), ca.ensure(tmp_path / "b")
    key = one.key_file.read_bytes().split(b"-----BEGIN CERTIFICATE-----")[0]
    one.key_file.write_bytes(key + other.certificate_file.read_bytes())
    with pytest.raises(ConfigError) as caught:
        ca.ensure(tmp_path / "a")
    assert caught.value.code == "ca.unreadable"


def test_upstreams_are_checked_against_the_systems_roots_and_the_extra(
    tmp_path: Path, certs: Certs
) -> None:
    plain = ca.upstream_roots(tmp_path / "a.pem", None).read_bytes()
    both = ca.upstream_roots(tmp_path / "b.pem", certs.ca).read_bytes()
    assert plain == ca.system_roots()
    assert both == plain + certs.ca.read_bytes().rstrip() + b"\n"


@pytest.mark.parametrize("content", [None, "", "-----BEGIN CERTIFICATE-----\nAAAA"])
def test_a_broken_upstream_ca_is_refused(content: str | None, tmp_path: Path) -> None:
    extra = tmp_path / "extra.pem"
    if content is not None:
        extra.write_text(content)
    with pytest.raises(ConfigError) as caught:
        ca.upstream_roots(tmp_path / "roots.pem", extra)
    assert caught.value.code == "config.upstream_ca"
    assert not (tmp_path / "roots.pem").exists()


def test_a_strict_client_accepts_leaf_and_authority(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    context = ssl.create_default_context(cafile=str(proxy.proxy.authority.bundle_file))
    context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_STRICT
    with raw_connect(proxy.port, up.authority, session.auth) as tunnel:
        raw: socket.socket = tunnel.sock
        with context.wrap_socket(raw, server_hostname="localhost") as secured:
            leaf = secured.getpeercert()
    assert leaf is not None
    assert ("DNS", "localhost") in leaf["subjectAltName"]


def test_a_look_at_an_authority_changes_nothing_and_sees_what_clients_are_given(
    tmp_path: Path,
) -> None:
    authority = ca.ensure(tmp_path, now=NOW)
    found = ca.existing(tmp_path)
    assert (found.begins, found.ends) == (NOW - timedelta(days=2), NOW + ca.LIFETIME)
    assert found.complete
    authority.certificate_file.unlink()
    assert not ca.existing(tmp_path).complete
    assert not authority.certificate_file.exists()


def test_a_look_at_a_key_of_another_certificate_is_refused(tmp_path: Path) -> None:
    one, other = ca.ensure(tmp_path / "one"), ca.ensure(tmp_path / "other")
    key, _, _ = one.key_file.read_bytes().partition(b"-----BEGIN CERT")
    other.key_file.write_bytes(key + other.certificate_file.read_bytes())
    with pytest.raises(ConfigError) as caught:
        ca.existing(tmp_path / "other")
    assert caught.value.code == "ca.unreadable"
