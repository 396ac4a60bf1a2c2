from __future__ import annotations

from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from mitmproxy.net import tls

from ghost_addons import openssl
from support.certs import Certs

SSL: Any = vars(tls)["SSL"]


def test_a_certificate_and_a_key_are_made_once(certs: Certs) -> None:
    assert openssl.install() == ()
    authority = x509.load_pem_x509_certificate(certs.ca.read_bytes())
    made = SSL.X509.from_cryptography(authority)
    assert SSL.X509.from_cryptography(authority) is made
    assert made.to_cryptography() == authority
    key, other = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    pkey = SSL.PKey.from_cryptography_key(key)
    assert SSL.PKey.from_cryptography_key(key) is pkey
    assert SSL.PKey.from_cryptography_key(other) is not pkey


def test_where_the_library_makes_them_otherwise_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(SSL.PKey, "from_cryptography_key")
    assert openssl.install() == ("from_cryptography_key",)
