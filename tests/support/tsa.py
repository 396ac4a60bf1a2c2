"""An authority of time as RFC 3161 and RFC 5652 describe it: its own DER, keys and certificates.

Written from the two texts, not from the code that it checks. Every part of a token can be made wrong.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

from support.bundles import START
from support.exchange import Exchange
from support.upstream import Upstream

SHA256 = "2.16.840.1.101.3.4.2.1"
SHA512 = "2.16.840.1.101.3.4.2.3"
_SIGNED_DATA = "1.2.840.113549.1.7.2"
_TST_INFO = "1.2.840.113549.1.9.16.1.4"
_CONTENT_TYPE = "1.2.840.113549.1.9.3"
_MESSAGE_DIGEST = "1.2.840.113549.1.9.4"
_SIGNING_CERTIFICATE = "1.2.840.113549.1.9.16.2.47"
_ECDSA_SHA256 = "1.2.840.10045.4.3.2"
_POLICY = "1.3.6.1.4.1.57264.2"


def tlv(tag: int, *parts: bytes) -> bytes:
    """Return one DER element."""
    body = b"".join(parts)
    if len(body) < 0x80:
        return bytes((tag, len(body))) + body
    size = len(body).to_bytes((len(body).bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(size))) + size + body


def seq(*parts: bytes) -> bytes:
    return tlv(0x30, *parts)


def octets(data: bytes) -> bytes:
    return tlv(0x04, data)


def integer(value: int) -> bytes:
    return tlv(0x02, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def oid(dotted: str) -> bytes:
    first, second, *rest = map(int, dotted.split("."))
    return tlv(0x06, bytes((40 * first + second,)), *map(_arc, rest))


def _arc(number: int) -> bytes:
    groups = [number & 0x7F]
    while number := number >> 7:
        groups.append(0x80 | (number & 0x7F))
    return bytes(reversed(groups))


def elements(data: bytes) -> list[tuple[int, bytes]]:
    """Return tag and body of each DER element in a row."""
    found, at = [], 0
    while at < len(data):
        tag, size, at = data[at], data[at + 1], at + 2
        if size & 0x80:
            count = size & 0x7F
            size, at = int.from_bytes(data[at : at + count], "big"), at + count
        found.append((tag, data[at : at + size]))
        at += size
    return found


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key."""

    cert: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> bytes:
        return self.cert.public_bytes(serialization.Encoding.PEM)

    @property
    def der(self) -> bytes:
        return self.cert.public_bytes(serialization.Encoding.DER)

    @property
    def private(self) -> bytes:
        form = serialization.PrivateFormat.PKCS8
        return self.key.private_bytes(
            serialization.Encoding.PEM, form, serialization.NoEncryption()
        )


def issue(
    name: str,
    by: Pair | None = None,
    *,
    usage: ObjectIdentifier | None = ExtendedKeyUsageOID.TIME_STAMPING,
    critical: bool = True,
    serial: int = 0,
    days: int = 3650,
    ca: bool = False,
    at_us: int = START,
) -> Pair:
    """Make a certificate that is valid from a day before; without an issuer it signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    start = datetime.fromtimestamp(at_us // 1_000_000, UTC) - timedelta(days=1)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by.cert.subject if by else subject)
        .public_key(key.public_key())
        .serial_number(serial or x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    )
    if usage is not None and not ca:
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=critical)
    return Pair(builder.sign(by.key if by else key, hashes.SHA256()), key)


@dataclass(slots=True)
class Authority:
    """Answers requests, always at one time; `more` are further certificates in its tokens."""

    root: Pair = field(default_factory=lambda: issue("Root of time", ca=True))
    signer: Pair | None = None
    at_us: int = START + 60_000_000
    accuracy: int = 1
    status: int = 0
    algorithm: str = SHA256
    more: tuple[Pair, ...] = ()
    asked: list[bytes] = field(default_factory=list)

    @property
    def pair(self) -> Pair:
        """The signer; made under the root where none was given."""
        if self.signer is None:
            self.signer = issue("Authority of time", self.root, at_us=self.at_us)
        return self.signer

    def answer(self, request: bytes) -> bytes:
        """Answer a TimeStampReq (RFC 3161 §2.4)."""
        self.asked.append(request)
        ((_, body),) = elements(request)
        parts = elements(body)
        digest = elements(parts[1][1])[1][1]
        nonce = next(int.from_bytes(part, "big") for tag, part in parts[2:] if tag == 0x02)
        if self.status:
            return seq(seq(integer(self.status)))
        return seq(seq(integer(0)), self.token(digest, nonce))

    def stamp(self, data: bytes) -> bytes:
        """Return a token over data, without a nonce."""
        return self.token(hashlib.sha256(data).digest())

    def token(self, digest: bytes, nonce: int | None = None) -> bytes:
        """Return a TimeStampToken: CMS SignedData over a TSTInfo."""
        info = self._info(digest, nonce)
        certificates = b"".join(sorted(each.der for each in (self.pair, *self.more)))
        return seq(
            oid(_SIGNED_DATA),
            tlv(
                0xA0,
                seq(
                    integer(3),
                    tlv(0x31, _algorithm(SHA256)),
                    seq(oid(_TST_INFO), tlv(0xA0, octets(info))),
                    tlv(0xA0, certificates),
                    tlv(0x31, self._signer_info(info)),
                ),
            ),
        )

    def _info(self, digest: bytes, nonce: int | None) -> bytes:
        at = datetime.fromtimestamp(self.at_us // 1_000_000, UTC)
        return seq(
            integer(1),
            oid(_POLICY),
            seq(_algorithm(self.algorithm), octets(digest)),
            integer(len(self.asked) + 1),
            tlv(0x18, at.strftime("%Y%m%d%H%M%SZ").encode()),
            seq(integer(self.accuracy)) if self.accuracy else b"",
            integer(nonce) if nonce is not None else b"",
        )

    def _signer_info(self, info: bytes) -> bytes:
        own = seq(seq(seq(octets(hashlib.sha256(self.pair.der).digest()))))
        attributes = sorted(
            [
                seq(oid(_CONTENT_TYPE), tlv(0x31, oid(_TST_INFO))),
                seq(oid(_MESSAGE_DIGEST), tlv(0x31, octets(hashlib.sha256(info).digest()))),
                seq(oid(_SIGNING_CERTIFICATE), tlv(0x31, own)),
            ]
        )
        signed = self.pair.key.sign(tlv(0x31, *attributes), ec.ECDSA(hashes.SHA256()))
        cert = self.pair.cert
        return seq(
            integer(1),
            seq(cert.issuer.public_bytes(), integer(cert.serial_number)),
            _algorithm(SHA256),
            tlv(0xA0, *attributes),
            seq(oid(_ECDSA_SHA256)),
            octets(signed),
        )


def _algorithm(dotted: str) -> bytes:
    return seq(oid(dotted))


def today(**more: Any) -> Authority:
    """Return an authority whose certificates and time are those of now."""
    now = int(datetime.now(UTC).timestamp()) * 1_000_000
    return Authority(issue("Root of today", ca=True, at_us=now), at_us=now, **more)


@contextmanager
def served(authority: Authority) -> Iterator[Upstream]:
    """Serve an authority over plain http on loopback, at every path."""

    def answer(exchange: Exchange) -> None:
        assert exchange.record.header("content-type") == b"application/timestamp-query"
        kind = [("Content-Type", "application/timestamp-reply")]
        exchange.reply(200, authority.answer(exchange.record.body), kind)

    with Upstream() as up:
        up.route("/tsa", answer)
        yield up
