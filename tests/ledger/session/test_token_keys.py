"""The keys that make session tokens: one a week, in a private file."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ghost_core import ids
from ghost_core.errors import DeniedError, IntegrityError, UnavailableError
from ghost_core.paths import Home
from ghost_ledger.session import token as tokens
from ghost_ledger.session import token_keys
from support.handclock import HandClock

HOUR_US = 3600 * 1_000_000
WEEK_US = 7 * 24 * HOUR_US


def make(home: Home, clock: HandClock, sid: str | None = None, ttl_us: int = HOUR_US):
    return tokens.issue(home, sid or ids.session_id(), clock.now + ttl_us, clock=clock)


def refused(home: Home, token: bytes, clock: HandClock, **more: object):
    with pytest.raises(DeniedError) as caught:
        tokens.check(home, token, clock=clock, **more)
    return caught.value.code


def test_a_server_key_is_dropped_once_its_last_token_has_ended(
    home: Home, clock: HandClock
) -> None:
    old = make(home, clock, ttl_us=WEEK_US + HOUR_US).reveal()
    clock.now += WEEK_US + HOUR_US
    make(home, clock)
    assert refused(home, old, clock) == "session.token.key"
    assert len(json.loads((home.keys / "token_keys.json").read_text())["keys"]) == 1


def test_ended_server_keys_are_forgotten_without_a_new_token(home: Home, clock: HandClock) -> None:
    old = make(home, clock).reveal()
    path = home.keys / "token_keys.json"
    before = path.read_bytes()
    token_keys.forget_ended(home, clock=clock)
    assert path.read_bytes() == before
    clock.now += WEEK_US + HOUR_US
    token_keys.forget_ended(home, clock=clock)
    assert json.loads(path.read_text())["keys"] == []
    assert refused(home, old, clock) == "session.token.key"


def test_without_server_keys_nothing_is_forgotten_or_made(home: Home, clock: HandClock) -> None:
    token_keys.forget_ended(home, clock=clock)
    assert not (home.keys / "token_keys.json").exists()


def test_a_folder_in_place_of_the_lock_is_named(home: Home, clock: HandClock) -> None:
    (home.keys / "token_keys.lock").mkdir()
    with pytest.raises(UnavailableError) as caught:
        make(home, clock)
    assert caught.value.code == "session.token.keys"


def test_a_key_of_a_clock_that_ran_ahead_does_not_stay_for_ever(
    home: Home, clock: HandClock
) -> None:
    clock.now += 100 * WEEK_US
    ahead = make(home, clock).reveal()
    clock.now -= 100 * WEEK_US
    assert make(home, clock).reveal()[8:13] != ahead[8:13]


def test_the_key_file_is_private_and_a_loose_one_is_refused(home: Home, clock: HandClock) -> None:
    token = make(home, clock).reveal()
    path = home.keys / "token_keys.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)
    with pytest.raises(UnavailableError) as caught:
        tokens.check(home, token, clock=clock)
    assert caught.value.code == "session.token.keys"


def test_a_link_in_place_of_the_key_file_is_not_followed(
    home: Home, clock: HandClock, tmp_path: Path
) -> None:
    make(home, clock)
    path = home.keys / "token_keys.json"
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    with pytest.raises(UnavailableError):
        make(home, clock)


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", "null", '{"schema":"ghost/token-keys/v1","keys":[{"id":"zz"}]}']
)
def test_a_broken_key_file_is_named_and_never_replaced(
    home: Home, clock: HandClock, content: str
) -> None:
    path = home.keys / "token_keys.json"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(IntegrityError) as caught:
        make(home, clock)
    assert caught.value.code == "session.token.keys"
    assert path.read_text() == content


def test_sessions_spawned_at_once_share_one_server_key(home: Home, clock: HandClock) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = [
            future.result(timeout=5)
            for future in [pool.submit(make, home, clock) for _ in range(16)]
        ]
    assert len({token.reveal()[8:13] for token in made}) == 1
    assert all(tokens.check(home, token.reveal(), clock=clock) for token in made)
