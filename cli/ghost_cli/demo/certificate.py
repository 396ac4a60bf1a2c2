"""A self-signed certificate for `localhost`: the demo's API has its own, as every real API does."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ghost_core.files import write_file

if TYPE_CHECKING:
    from pathlib import Path

_LIFETIME = timedelta(hours=1)
_ADDRESSES = ("127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Certificate:
    """Two PEM files; the certificate is its own trust anchor."""

    certificate_file: Path
    key_file: Path


def make(folder: Path, now: datetime | None = None) -> Certificate:
    """Write a certificate for localhost that lives for one hour."""
    key = ec.generate_private_key(ec.SECP256R1())
    made = Certificate(folder / "api.pem", folder / "api.key")
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    signed = _builder(key, now or datetime.now(UTC)).sign(key, hashes.SHA256())
    write_file(made.key_file, private, mode=0o600)
    write_file(made.certificate_file, signed.public_bytes(serialization.Encoding.PEM), mode=0o644)
    return made


def _builder(key: ec.EllipticCurvePrivateKey, now: datetime) -> x509.CertificateBuilder:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "ghost demo API")])
    addresses = [x509.IPAddress(ipaddress.ip_address(each)) for each in _ADDRESSES]
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), *addresses])
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _LIFETIME)
        .not_valid_after(now + _LIFETIME)
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    )
