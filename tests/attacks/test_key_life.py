"""The key of a log under attack: stolen, retired, named by the wrong hand, gone with a restored database."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest

from ghost_core import ids
from ghost_core.errors import IntegrityError
from ghost_core.paths import Home
from ghost_ledger import bundle, identity, rotating
from ghost_ledger.bundle import Bundle
from ghost_ledger.canonical import Value
from ghost_ledger.checkpoint import sign_checkpoint
from ghost_ledger.handover import Handover, merged, sign_handover
from ghost_ledger.note import Vkey, sign_note
from ghost_ledger.rotating import Rotated
from ghost_ledger.tree import root
from ghost_ledger.verify import Policy, Report, verify_bundle
from ghost_ledger.verify.revocation import Revocations
from ghost_ledger.witness.request import encode_request
from support.bundles import ORIGIN, Log, Session, key
from support.commands import Command
from support.cosigners import cosigned_bundle, policy_text, served, witness
from support.ledger import Draft, open_recorder, raw, rows, script, sealed

OLD, NEW, THIEF = (Vkey(ORIGIN, key(number).public).format() for number in (1, 2, 66))
HONEST = sign_handover(key(1), key(2), ORIGIN)


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


def _signed_by(number: int, session: Session, *handovers: bytes) -> bytes:
    """Return the bundle of a session under a head that another key signs."""
    log = session.log
    log.key = key(number)
    return bundle.encode(session.bundle(handovers=handovers))


def _session() -> Session:
    return Log().session().action().finish()


def _judged(data: bytes, *keys: str, revoked: str = "", head: bytes | None = None) -> Report:
    listed = Revocations.parse(revoked.encode()) if revoked else None
    return verify_bundle(data, list(keys), revoked=listed, head=head)


# What whoever verifies is told, and by whom.


@pytest.mark.parametrize("pinned", ["old", "new", "session", "both"])
def test_after_an_honest_change_every_key_leads_to_the_same_verdict(pinned: str) -> None:
    session = _session()
    keys = {"old": [OLD], "new": [NEW], "session": [session.vkey.format()], "both": [OLD, NEW]}
    assert _judged(_signed_by(2, session, HONEST), *keys[pinned]).exit_code == 0


def test_without_the_note_a_new_key_is_nobodys() -> None:
    for keys in ([OLD], [_session().vkey.format()]):
        report = _judged(_signed_by(2, _session()), *keys)
        assert (report.exit_code, report.axis("inclusion").state) == (7, "invalid")


TEXT = Handover(Vkey(ORIGIN, key(1).public), Vkey(ORIGIN, key(66).public)).text
FORGED = {
    "not signed by the old key": sign_note(key(66), ORIGIN, TEXT),
    "signed by other keys": merged(
        sign_note(key(66), ORIGIN, TEXT), sign_note(key(67), ORIGIN, TEXT)
    ),
    "a head that both signed": merged(
        sign_checkpoint(key(1), ORIGIN, 1, root([b"\0" * 32])),
        sign_checkpoint(key(66), ORIGIN, 1, root([b"\0" * 32])),
    ),
}


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("pin", ["old", "session"])
def test_a_thief_cannot_name_himself(forged: str, pin: str) -> None:
    session = _session()
    pinned = OLD if pin == "old" else session.vkey.format()
    report = _judged(_signed_by(66, session, FORGED[forged]), pinned)
    assert (report.exit_code, report.axis("key").state) == (7, "invalid")


def test_a_note_of_another_log_or_of_strangers_leads_nowhere() -> None:
    for note in (
        sign_handover(key(1), key(66), "ghost.test/other"),
        sign_handover(key(65), key(66), ORIGIN),
        sign_handover(key(66), key(1), ORIGIN),  # the thief hands over to the log
    ):
        report = _judged(_signed_by(66, _session(), note), OLD)
        assert (report.exit_code, report.axis("inclusion").state) == (7, "invalid")


def test_a_new_key_lends_no_trust_to_the_one_before_it() -> None:
    """The thief of a retired key cannot sign for those who know the present one."""
    report = _judged(_signed_by(1, _session(), HONEST), NEW)
    assert (report.exit_code, report.axis("inclusion").state) == (7, "invalid")


def test_a_head_that_was_kept_before_the_change_is_still_compared() -> None:
    log = Log()
    first = log.session(1).finish()
    kept = log.head()
    session = log.session(2).finish()
    consistency = log.consistency(len(first.notes))
    log.key = key(2)
    data = bundle.encode(session.bundle(handovers=(HONEST,), consistency=consistency))
    for pinned in (OLD, NEW):
        assert _judged(data, pinned, head=kept).exit_code == 0
    fork = sign_checkpoint(key(1), ORIGIN, len(first.notes), b"\1" * 32)
    report = _judged(data, NEW, head=fork)
    assert (report.exit_code, report.axis("head").state) == (7, "invalid")


def test_a_policy_that_lists_the_old_key_follows_it_too() -> None:
    session = _session()
    policy = Policy.parse(policy_text(session.log, [3]))
    session.log.key = key(2)
    found: Bundle = bundle.decode(cosigned_bundle(session, 3))
    data = bundle.encode(replace(found, handovers=(HONEST,)))
    assert verify_bundle(data, [], policy=policy).exit_code == 0
    assert verify_bundle(bundle.encode(found), [], policy=policy).exit_code == 7


# D40: a revoked key.


@pytest.mark.parametrize("pin", ["old", "session"])
def test_a_revoked_key_counts_up_to_its_size_and_not_above(pin: str) -> None:
    session = _session()
    pinned = OLD if pin == "old" else session.vkey.format()
    data = bundle.encode(session.bundle())
    below = _judged(data, pinned, revoked=f"revoked {OLD} 5\n")
    assert below.exit_code == 0
    assert "is revoked above size 5" in below.axis("key").detail
    above = _judged(data, pinned, revoked=f"revoked {OLD} 4\n")
    assert (above.exit_code, above.axis("key").state) == (7, "invalid")
    assert "revoked above 4" in above.axis("key").detail


def test_the_thief_of_a_revoked_key_cannot_hand_it_on() -> None:
    """Whatever size he claims, and though the note is signed by the real old key."""
    data = _signed_by(66, _session(), sign_handover(key(1), key(66), ORIGIN))
    assert _judged(data, OLD).exit_code == 0  # nothing told the caller
    for pin in (OLD, _session().vkey.format()):
        report = _judged(data, pin, revoked=f"revoked {OLD} 1000\n")
        assert (report.exit_code, report.axis("key").state) == (7, "invalid")
    # The present key, which came another way, is enough; the thief's head is not under it.
    honest = _signed_by(2, _session(), HONEST)
    assert _judged(honest, NEW, revoked=f"revoked {OLD} 5\n").exit_code == 0
    assert _judged(data, NEW, revoked=f"revoked {OLD} 5\n").exit_code == 7


def test_a_list_cannot_come_from_the_bundle() -> None:
    session = _session()
    hinted = bundle.encode(session.bundle(hints={"revoked": f"revoked {NEW} 0"}))
    assert _judged(hinted, OLD).exit_code == 0
    with pytest.raises(IntegrityError):
        verify_bundle(hinted.replace(b'"hints"', b'"revoked"'), [OLD])


# D7: the home of before, keys and memory and all.


def test_a_witness_that_knows_both_keys_signs_no_second_history(tmp_path: Path) -> None:
    log = Log()
    found = witness(tmp_path, [Vkey.parse(OLD), Vkey.parse(NEW)])
    log.session(1).finish()
    size, first = len(log.leaves), log.head()
    assert found.add(encode_request(0, (), first)).status == 200
    log.key = key(2)
    log.session(2).finish()
    proof = log.consistency(size).hashes
    assert found.add(encode_request(size, proof, log.head())).status == 200
    # Restored to before the change: the old key is back, and signs something else.
    other = Log()
    other.session(1).finish()
    other.session(3).finish()
    assert (
        found.add(encode_request(size, other.consistency(size).hashes, other.head())).status == 409
    )
    assert found.add(encode_request(len(log.leaves), (), other.head())).status in {400, 422}
    alone = witness(tmp_path / "alone", [Vkey.parse(OLD)])
    assert alone.add(encode_request(0, (), log.head())).status == 403  # not told of the new key


def _configured(home: Path, port: int, vkey: str) -> None:
    text = f'[proxy]\nallow_private = ["127.0.0.1:{port}"]\n[ledger]\n'
    (home / "ghost.toml").write_text(
        f'{text}witnesses = ["http://127.0.0.1:{port} {vkey}"]\n', "utf-8"
    )


def test_a_witness_that_is_told_of_the_new_key_goes_on(
    ghost: Command, home: Path, tmp_path: Path
) -> None:
    with open_recorder(home) as recorder:
        sid, old = sealed(recorder), recorder.log_vkey
    first = witness(tmp_path / "w", [Vkey.parse(old)])
    with served(first) as port:
        _configured(home, port, first.vkey.format())
        ghost("bundle", sid, "-o", "a.ghost")
        before = first.memory.last(old.partition("+")[0])
        new = ghost("ledger", "rotate-key", "--reason", "yearly", "--json").json["new_key"]
        (said,) = ghost("bundle", sid, "-o", "a.ghost", "--json").json["witnesses"]
        assert said["state"] == "refused"  # it knows the old key only
    with served(witness(tmp_path / "w", [Vkey.parse(old), Vkey.parse(new)])) as port:
        _configured(home, port, first.vkey.format())
        ghost("bundle", sid, "-o", "a.ghost")
    after = first.memory.last(old.partition("+")[0])
    assert before is not None
    assert after is not None
    assert before.size < after.size
    policy = f"log {old}\nwitness w {first.vkey.format()}\nquorum w\n"
    (tmp_path / "policy").write_text(policy, "utf-8")
    ghost("verify", "a.ghost", "--policy", "policy")


# In the log itself: whoever has the key of a system session, but not the log's.


def _forged(home: Path, type_: str, fields: dict[str, Value]) -> int:
    with open_recorder(home) as recorder:
        draft = Draft(recorder.system(), type_, ids.entry_id(), fields)
        return recorder.append(draft)[0].idx


def _evil(home: Path) -> dict[str, Value]:
    """Return the fields of a change that the forger signs himself."""
    origin, vkey, size = rows(home, "SELECT origin, vkey, size FROM log_head")[0]
    evil = Vkey(origin, key(66).public)
    text = Handover(Vkey.parse(vkey), evil).text
    note = merged(sign_note(key(66), origin, text), sign_note(key(67), origin, text))
    return {
        "vkey": evil.format(),
        "reason": "yearly",
        "revoked": vkey,
        "from_size": size + 2,  # behind the spawn of the session
        "note": note.decode(),
    }


@pytest.mark.parametrize("keeps_head", [True, False])
def test_a_change_that_a_system_session_made_up_is_no_change(
    ghost: Command, home: Path, keeps_head: bool
) -> None:
    with open_recorder(home) as recorder:
        sid, vkey = sealed(recorder), recorder.log_vkey
    fields = _evil(home)
    idx = _forged(home, "log.key", fields)
    assert idx + 1 == fields["from_size"]
    if not keeps_head:
        script(home, f"UPDATE log_head SET vkey = '{fields['vkey']}'")
    said = ghost("ledger", "verify", "--json", code=7).json
    assert (said["first_bad"], said["axes"]["chain"]["state"]) == (idx, "invalid")
    if not keeps_head:
        ghost("spawn", "--intent", "x", "--scope", "GET https://example.com/*", code=7)
        return
    # The log's own key still signs its heads, and no bundle says otherwise.
    ghost("bundle", sid, "-o", "a.ghost")
    ghost("verify", "a.ghost", "--key", vkey)
    ghost("verify", "a.ghost", "--key", str(fields["vkey"]), code=7)


def test_a_log_cannot_be_said_to_continue_another_later(ghost: Command, home: Path) -> None:
    with open_recorder(home) as recorder:
        sealed(recorder)
    fields: dict[str, Value] = {
        "origin": "ghost.local/another", "size": 3, "root": "ab" * 32, "reason": "lost",
    }  # fmt: skip
    idx = _forged(home, "log.continued", fields)
    said = ghost("ledger", "verify", "--json", code=7).json
    assert (said["first_bad"], said["continues"]) == (idx, None)


def _rotated(home: Path) -> Rotated:
    with open_recorder(home) as recorder:
        return rotating.rotate(Home(home), recorder, "yearly")


def test_the_old_key_back_in_the_head_is_not_the_logs_any_more(ghost: Command, home: Path) -> None:
    with open_recorder(home) as recorder:
        sealed(recorder)
    seed = (home / "keys" / "log_key").read_bytes()
    done = _rotated(home)
    script(home, f"UPDATE log_head SET vkey = '{done.old}'")
    said = ghost("ledger", "verify", "--json", code=7).json
    assert said["axes"]["key"]["state"] == "invalid"
    ghost("ledger", "head", code=7)
    (home / "keys" / "log_key").write_bytes(seed)  # with a copy of the old seed
    said = ghost("ledger", "verify", "--json", code=7).json
    assert "the head names the key" in said["axes"]["key"]["detail"]


def test_the_entry_of_a_change_cannot_be_taken_out(ghost: Command, home: Path) -> None:
    with open_recorder(home) as recorder:
        sealed(recorder)
    _rotated(home)
    with raw(home) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE entries SET type = 'log.init' WHERE type = 'log.key'")
    said = ghost("ledger", "verify", "--json", code=7).json
    assert said["first_bad"] is not None


# D6, over processes.

OTHER = """
import sys
from pathlib import Path
from ghost_core.errors import GhostError
from support.ledger import open_recorder, sealed
with open_recorder(Path(sys.argv[1])) as recorder:
    for line in sys.stdin:
        try:
            print(sealed(recorder), recorder.log_vkey, flush=True)
        except GhostError as error:
            print(error.code, error.message, flush=True)
            break
"""


@contextmanager
def _another(home: Path) -> Iterator[tuple[IO[str], IO[str]]]:
    """Run another process that seals a session at each line; yields its ends."""
    tests = Path(__file__).parents[1]
    words = [sys.executable, "-c", OTHER, str(home)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, cwd=tests) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdin, process.stdout
            process.stdin.close()
            assert process.wait(20) == 0
        finally:
            process.kill()


def _asked(pipes: tuple[IO[str], IO[str]]) -> list[str]:
    pipes[0].write("\n")
    pipes[0].flush()
    return pipes[1].readline().split(maxsplit=1)


def test_yesterdays_database_is_refused_and_who_had_todays_writes_no_more(
    ghost: Command, home: Path
) -> None:
    """Another process goes on under a new key, then the database of before that is put back under it."""
    with open_recorder(home) as recorder:
        sealed(recorder)
        origin = recorder.origin
    with raw(home) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(home / "ghost.db", home / "yesterday")
    with _another(home) as pipes:
        before, old = _asked(pipes)
        said = ghost("ledger", "rotate-key", "--reason", "yearly", "--json").json
        after, new = _asked(pipes)
        assert (said["old_key"], said["new_key"]) == (old.strip(), new.strip())
        for sid in (before, after):
            ghost("bundle", sid, "-o", "a.ghost")
            for name in ("old_key", "new_key"):
                ghost("verify", "a.ghost", "--key", said[name])
        with closing(sqlite3.connect(home / "yesterday")) as source, raw(home) as connection:
            source.backup(connection)
        error = ghost("ledger", "rotate-key", "--reason", "x", code=7).err
        assert error.count(" root ") == 2  # both heads
        assert "ghost ledger continue" in error
        said = ghost("ledger", "continue", "--reason", "restored", "--json").json
        code, message = _asked(pipes)
    assert code == "ledger.head"
    assert "is not in this database any more" in message
    assert said["continues"]["origin"] == origin
    judged = ghost("ledger", "verify", "--json").json
    assert judged["continues"]["origin"] == origin


def test_a_key_that_was_used_up_is_not_the_next_one_again(home: Path) -> None:
    with open_recorder(home) as recorder:
        sealed(recorder)
    seen = {_rotated(home).new for _ in range(3)}
    assert len(seen) == 3
    assert identity.existing_log_key(Home(home)) is not None
    assert not (home / "keys" / "log_key.next").exists()
