from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from ghost_core.errors import DeniedError, GhostError, NotFoundError, UnavailableError, UsageError
from ghost_core.ids import session_id
from ghost_core.paths import Home
from ghost_core.settings import Settings
from ghost_ledger import commitment, entry
from ghost_ledger.note import Vkey
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from ghost_ledger.session import token as tokens
from ghost_ledger.session.custody import Custody, has_key
from ghost_ledger.session.spawn import Spawned, proxy_url, spawn
from support.handclock import HandClock

POLICY = "ab" * 32

type Spawn = Callable[..., Spawned]


def subset(parent: object, child: object) -> bool:
    return set(child) <= set(parent)  # type: ignore[call-overload]


@pytest.fixture
def make(recorder: Recorder, home: Home, settings: Settings, clock: HandClock) -> Spawn:
    def call(**changed: object) -> Spawned:
        options = {
            "intent": "deploy_staging",
            "ttl_seconds": 300,
            "scopes": ["stripe", "GET https://a.b/*"],
        }
        return spawn(
            recorder,
            home,
            settings,
            clock=clock,
            policy_hash=POLICY,
            contains=subset,
            **options | changed,
        )

    return call


def entries(recorder: Recorder, sid: str) -> list[entry.Entry]:
    return [entry.parse(stored.body) for stored in Ledger(recorder.engine).entries(sid)]


def left_over(root: Path, recorder: Recorder) -> tuple[list[str], list[str]]:
    """Folders and rows of sessions, without those of the recorder's own."""
    rows = Ledger(recorder.engine).sessions(system=True)
    own = {row.session_id for row in rows if row.system}
    folders = [path.name for path in root.iterdir() if path.name not in own]
    return folders, [row.session_id for row in rows if not row.system]


def test_the_document_has_the_promised_fields_in_their_forms(
    make: Spawn, home: Home, clock: HandClock
) -> None:
    spawned = make()
    document = json.loads(json.dumps(spawned.document()))
    assert list(document) == [
        "session_id", "token", "ephemeral_key", "spawn_time", "expires_at", "ttl_seconds", "scopes",
        "proxy_url", "verify_key", "wire_key",
    ]  # fmt: skip
    assert document["spawn_time"] == "2026-05-28T20:26:40Z"
    assert document["expires_at"] == "2026-05-28T20:31:40Z"
    assert (
        document["proxy_url"]
        == f"http://{document['session_id']}:{document['token']}@localhost:9999"
    )
    assert Vkey.parse(document["verify_key"]).public.hex() == document[
        "ephemeral_key"
    ].removeprefix("ed25519_public_")
    claims = tokens.check(home, document["token"].encode(), clock=clock)
    assert claims == tokens.TokenClaims(document["session_id"], spawned.expires_at_us)


def test_the_first_entry_says_what_was_granted_and_hides_intent_and_token(
    make: Spawn, recorder: Recorder, clock: HandClock
) -> None:
    spawned = make()
    (first,) = entries(recorder, spawned.session_id)
    assert (first.type, first.seq) == ("session.spawn", 0)
    assert first.fields["scopes"] == ["stripe", "GET https://a.b/*"]
    assert first.fields["deadline"] == clock.boottime + 300_000_000
    assert first.fields["expires_at"] == spawned.expires_at_us
    assert first.fields["token"] == tokens.digest(spawned.token)
    assert first.fields["wire_key"] == spawned.custody.wire_key.public.hex()
    assert first.fields["policy"] == POLICY
    assert b"deploy_staging" not in first.body
    (payload,) = Ledger(recorder.engine).payloads(spawned.session_id)
    assert commitment.check("intent", payload.salt, b"deploy_staging", str(first.fields["intent"]))


def test_the_token_of_a_live_session_can_be_made_again(
    make: Spawn, home: Home, recorder: Recorder, clock: HandClock
) -> None:
    spawned = make()
    row = Ledger(recorder.engine).session(spawned.session_id)
    assert row is not None
    again = tokens.issue(home, row.session_id, row.expires_at, clock=clock, expected=row.token)
    assert again == spawned.token


def test_a_spawned_session_leaves_its_key_for_the_next_owner(make: Spawn) -> None:
    spawned = make()
    spawned.custody.release()
    with Custody.acquire(spawned.session_id) as custody:
        assert Vkey.parse(spawned.verify_key).public == custody.key.public


def test_a_session_without_persistence_has_no_key_file(make: Spawn) -> None:
    spawned = make(persist=False)
    assert not has_key(spawned.session_id)
    spawned.custody.destroy()


@pytest.mark.parametrize("seconds", [0, -1, 86_401])
def test_a_lifetime_out_of_range_is_a_usage_error(make: Spawn, seconds: int) -> None:
    with pytest.raises(UsageError) as caught:
        make(ttl_seconds=seconds)
    assert (caught.value.code, caught.value.exit_code) == ("usage.ttl", 2)


@pytest.mark.parametrize("seconds", [1, 86_400])
def test_the_shortest_and_the_longest_lifetime_are_possible(make: Spawn, seconds: int) -> None:
    assert make(ttl_seconds=seconds).ttl_seconds == seconds


@pytest.mark.parametrize("intent", ["", " \n", "x" * 4097, "ä" * 2049, "\udcff"])
def test_an_intent_that_says_nothing_or_too_much_is_a_usage_error(make: Spawn, intent: str) -> None:
    with pytest.raises(UsageError) as caught:
        make(intent=intent)
    assert caught.value.code == "usage.intent"


def test_a_child_holds_a_subset_and_names_its_parent(make: Spawn, recorder: Recorder) -> None:
    parent = make()
    child = make(parent=parent.session_id, scopes=["stripe"], ttl_seconds=300)
    assert child.document()["parent_id"] == parent.session_id
    assert entries(recorder, child.session_id)[0].fields["parent"] == parent.session_id


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"scopes": ["stripe", "aws_ec2"]}, "session.parent_scopes"),
        ({"scopes": ["stripe"], "ttl_seconds": 301}, "session.parent_ttl"),
    ],
)
def test_a_child_that_wants_more_than_its_parent_is_refused(
    make: Spawn, root: Path, recorder: Recorder, changed: dict[str, object], code: str
) -> None:
    parent = make()
    before = left_over(root, recorder)
    with pytest.raises(DeniedError) as caught:
        make(parent=parent.session_id, **changed)
    assert caught.value.code == code
    assert left_over(root, recorder) == before


def test_an_ended_parent_has_no_more_children(make: Spawn, clock: HandClock) -> None:
    parent = make(ttl_seconds=10)
    clock.pass_seconds(10)
    with pytest.raises(DeniedError) as caught:
        make(parent=parent.session_id, scopes=[], ttl_seconds=1)
    assert caught.value.code == "session.parent_ended"


def test_a_sealed_parent_has_no_more_children(make: Spawn, recorder: Recorder) -> None:
    parent = make()
    closed = {
        "reason": "evaporate",
        "reads": 0,
        "bytes_sent": 0,
        "bytes_received": 0,
        "summary": [],
        "lived_seconds": 0,
    }
    recorder.seal(parent.session_id, closed)
    with pytest.raises(DeniedError) as caught:
        make(parent=parent.session_id, scopes=[])
    assert caught.value.code == "session.parent_ended"


def test_an_unknown_parent_is_not_found(make: Spawn, recorder: Recorder) -> None:
    for sid in (session_id(), recorder.system(), "nonsense"):
        with pytest.raises(NotFoundError) as caught:
            make(parent=sid)
        assert caught.value.code == "session.unknown"


def test_a_spawn_that_cannot_be_recorded_leaves_nothing(
    make: Spawn, root: Path, recorder: Recorder
) -> None:
    with pytest.raises(GhostError):
        make(scopes=["x" * 20_000])
    assert left_over(root, recorder) == ([], [])


def test_a_spawn_whose_token_cannot_be_made_leaves_nothing(
    make: Spawn, root: Path, recorder: Recorder, home: Home
) -> None:
    (home.keys / "token_keys.json").symlink_to("/dev/null")
    with pytest.raises(UnavailableError):
        make()
    assert left_over(root, recorder) == ([], [])


def test_neither_session_nor_error_shows_the_token(make: Spawn) -> None:
    assert "ghtoken_" not in repr(make())


def test_an_address_literal_is_bracketed(make: Spawn) -> None:
    spawned = make()
    assert proxy_url("gh_1", spawned.token, host="::1", port=80).endswith("@[::1]:80")


def test_the_key_files_are_private(make: Spawn, home: Home) -> None:
    spawned = make()
    for path in (spawned.custody.folder.key, home.keys / "token_keys.json"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
