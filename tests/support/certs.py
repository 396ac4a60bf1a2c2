"""A throw-away certificate authority and its server certificates, as files in one folder."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Leaf:
    """A server certificate and its key, PEM files."""

    cert: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Certs:
    """The authority: `ca` is the PEM file a client has to trust."""

    folder: Path
    ca: Path

    def leaf(self, *names: str, ended: bool = False) -> Leaf:
        """Return a certificate for these DNS names or addresses, made once per set of names.

        `ended` makes one whose time is over.
        """
        stem = "-".join(name.replace(":", "_").replace("*", "any") for name in names)
        stem += "-ended" if ended else ""
        made = Leaf(self.folder / f"{stem}.pem", self.folder / f"{stem}.key")
        if not made.cert.exists():
            self._issue(made, names, ended=ended)
        return made

    def _issue(self, leaf: Leaf, names: tuple[str, ...], *, ended: bool) -> None:
        issuer_key = serialization.load_pem_private_key(
            (self.folder / "ca.key").read_bytes(), password=None
        )
        issuer = x509.load_pem_x509_certificate(self.ca.read_bytes())
        key = ec.generate_private_key(ec.SECP256R1())
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
        authority = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier)
        builder = (
            _builder(names[0], issuer.subject, key.public_key(), hours=-1 if ended else 48)
            .add_extension(x509.SubjectAlternativeName(_alternatives(names)), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(usage, critical=False)
            .add_extension(authority, critical=False)
        )
        assert isinstance(issuer_key, ec.EllipticCurvePrivateKey)
        leaf.key.write_bytes(_private(key))
        leaf.cert.write_bytes(_public(builder.sign(issuer_key, hashes.SHA256())))


def make_certs(folder: Path, *, name: str = "ghost test authority") -> Certs:
    """Make an authority (EC P-256, valid for two days) in a folder, which is created."""
    folder.mkdir(parents=True, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        _builder(name, subject, key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_signing_only(), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    (folder / "ca.key").write_bytes(_private(key))
    (folder / "ca.pem").write_bytes(_public(builder.sign(key, hashes.SHA256())))
    return Certs(folder, folder / "ca.pem")


def _builder(
    name: str, issuer: x509.Name, key: ec.EllipticCurvePublicKey, *, hours: int = 48
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(hours=hours))
    )


def _signing_only() -> x509.KeyUsage:
    return x509.KeyUsage(
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


def _alternatives(names: tuple[str, ...]) -> list[x509.GeneralName]:
    found: list[x509.GeneralName] = []
    for name in names:
        try:
            found.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            found.append(x509.DNSName(name))
    return found


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _public(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
