"""The local certificate authority: one EC key per home, trusted only by the agents we start.

`ghost-ca.pem` holds key and certificate (0600), `ghost-ca-cert.pem` the certificate, `bundle.pem` the
system's roots and ours, so that a client which trusts the bundle still knows the real world.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import certifi
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.x509.oid import NameOID

from ghost_core.errors import ConfigError
from ghost_core.files import write_file

LIFETIME = timedelta(days=365)
_RENEW_BEFORE = timedelta(days=7)
_SYSTEM_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)


@dataclass(frozen=True, slots=True)
class Authority:
    """The three files of one authority."""

    key_file: Path
    certificate_file: Path
    bundle_file: Path


def ensure(folder: Path, *, now: datetime | None = None) -> Authority:
    """Return the authority of the folder, made anew when it is missing or about to end.

    A fresh authority replaces the three files; clients that run with the old one must be restarted.
    """
    now = now or datetime.now(UTC)
    authority = Authority(
        folder / "ghost-ca.pem", folder / "ghost-ca-cert.pem", folder / "bundle.pem"
    )
    if not _usable(authority.key_file, now):
        key, certificate = _create(now)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(authority.key_file, key + certificate, mode=0o600)
    certificate = _certificate_of(authority.key_file).public_bytes(serialization.Encoding.PEM)
    write_file(authority.certificate_file, certificate, mode=0o644)
    write_file(authority.bundle_file, system_roots() + certificate, mode=0o644)
    return authority


@dataclass(frozen=True, slots=True)
class Existing:
    """The authority of a folder as it lies there; `complete` if clients are given its certificate."""

    begins: datetime
    ends: datetime
    complete: bool


def existing(folder: Path) -> Existing:
    """Look at the authority of a folder without changing it; raises ConfigError `ca.unreadable`."""
    key_file = folder / "ghost-ca.pem"
    certificate = _certificate_of(key_file)
    if _key_of(key_file).public_key() != certificate.public_key():
        raise _unreadable(key_file)
    pem = certificate.public_bytes(serialization.Encoding.PEM).strip()
    files = (folder / "ghost-ca-cert.pem", folder / "bundle.pem")
    complete = all(file.is_file() and pem in file.read_bytes() for file in files)
    return Existing(certificate.not_valid_before_utc, certificate.not_valid_after_utc, complete)


def fingerprint(authority: Authority) -> str:
    """Return the SHA-256 fingerprint of the certificate in hex."""
    return _certificate_of(authority.key_file).fingerprint(hashes.SHA256()).hex()


def expires_at(authority: Authority) -> datetime:
    """Return when the certificate ends, UTC; it is made anew a week before."""
    return _certificate_of(authority.key_file).not_valid_after_utc


def system_roots() -> bytes:
    """Return the roots that this machine trusts, as PEM; certifi's where the system has no file."""
    named = ssl.get_default_verify_paths().cafile
    for candidate in (named, *_SYSTEM_BUNDLES, certifi.where()):
        if candidate and Path(candidate).is_file():
            return Path(candidate).read_bytes().rstrip() + b"\n"
    return b""


def upstream_roots(target: Path, extra: Path | None) -> Path:
    """Write the roots against which upstreams are checked: the system's and the configured extra.

    Raises ConfigError if the extra file cannot be read or holds no certificate.
    """
    roots = system_roots()
    if extra is not None:
        roots += _extra_roots(extra)
    write_file(target, roots, mode=0o600)
    return target


def _extra_roots(extra: Path) -> bytes:
    try:
        data = extra.read_bytes()
        x509.load_pem_x509_certificates(data)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"proxy.upstream_ca: expected a PEM file with certificates at {str(extra)!r}",
            code="config.upstream_ca",
        ) from error
    return data.rstrip() + b"\n"


def _usable(file: Path, now: datetime) -> bool:
    if not file.is_file():
        return False
    certificate = _certificate_of(file)
    if _key_of(file).public_key() != certificate.public_key():
        raise _unreadable(file)
    return certificate.not_valid_after_utc - now > _RENEW_BEFORE


def _certificate_of(file: Path) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(file.read_bytes())
    except (OSError, ValueError) as error:
        raise _unreadable(file) from error


def _key_of(file: Path) -> PrivateKeyTypes:
    try:
        return serialization.load_pem_private_key(file.read_bytes(), password=None)
    except (OSError, TypeError, ValueError) as error:
        raise _unreadable(file) from error


def _unreadable(file: Path) -> ConfigError:
    return ConfigError(
        f"certificate authority {str(file)!r}: cannot be read",
        code="ca.unreadable",
        hint="move the file away; a new authority is made at the next start",
    )


def _create(now: datetime) -> tuple[bytes, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    serial = x509.random_serial_number()
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "ghost"),
            x509.NameAttribute(NameOID.COMMON_NAME, f"ghost local CA {serial % 16**8:08x}"),
        ]
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(serial)
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_CA_USAGE, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return private, certificate.public_bytes(serialization.Encoding.PEM)


_CA_USAGE = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)
