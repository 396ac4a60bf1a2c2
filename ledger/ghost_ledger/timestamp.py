"""RFC 3161 time stamps: what is asked for, what an answer must hold, and who may have signed it.

The one module that knows the library of the extra `evidence`. It is loaded only where a time stamp is asked
for or judged, and reads no clock and no network.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Self, cast

from cryptography import x509

from ghost_core.errors import GhostError, IntegrityError, UnavailableError, UsageError

try:
    import rfc3161_client as library
except ImportError as error:
    raise UnavailableError(
        "time stamps: rfc3161-client is not installed",
        code="evidence.missing",
        hint="pip install 'ghost-ledger[evidence]'",
    ) from error

__all__ = ["Request", "Roots", "Stamp", "read"]

_SHA256: Final = "2.16.840.1.101.3.4.2.1"
_GRANTED: Final = bytes.fromhex("3003020100")  # PKIStatusInfo: granted, and nothing else
_SHORT: Final = 0x80
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a token says: over which SHA-256, by whom, and when: microseconds, its accuracy beside it."""

    digest: bytes
    signer: str
    at_us: int
    accuracy_us: int
    answer: library.TimeStampResponse


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a token over bytes, with a nonce that the answer must repeat."""

    body: bytes
    nonce: int | None
    digest: bytes

    @classmethod
    def over(cls, data: bytes) -> Self:
        """Ask for a token over SHA-256 of the data, with the certificates of whoever signs it."""
        builder = library.TimestampRequestBuilder().data(data)
        made = builder.hash_algorithm(library.HashAlgorithm.SHA256).build()
        return cls(made.as_bytes(), made.nonce, hashlib.sha256(data).digest())

    def accept(self, answer: bytes) -> bytes:
        """Return the token of an answer; who signed it is left to those who judge it.

        Raises:
            IntegrityError: code `timestamp.answer`, refused, or over other bytes, or with another nonce;
                code `timestamp.token`, as `read`.
        """
        with _foreign("the answer is not in the form of RFC 3161", "timestamp.answer"):
            found = library.decode_timestamp_response(answer)
            if found.status != library.PKIStatus.GRANTED:
                raise _broken(f"the answer has status {found.status}", "timestamp.answer")
            token, nonce = found.time_stamp_token(), found.tst_info.nonce
        if nonce != self.nonce or read(token).digest != self.digest:
            raise _broken("the answer is not for this request", "timestamp.answer")
        return token


class Roots:
    """The certificates of the caller, one of which the chain of an authority must end in."""

    def __init__(self, pem: bytes) -> None:
        """Read one or more certificates.

        Raises:
            UsageError: code `usage.tsa_root`, there is none, or one that cannot be read.
        """
        try:
            with _foreign("no certificate as PEM", "usage.tsa_root"):
                self._roots = x509.load_pem_x509_certificates(pem)
        except IntegrityError as error:
            raise UsageError("--tsa-root: no certificate as PEM", code="usage.tsa_root") from error

    def read(self, token: bytes) -> Stamp:
        """Read a token; raises as the function `read`."""
        return read(token)

    def check(self, stamp: Stamp) -> None:
        """Demand that an authority signed the token whose chain, at its time, leads to one of the roots.

        Raises:
            IntegrityError: code `timestamp.signer`.
        """
        with _foreign("nobody under the given roots signed it", "timestamp.signer"):
            verifier = library.VerifierBuilder(roots=list(self._roots)).build()
            verifier.verify(stamp.answer, stamp.digest)


def read(token: bytes) -> Stamp:
    """Read a token; nothing is verified yet.

    Raises:
        IntegrityError: code `timestamp.token`, no token of RFC 3161 over a SHA-256 by one signer.
    """
    with _foreign("not in the form of RFC 3161", "timestamp.token"):
        answer = library.decode_timestamp_response(_sequence(_GRANTED + token))
        info, signer = answer.tst_info, _signer(answer.signed_data)
        if info.message_imprint.hash_algorithm.dotted_string != _SHA256:
            raise _broken("over another hash than SHA-256", "timestamp.token")
        since = info.gen_time.replace(tzinfo=UTC) - _EPOCH
        at_us = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
        return Stamp(info.message_imprint.message, signer, at_us, _accuracy_us(info), answer)


def _signer(data: library.SignedData) -> str:
    """Name the signer. Its certificate must be there once: of two with one number either could be meant."""
    (signer,) = data.signer_infos
    found = [
        each.subject.rfc4514_string()
        for each in map(x509.load_der_x509_certificate, data.certificates)
        if (each.issuer, each.serial_number) == (signer.issuer, signer.serial_number)
    ]
    if len(found) != 1:
        raise _broken(f"holds {len(found)} certificates of its signer", "timestamp.token")
    return found[0]


def _accuracy_us(info: library.TimeStampTokenInfo) -> int:
    found = cast("library.Accuracy | None", info.accuracy)  # its stub forgets that it may be absent
    if found is None:
        return 0
    return (found.seconds or 0) * 1_000_000 + (found.millis or 0) * 1000 + (found.micros or 0)


def _sequence(content: bytes) -> bytes:
    """Wrap content as a DER sequence."""
    size = len(content)
    if size < _SHORT:
        return bytes((0x30, size)) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((0x30, _SHORT | len(length))) + length + content


@contextmanager
def _foreign(reason: str, code: str) -> Iterator[None]:
    """Turn whatever the libraries raise, or warn of, over bytes that anyone may have made into our error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            yield
        except GhostError:
            raise
        except Exception as error:
            raise _broken(reason, code) from error


def _broken(reason: str, code: str) -> IntegrityError:
    return IntegrityError(f"time stamp: {reason}", code=code)
