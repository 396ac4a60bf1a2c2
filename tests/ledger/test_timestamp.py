"""Time stamps of an authority that the tests wrote themselves, and of `openssl` where it is there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.x509.oid import ExtendedKeyUsageOID
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import IntegrityError, UnavailableError, UsageError
from ghost_ledger import timestamp
from ghost_ledger.timestamp import Request, Roots, read
from support import tsa
from support.bundles import START
from support.tsa import Authority, Pair, issue

DATA = b"a head\n"
OPENSSL = shutil.which("openssl")
needs_openssl = pytest.mark.skipif(OPENSSL is None, reason="openssl is not installed")


@pytest.fixture(scope="module")
def root() -> Pair:
    return issue("Root of time", ca=True)


@pytest.fixture(scope="module")
def roots(root: Pair) -> Roots:
    return Roots(root.pem)


def test_a_token_says_what_it_is_over_by_whom_and_when(root: Pair, roots: Roots) -> None:
    stamp = read(Authority(root).stamp(DATA))
    roots.check(stamp)
    assert stamp.digest == Request.over(DATA).digest
    assert stamp.signer == "CN=Authority of time"
    assert (stamp.at_us, stamp.accuracy_us) == (START + 60_000_000, 1_000_000)
    assert read(Authority(root, accuracy=0).stamp(DATA)).accuracy_us == 0


def test_an_answer_gives_the_token_that_was_asked_for(root: Pair, roots: Roots) -> None:
    request = Request.over(DATA)
    token = request.accept(Authority(root).answer(request.body))
    roots.check(read(token))


def test_an_answer_for_another_request_is_refused(root: Pair) -> None:
    request, authority = Request.over(DATA), Authority(root)
    wrong = {
        "another nonce": authority.answer(Request.over(DATA).body),
        "other bytes": tsa.seq(tsa.seq(tsa.integer(0)), authority.token(b"\1" * 32, request.nonce)),
        "no nonce": tsa.seq(tsa.seq(tsa.integer(0)), authority.stamp(DATA)),
        "refused": Authority(root, status=2).answer(request.body),
        "nothing": b"",
        "text": b"<html>",
    }
    for what, answer in wrong.items():
        with pytest.raises(IntegrityError) as caught:
            request.accept(answer)
        assert caught.value.code == "timestamp.answer", what


def test_an_authority_of_another_root_is_not_believed(root: Pair) -> None:
    stamp = read(Authority(root).stamp(DATA))
    with pytest.raises(IntegrityError) as caught:
        Roots(issue("Root of time", ca=True).pem).check(stamp)
    assert caught.value.code == "timestamp.signer"


def test_a_chain_may_have_a_link_that_the_token_brings(root: Pair, roots: Roots) -> None:
    link = issue("Link", root, ca=True)
    signer = issue("Authority of time", link)
    roots.check(read(Authority(root, signer=signer, more=(link,)).stamp(DATA)))
    with pytest.raises(IntegrityError):
        roots.check(read(Authority(root, signer=signer).stamp(DATA)))


@pytest.mark.parametrize("usage", [None, ExtendedKeyUsageOID.SERVER_AUTH], ids=["none", "server"])
def test_a_certificate_for_other_things_stamps_no_time(
    root: Pair, roots: Roots, usage: tsa.ObjectIdentifier | None
) -> None:
    signer = issue("Some server", root, usage=usage)
    with pytest.raises(IntegrityError):
        roots.check(read(Authority(root, signer=signer).stamp(DATA)))


def test_a_certificate_must_be_good_at_the_time_of_the_token(root: Pair, roots: Roots) -> None:
    ended = issue("Authority of time", root, days=1)
    with pytest.raises(IntegrityError):
        roots.check(read(Authority(root, signer=ended).stamp(DATA)))
    roots.check(read(Authority(root, signer=ended, at_us=START - 1_000_000).stamp(DATA)))


def test_a_certificate_that_passes_for_the_signers_is_seen(root: Pair) -> None:
    server = issue("Some server", root, usage=ExtendedKeyUsageOID.SERVER_AUTH, serial=77)
    fake = issue("Authority of time", Pair(root.cert, server.key), serial=77)
    with pytest.raises(IntegrityError, match="2 certificates of its signer"):
        read(Authority(root, signer=server, more=(fake,)).stamp(DATA))


def test_only_sha_256_counts(root: Pair) -> None:
    with pytest.raises(IntegrityError, match="another hash"):
        read(Authority(root, algorithm=tsa.SHA512).stamp(DATA))


def test_no_byte_of_a_token_changes_what_it_says(root: Pair, roots: Roots) -> None:
    token = Authority(root).stamp(DATA)
    honest, passed = read(token), 0
    for at in range(len(token)):
        changed = token[:at] + bytes((token[at] ^ 1,)) + token[at + 1 :]
        try:
            stamp = read(changed)
            roots.check(stamp)
        except IntegrityError:
            continue
        passed += 1
        said = stamp.digest, stamp.signer, stamp.at_us, stamp.accuracy_us
        assert said == (honest.digest, honest.signer, honest.at_us, honest.accuracy_us)
    assert passed < 20  # bytes that nothing signs: a version, the name of the algorithm


@given(data=st.binary(max_size=300))
def test_any_bytes_are_our_error(data: bytes) -> None:
    for work in (read, Request.over(DATA).accept):
        with pytest.raises(IntegrityError):
            work(data)


@pytest.mark.parametrize("more", [b"\0", b"0\0"])
def test_nothing_may_follow_a_token(root: Pair, more: bytes) -> None:
    with pytest.raises(IntegrityError):
        read(Authority(root).stamp(DATA) + more)


@pytest.mark.parametrize("pem", [b"", b"text", b"-----BEGIN CERTIFICATE-----\nAA==\n"])
def test_roots_must_be_certificates(pem: bytes) -> None:
    with pytest.raises(UsageError) as caught:
        Roots(pem)
    assert caught.value.code == "usage.tsa_root"


def test_several_roots_may_be_given(root: Pair) -> None:
    roots = Roots(issue("Other", ca=True).pem + root.pem)
    roots.check(roots.read(Authority(root).stamp(DATA)))


def test_without_the_extra_the_command_to_install_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "rfc3161_client", None)
    monkeypatch.delitem(sys.modules, "ghost_ledger.timestamp")
    monkeypatch.delattr(sys.modules["ghost_ledger"], "timestamp")
    with pytest.raises(UnavailableError) as caught:
        from ghost_ledger import timestamp as _  # noqa: F401
    assert caught.value.hint == "pip install 'ghost-ledger[evidence]'"
    assert timestamp.Request is Request


@needs_openssl
def test_openssl_takes_our_authority_and_our_request(tmp_path: Path, root: Pair) -> None:
    """Our simulator is what it says: its token verifies by another implementation."""
    files = {"data": DATA, "token": Authority(root).stamp(DATA), "root.pem": root.pem}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    command = ["ts", "-verify", "-token_in", "-in", "token", "-data", "data", "-CAfile", "root.pem"]
    moment = str(START // 1_000_000)
    said = _openssl(tmp_path, *command, "-attime", moment)
    assert b"Verification: OK" in said
    (tmp_path / "query").write_bytes(Request.over(DATA).body)
    assert b"Hash Algorithm: sha256" in _openssl(
        tmp_path, *["ts", "-query", "-in", "query", "-text"]
    )


@needs_openssl
def test_a_token_of_openssl_is_read_and_checked(tmp_path: Path) -> None:
    now = int(datetime.now(UTC).timestamp() * 1_000_000)
    authority = issue("Root of today", ca=True, at_us=now)
    signer = issue("Authority of openssl", authority, at_us=now)
    request = Request.over(DATA)
    files = {"query": request.body, "signer.pem": signer.pem, "signer.key": signer.private}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "tsa.cnf").write_text(
        "[tsa]\nserial=serial\ncrypto_device=builtin\nsigner_digest=sha256\n"
        "default_policy=1.2.3.4\ndigests=sha256\ness_cert_id_alg=sha256\naccuracy=secs:1\n"
    )
    command = "ts -reply -config tsa.cnf -section tsa -queryfile query -out answer"
    _openssl(tmp_path, *command.split(), *["-signer", "signer.pem", "-inkey", "signer.key"])
    stamp = read(request.accept((tmp_path / "answer").read_bytes()))
    Roots(authority.pem).check(stamp)
    assert stamp.signer == "CN=Authority of openssl"
    assert abs(stamp.at_us - now) < 60_000_000


def _openssl(folder: Path, *words: str) -> bytes:
    done = subprocess.run(
        [str(OPENSSL), *words], cwd=folder, capture_output=True, check=False, timeout=20
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
