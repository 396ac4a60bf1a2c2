from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import DeniedError, GhostError, IntegrityError
from ghost_ledger import canonical, wiretoken
from ghost_ledger.keys import SecretKey
from ghost_ledger.wiretoken import Claims

KEY = SecretKey.from_seed(bytes(32))
SID = "gh_" + "1" * 32
ACTION = "act_" + "2" * 32
TOKEN = wiretoken.issue(KEY, sid=SID, action_id=ACTION, host="api.test", expires_at_s=1000)


def checked(token: str = TOKEN, *, now_s: int = 999, host: str = "api.test") -> Claims:
    return wiretoken.check(token, KEY.public, now_s=now_s, host=host)


def signed(body: bytes, label: bytes = b"ghost-wire-token-v1\n") -> str:
    parts = (body, KEY.sign(label + body))
    texts = (base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)
    return "ghwire_" + ".".join(texts)


def test_a_token_says_who_acts_where_and_until_when():
    assert checked() == Claims(SID, ACTION, "api.test", 1000)


def test_a_token_is_refused_for_another_host():
    with pytest.raises(DeniedError) as caught:
        checked(host="evil.test")
    assert caught.value.code == "wire.host"


def test_a_token_ends_at_its_last_second():
    with pytest.raises(DeniedError) as caught:
        checked(now_s=1000)
    assert caught.value.code == "wire.expired"


def test_a_token_of_another_key_is_refused():
    other = SecretKey.from_seed(bytes([1]) * 32)
    with pytest.raises(IntegrityError) as caught:
        wiretoken.check(TOKEN, other.public, now_s=0, host="api.test")
    assert caught.value.code == "ledger.signature"


def test_a_low_order_key_is_refused():
    with pytest.raises(IntegrityError) as caught:
        wiretoken.check(TOKEN, bytes.fromhex("01" + "00" * 31), now_s=0, host="api.test")
    assert caught.value.code == "ledger.key"


def test_a_signature_over_the_bare_claims_is_none():
    body = canonical.encode({"v": 1, "sid": SID, "action": ACTION, "host": "api.test", "exp": 9999})
    assert checked(signed(body)).expires_at_s == 9999
    with pytest.raises(IntegrityError):
        checked(signed(body, b""))


@pytest.mark.parametrize("claims", [{"v": 2}, {"v": 1, "sid": SID}])
def test_an_unknown_version_or_missing_claims_are_refused(claims):
    with pytest.raises(IntegrityError) as caught:
        checked(signed(canonical.encode(claims)))
    assert caught.value.code == "wire.malformed"


@pytest.mark.parametrize(
    "token",
    ["", "ghwire_", "ghtoken_a.b", "ghwire_abc", "ghwire_a.b", "ghwire_é.é", TOKEN + "=",
     TOKEN.replace(".", "+."), "ghwire_" + "a" * 2000 + ".b", TOKEN[:-1] + "B"],
)  # fmt: skip
def test_what_is_no_token_is_refused(token: str):
    with pytest.raises(IntegrityError) as caught:
        checked(token)
    assert caught.value.code == "wire.malformed"


@given(st.integers(0, len(TOKEN) - 1), st.characters())
def test_every_changed_character_is_refused(at: int, character: str):
    token = TOKEN[:at] + character + TOKEN[at + 1 :]
    if token != TOKEN:
        with pytest.raises(GhostError):
            checked(token)


def test_the_claims_are_in_the_one_canonical_form():
    body = base64.urlsafe_b64decode(TOKEN.removeprefix("ghwire_").partition(".")[0] + "==")
    claims = {"v": 1, "sid": SID, "action": ACTION, "host": "api.test", "exp": 1000}
    assert body == canonical.encode(claims)


def test_an_action_that_could_need_an_escape_gets_no_token():
    with pytest.raises(IntegrityError) as caught:
        wiretoken.issue(KEY, sid=SID, action_id='a","v":2', host="api.test", expires_at_s=1000)
    assert caught.value.code == "wire.malformed"
