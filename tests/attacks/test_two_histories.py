"""An operator with all keys of his home tells two histories: a witness signs one of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost_cli.main import main
from ghost_core.errors import GhostError
from ghost_ledger import bundle
from ghost_ledger.checkpoint import open_checkpoint
from ghost_ledger.cosignature import WitnessKey, cosign, cosigned
from ghost_ledger.note import Vkey
from ghost_ledger.verify import Policy, verify_bundle
from ghost_ledger.witness.request import decode_request, encode_request
from support.bundles import Log, key
from support.cosigners import (
    Serving,
    asking,
    cosigned_bundle,
    cosigned_head,
    named,
    policy_text,
    served,
    serving,
    witness,
)
from support.ledger import CLOSED, open_recorder, spawned

SESSION = Log().session().finish()


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def log_vkey(home: Path) -> str:
    with open_recorder(home) as recorder:
        return recorder.log_vkey


@pytest.fixture
def other(tmp_path: Path, log_vkey: str) -> Iterator[Serving]:
    """A witness on another machine: a process with a home of its own."""
    (tmp_path / "other").mkdir()
    with serving(tmp_path / "other", "--log", log_vkey) as found:
        yield found


def configure(home: Path, *witnesses: str) -> None:
    ports = [each.partition(" ")[0].rpartition(":")[2] for each in witnesses]
    private = ", ".join(f'"127.0.0.1:{port}"' for port in ports)
    listed = ", ".join(f'"{each}"' for each in witnesses)
    text = f"[proxy]\nallow_private = [{private}]\n[ledger]\nwitnesses = [{listed}]\n"
    (home / "ghost.toml").write_text(text, "utf-8")


def sealed(home: Path, calls: int = 1) -> str:
    with open_recorder(home) as recorder:
        owned = spawned(recorder)
        for _ in range(calls):
            owned.act()
        recorder.seal(owned.sid, CLOSED)
        return owned.sid


def policy(folder: Path, log_vkey: str, *vkeys: str) -> str:
    lines = [f"log {log_vkey}", *(f"witness w{at} {each}" for at, each in enumerate(vkeys))]
    names = " ".join(f"w{at}" for at in range(len(vkeys)))
    path = folder / "policy"
    path.write_text("\n".join([*lines, f"group all all {names}", "quorum all", ""]), "utf-8")
    return str(path)


def evidence(home: Path) -> list[Path]:
    return [*(home / "heads" / "cosigned").glob("evidence/*")]


def copied(home: Path, name: str) -> Path:
    return Path(shutil.copytree(home, home.with_name(name), symlinks=True))


def restored(home: Path, copy: Path) -> None:
    """Put back all that a home is: database, remembered heads, keys."""
    shutil.rmtree(home)
    shutil.copytree(copy, home, symlinks=True)


def test_a_home_that_was_restored_whole_gets_no_second_history_signed(
    home: Path,
    tmp_path: Path,
    log_vkey: str,
    other: Serving,
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure(home, other.setting)
    asked = policy(tmp_path, log_vkey, other.vkey)
    first = sealed(home)
    assert main(["bundle", first, "-o", "first.ghost"]) == 0
    assert main(["verify", "first.ghost", "--policy", asked]) == 0
    yesterday = copied(home, "yesterday")
    gone = sealed(home)
    assert main(["bundle", gone, "-o", "gone.ghost"]) == 0
    restored(home, yesterday)
    capsys.readouterr()

    # 409: the witness has signed more than this log has.
    assert main(["bundle", first, "-o", "again.ghost", "--json"]) == 7
    error = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert error["code"] == "witness.conflict"
    (kept,) = evidence(home)
    said = json.loads(kept.read_bytes())
    assert said["status"] == 409
    assert int(said["answer"]) > decode_request(said["request"].encode()).head.size

    # 422: it has grown past that, and is another log.
    instead = sealed(home, calls=9)
    assert main(["bundle", instead, "-o", "instead.ghost"]) == 7
    assert {json.loads(each.read_bytes())["status"] for each in evidence(home)} == {409, 422}
    assert len([*(tmp_path / "other" / "home" / "witness" / "evidence").iterdir()]) == 1

    # What was signed still verifies; the second history never does.
    assert main(["verify", "gone.ghost", "--policy", asked]) == 0
    assert main(["verify", "instead.ghost", "--policy", asked]) == 8
    assert main(["verify", "instead.ghost", "--key", log_vkey]) == 0  # a log key alone is fooled


def test_two_heads_of_one_size_are_both_kept(
    home: Path, tmp_path: Path, log_vkey: str, other: Serving
) -> None:
    configure(home, other.setting)
    before = copied(home, "before")
    assert main(["bundle", sealed(home), "-o", "one.ghost"]) == 0
    restored(home, before)
    configure(home, other.setting)
    assert main(["bundle", sealed(home), "-o", "two.ghost"]) == 7
    (kept,) = (tmp_path / "other" / "home" / "witness" / "evidence").iterdir()
    keys = [Vkey.parse(log_vkey)]
    signed = json.loads((tmp_path / "other" / "home" / "witness" / "heads").read_bytes())["heads"]
    one = open_checkpoint(signed[0].encode(), keys)
    two = open_checkpoint(decode_request(kept.read_bytes()).note, keys)
    assert one.size == two.size
    assert one.root != two.root
    assert evidence(home)


def test_a_witness_that_forgot_needs_a_second_one(
    home: Path, tmp_path: Path, log_vkey: str
) -> None:
    own, foreign = tmp_path / "own", tmp_path / "foreign"
    keys = [Vkey.parse(log_vkey)]
    with served(witness(own, keys)) as one, served(witness(foreign, keys)) as two:
        vkeys = [witness(each, keys).vkey.format() for each in (own, foreign)]
        urls = [f"http://127.0.0.1:{one} {vkeys[0]}", f"http://127.0.0.1:{two} {vkeys[1]}"]
        configure(home, *urls)
        before, memory = copied(home, "before"), (own / "witness" / "heads").read_bytes()
        assert main(["bundle", sealed(home), "-o", "one.ghost"]) == 0
        restored(home, before)
        (own / "witness" / "heads").write_bytes(memory)
        assert main(["bundle", sealed(home), "-o", "two.ghost"]) == 7
    assert main(["verify", "two.ghost", "--policy", policy(tmp_path, log_vkey, vkeys[0])]) == 0
    both = policy(tmp_path, log_vkey, *vkeys)
    assert main(["verify", "two.ghost", "--policy", both]) == 8
    assert main(["verify", "one.ghost", "--policy", both]) == 0


def test_no_byte_of_a_cosigned_bundle_can_be_changed() -> None:
    data = cosigned_bundle(SESSION, 1)
    asked = Policy.parse(policy_text(SESSION.log, [1]))
    assert verify_bundle(data, (), policy=asked).exit_code == 0
    head = cosigned_head(SESSION.log, 1).decode()
    start = data.index(json.dumps(head.splitlines()[-1], ensure_ascii=False)[1:-1].encode())
    for at in range(start, start + len(head.splitlines()[-1].encode())):
        for add in (1, 32, 128):
            changed = data[:at] + bytes([(data[at] + add) % 256]) + data[at + 1 :]
            try:
                code = verify_bundle(changed, (), policy=asked).exit_code
            except GhostError as error:
                code = error.exit_code
            assert code in {7, 8}, at


def test_a_cosignature_over_another_head_does_not_carry_over() -> None:
    other = Log().session().action().finish()
    line = cosigned_head(other.log, 1).splitlines(keepends=True)[-1]
    head = SESSION.log.head() + line
    proofs = [
        SESSION.log.proof(SESSION.notes[at]).replace(SESSION.log.head().decode(), head.decode())
        for at in (0, -1)
    ]
    made = SESSION.bundle(head=head, spawn_proof=proofs[0], seal_proof=proofs[1])
    asked = Policy.parse(policy_text(SESSION.log, [1]))
    report = verify_bundle(bundle.encode(made), (), policy=asked)
    assert (report.axis("witness").state, report.exit_code) == ("invalid", 7)


def test_who_brings_a_witness_of_his_own_is_not_believed() -> None:
    mine = WitnessKey(named(1).name, key(77).public)
    head = SESSION.log.head()
    text = head.partition(b"\n\n")[0] + b"\n"
    note = head + cosign(key(77), mine.name, text, 1_790_000_000).encode()
    assert cosigned(note, [mine]).keys() == {mine}
    proofs = [
        SESSION.log.proof(SESSION.notes[at]).replace(head.decode(), note.decode()) for at in (0, -1)
    ]
    made = SESSION.bundle(head=note, spawn_proof=proofs[0], seal_proof=proofs[1])
    report = verify_bundle(
        bundle.encode(made), (), policy=Policy.parse(policy_text(SESSION.log, [1]))
    )
    assert report.exit_code == 8


@pytest.mark.parametrize(
    ("note", "status"), [(SESSION.notes[0], 400), (SESSION.seal, 404)], ids=["entry", "seal"]
)
def test_a_witness_signs_heads_of_logs_alone(tmp_path: Path, note: bytes, status: int) -> None:
    found = witness(tmp_path / "w", [SESSION.log.vkey])
    assert found.add(encode_request(0, (), note)).status == status


def test_the_same_head_twice_is_signed_twice(tmp_path: Path) -> None:
    found = witness(tmp_path / "w", [SESSION.log.vkey])
    assert found.add(asking(SESSION.log, 0)).status == 200
    assert found.add(asking(SESSION.log, len(SESSION.log.leaves))).status == 200
