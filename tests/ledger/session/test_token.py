from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core import ids
from ghost_core.errors import DeniedError, UsageError
from ghost_core.paths import Home
from ghost_ledger.session import token as tokens
from support.handclock import HandClock

HOUR_US = 3600 * 1_000_000
WEEK_US = 7 * 24 * HOUR_US


@dataclass(frozen=True, slots=True)
class Row:
    boot: str
    deadline: int


def make(home: Home, clock: HandClock, sid: str | None = None, ttl_us: int = HOUR_US):
    return tokens.issue(home, sid or ids.session_id(), clock.now + ttl_us, clock=clock)


def refused(home: Home, token: bytes, clock: HandClock, **more: object):
    with pytest.raises(DeniedError) as caught:
        tokens.check(home, token, clock=clock, **more)
    return caught.value.code


def test_a_token_names_its_session_and_its_end(home: Home, clock: HandClock) -> None:
    sid = ids.session_id()
    token = make(home, clock, sid)
    claims = tokens.check(home, token.reveal(), clock=clock, sid=sid)
    assert claims == tokens.TokenClaims(sid, clock.now + HOUR_US)


def test_a_token_has_the_documented_layout(home: Home, clock: HandClock) -> None:
    sid = ids.session_id()
    text = make(home, clock, sid).reveal()
    assert text.startswith(b"ghtoken_")
    raw = base64.urlsafe_b64decode(text[8:])
    assert b"=" not in text
    assert len(raw) == 60
    assert raw[4:20].hex() == sid[3:]
    assert int.from_bytes(raw[20:28]) == clock.now + HOUR_US


def test_the_same_session_gets_the_same_token_again(home: Home, clock: HandClock) -> None:
    sid = ids.session_id()
    assert make(home, clock, sid) == make(home, clock, sid)


def test_a_token_is_found_again_by_its_digest_after_the_key_was_rotated(
    home: Home, clock: HandClock
) -> None:
    sid, ends = ids.session_id(), clock.now + 2 * WEEK_US
    first = tokens.issue(home, sid, ends, clock=clock)
    clock.now += WEEK_US
    assert tokens.issue(home, sid, ends, clock=clock) != first
    again = tokens.issue(home, sid, ends, clock=clock, expected=tokens.digest(first))
    assert again == first


def test_a_token_whose_key_is_gone_is_not_made_up(home: Home, clock: HandClock) -> None:
    with pytest.raises(DeniedError) as caught:
        tokens.issue(home, ids.session_id(), clock.now, clock=clock, expected="0" * 64)
    assert caught.value.code == "session.token.key"


def test_a_new_server_key_is_made_after_a_week_and_the_old_one_is_still_accepted(
    home: Home, clock: HandClock
) -> None:
    old = make(home, clock, ttl_us=WEEK_US + HOUR_US).reveal()
    clock.now += WEEK_US
    new = make(home, clock).reveal()
    assert old[8:13] != new[8:13]
    assert tokens.check(home, old, clock=clock)


@pytest.mark.parametrize("sid", ["", "gh_1", "act_" + "0" * 32])
def test_a_token_is_made_for_a_session_only(home: Home, clock: HandClock, sid: str) -> None:
    with pytest.raises(UsageError) as caught:
        tokens.issue(home, sid, clock.now, clock=clock)
    assert caught.value.code == "session.id"


def test_a_token_of_another_session_is_refused(home: Home, clock: HandClock) -> None:
    token = make(home, clock).reveal()
    assert refused(home, token, clock, sid=ids.session_id()) == "session.token.session"


def test_an_ended_token_is_refused(home: Home, clock: HandClock) -> None:
    token = make(home, clock).reveal()
    clock.now += HOUR_US
    assert refused(home, token, clock) == "session.token.expired"


def test_with_a_lifetime_the_boot_clock_decides_and_the_wall_clock_does_not(
    home: Home, clock: HandClock
) -> None:
    token = make(home, clock).reveal()
    row = Row(clock.boot, clock.boottime + 5)
    clock.now += 2 * HOUR_US
    assert tokens.check(home, token, clock=clock, lived=row)
    clock.now -= 4 * HOUR_US
    clock.boottime += 5
    assert refused(home, token, clock, lived=row) == "session.token.expired"


def test_a_token_of_another_home_is_refused(home: Home, clock: HandClock, tmp_path: Path) -> None:
    other = type(home)(tmp_path / "other").ensure()
    make(home, clock)
    assert refused(home, make(other, clock).reveal(), clock) == "session.token.key"


@given(st.binary(max_size=120))
def test_bytes_that_are_no_token_are_malformed(junk: bytes) -> None:
    with pytest.raises(DeniedError) as caught:
        tokens._decode(junk)
    assert caught.value.code == "session.token.malformed"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda t: t + b"\n",
        lambda t: t + b"=",
        lambda t: t[:-1],
        lambda t: t.upper(),
        lambda t: t[:20] + b"+" + t[21:],
        lambda t: b" " + t,
    ],
)
def test_a_token_has_exactly_one_spelling(
    home: Home, clock: HandClock, spoil: Callable[[bytes], bytes]
) -> None:
    assert refused(home, spoil(make(home, clock).reveal()), clock) == "session.token.malformed"


def test_no_single_changed_letter_goes_through(home: Home, clock: HandClock) -> None:
    token = make(home, clock).reveal()
    for at in range(8, len(token)):
        letter = b"A" if token[at : at + 1] != b"A" else b"B"
        changed = token[:at] + letter + token[at + 1 :]
        expected = "session.token.key" if at < 13 else "session.token.mac"
        found = refused(home, changed, clock)
        assert found == expected or (at == 13 and found == "session.token.key")


def test_the_digest_is_the_sha256_of_the_text(home: Home, clock: HandClock) -> None:
    token = make(home, clock)
    assert tokens.digest(token) == tokens.digest(token.reveal())
    assert len(tokens.digest(token)) == 64
