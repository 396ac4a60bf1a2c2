"""Measures the ledger: appending, its floor, the size of a log, verifying, proofs and bundles.

usage: python bench/ledger.py [--rounds 5] [--entries 2000] [--big 1000000] [--postgres] [--save]

Every line is a ratio of two measurements that take turns, and what it should be; the times beside it are of
this machine. `--big 0` leaves out what needs a log of a million entries, which is made once in `bench/out`
in about five minutes, and verified whole in about as many. `--postgres` starts a server of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import batched
from pathlib import Path
from types import FrameType

import sqlalchemy as sa
from ledger_log import CLOSED, Place, append, big, event, filled, intent, outcome, spawned
from run import HERE, heading

from ghost_core import db
from ghost_ledger import auditing, bundle, canonical, entry, tiles, tree
from ghost_ledger.chain import Signer
from ghost_ledger.drafts import Draft
from ghost_ledger.keys import SecretKey, verify
from ghost_ledger.note import Vkey
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder

GROUP = 100
BARE = """CREATE TABLE bare (idx INTEGER PRIMARY KEY, sid TEXT, seq INTEGER, prev BLOB, type TEXT, id TEXT,
 ts INTEGER, body BLOB, sig BLOB, leaf_hash BLOB, UNIQUE (sid, seq))"""
INSERT = "INSERT INTO bare VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
SIGNED = sa.text("SELECT sid, body, sig FROM entries ORDER BY idx")
KEYS = sa.text("SELECT session_id, vkey FROM sessions")
ORM = ("sqlalchemy/orm/", "sqlmodel/")

type Work = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the table."""

    what: str
    found: str
    wanted: str
    detail: str


def main() -> None:
    """Measure everything that was asked for and write the table."""
    words = arguments()
    rows = []
    for line in measured(words):
        rows.append(f"| {line.what} | {line.found} | {line.wanted} | {line.detail} |")
        print(rows[-1], file=sys.stderr, flush=True)
    head = ["| what | found | wanted | measured |", "|---|--:|--:|---|"]
    text = "\n".join([f"## Ledger, {heading(words.rounds)}", "", *head, *rows, ""])
    print(text)
    if words.save:
        with (HERE / "results.md").open("a", encoding="utf-8") as into:
            into.write(text + "\n")


def measured(words: argparse.Namespace) -> Iterator[Line]:
    """Yield the lines."""
    with fresh() as place:
        yield from appending(place, words, "SQLite")
        yield floor(place, words, "an entry", event, ">= 60 %")
        yield floor(place, words, "a call with 1 KB of payload", intent, "")
    with fresh() as place:
        yield orm(place)
    with fresh() as place:
        yield from verifying(place, words, "entries", event)
    with fresh() as place:
        yield from verifying(place, words, "calls with 1 KB of payload", intent)
        yield per_entry(place)
    if words.postgres:
        with postgres() as place:
            yield from appending(place, words, "PostgreSQL")
    if words.big:
        with big(words.big) as place:
            yield at_size(place, words)
            yield proofs(place)
            yield from whole(place)


@contextlib.contextmanager
def fresh() -> Iterator[Place]:
    """Give an empty home."""
    with tempfile.TemporaryDirectory(prefix="ghost-bench-") as folder:
        yield Place.on_sqlite(Path(folder))


@contextlib.contextmanager
def postgres() -> Iterator[Place]:
    """Give an empty home, and a database of a server that was started for it."""
    sys.path.insert(0, str(HERE.parent / "tests"))
    from support.postgres import programs, running  # the tests know how

    found = programs()
    if found is None:
        raise SystemExit("no PostgreSQL server is installed: apt-get install postgresql")
    with fresh() as place, running(found) as server:
        yield Place(place.home, server.url(server.database()))


def turns(rounds: int, *prepared: Callable[[], Work]) -> list[float]:
    """Return the median seconds of each work, measured in turns; what prepares it is not timed."""
    found: list[list[float]] = [[] for _ in prepared]
    for _ in range(rounds):
        for prepare, times in zip(prepared, found, strict=True):
            work = prepare()
            begun = time.perf_counter()
            work()
            times.append(time.perf_counter() - begun)
    return [statistics.median(times) for times in found]


def adds(recorder: Recorder, drafts: Sequence[Draft], group: int) -> Work:
    """Return the work of appending these."""
    return lambda: append(recorder, drafts, group)


def appending(place: Place, words: argparse.Namespace, name: str) -> Iterator[Line]:
    """Compare a commit for each entry with a commit for each hundred."""
    single = words.entries // 10
    with place.recorder() as recorder:
        sid = spawned(recorder)
        one, many = turns(
            words.rounds,
            lambda: adds(recorder, [event(sid) for _ in range(single)], 1),
            lambda: adds(recorder, [event(sid) for _ in range(words.entries)], GROUP),
        )
    slow, quick = single / one, words.entries / many
    yield Line(
        f"group of 100 against single commits, {name}",
        f"{quick / slow:.1f} x",
        ">= 15 x",
        f"{quick:.0f} and {slow:.0f} entries/s",
    )


def floor(
    place: Place,
    words: argparse.Namespace,
    name: str,
    draft: Callable[[str], Draft],
    wanted: str,
) -> Line:
    """Compare appending with what no ledger can leave out, in the same groups."""
    engine = db.engine(f"sqlite:///{place.home.root / 'bare.db'}")
    with place.recorder() as recorder, contextlib.closing(engine.raw_connection()) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("DROP TABLE IF EXISTS bare")
        connection.execute(BARE)
        sid, key = spawned(recorder), SecretKey.generate()
        signer = Signer.of(key, recorder.origin, sid)
        places = iter(range(10**9))

        def parts(drafts: Sequence[Draft]) -> Work:
            def work() -> None:
                for some in batched(drafts, GROUP):
                    rows = [bare_row(signer, next(places), each) for each in some]
                    connection.execute("BEGIN IMMEDIATE")
                    connection.executemany(INSERT, rows)
                    connection.execute("COMMIT")

            return work

        end_to_end, least = turns(
            words.rounds,
            lambda: adds(recorder, [draft(sid) for _ in range(words.entries)], GROUP),
            lambda: parts([draft(sid) for _ in range(words.entries)]),
        )
    engine.dispose()
    rate = [words.entries / each for each in (end_to_end, least)]
    return Line(
        f"append of {name} against encode + sign + hash + bare insert",
        f"{rate[0] / rate[1]:.0%}",
        wanted,
        f"{rate[0]:.0f} and {rate[1]:.0f} entries/s",
    )


def bare_row(signer: Signer, idx: int, draft: Draft) -> tuple[object, ...]:
    """Encode, sign and hash one entry."""
    prev, ts = "0" * 64, time.time_ns() // 1000
    common: dict[str, canonical.Value] = {
        "v": 1,
        "type": draft.type,
        "log": "ghost.local/bench",
        "sid": draft.sid,
        "seq": idx,
        "prev": prev,
        "ts": ts,
        "id": draft.id,
    }
    body = canonical.encode({**draft.fields, **common})
    signature = signer.key.sign(body + b"\n")
    leaf = tree.leaf_hash(entry.leaf(body, signature, signer.name, signer.key_id))
    prev_bytes = bytes.fromhex(prev)
    return idx, draft.sid, idx, prev_bytes, draft.type, draft.id, ts, body, signature, leaf


def orm(place: Place) -> Line:
    """Count the functions of the ORM that an append calls, in all threads."""
    called: set[str] = set()

    def see(frame: FrameType, what: str, _: object) -> None:
        if what == "call":
            called.add(f"{frame.f_code.co_filename}:{frame.f_code.co_name}")

    with place.recorder() as recorder:
        sid = spawned(recorder)
        drafts = [intent(sid) for _ in range(GROUP)]
        threading.setprofile_all_threads(see)
        recorder.append(*drafts)
        threading.setprofile_all_threads(None)
    found = [name for name in called if any(part in name for part in ORM)]
    assert any("batch.py:_place" in name for name in called), "the writer's thread was not seen"
    return Line("ORM in the append path", f"{len(found)}", "0", f"of {len(called)} functions")


def verifying(
    place: Place, words: argparse.Namespace, name: str, draft: Callable[[str], Draft]
) -> Iterator[Line]:
    """Compare the audit of a log, and the fast one, with checking its signatures and nothing else."""
    with place.recorder() as recorder:
        filled(recorder, words.entries * 2, draft)
    engine = db.engine(place.url)
    with db.read(engine) as connection:
        keys = {sid: Vkey.parse(line).public for sid, line in connection.execute(KEYS)}
        signed = [(keys[sid], body + b"\n", sig) for sid, body, sig in connection.execute(SIGNED)]

    def signatures() -> None:
        for each in signed:
            verify(*each)

    full, fast, bare = turns(
        words.rounds,
        lambda: lambda: sound(auditing.audit(engine, place.home)),
        lambda: lambda: sound(auditing.audit(engine, place.home, fast=True)),
        lambda: signatures,
    )
    engine.dispose()
    us = [each / len(signed) * 1e6 for each in (full, fast, bare)]
    detail = f"{us[0]:.0f}, {us[1]:.0f} and {us[2]:.0f} us/entry"
    yield Line(
        f"verifying {name} against bare signature checks", f"{full / bare:.2f} x", "<= 2 x", detail
    )
    yield Line(f"--fast against full, {name}", f"{full / fast:.1f} x", ">= 4 x", detail)


def sound(found: auditing.Audit) -> None:
    """Demand that the log is whole."""
    if found.exit_code:
        raise SystemExit(f"the log is not whole: {found.axes}")


def per_entry(place: Place) -> Line:
    """Divide a bundle of 500 calls by its entries."""
    with place.recorder() as recorder:
        sid = spawned(recorder)
        for some in batched((intent(sid) for _ in range(500)), GROUP):
            asked = recorder.append(*some)
            answers = zip(asked, some, strict=True)
            recorder.append(*(outcome(receipt, each.id) for receipt, each in answers))
        recorder.seal(sid, CLOSED)
        made = Ledger(recorder.engine, place.home).bundle(sid)
    size = len(bundle.encode(made)) / len(made.entries)
    return Line(
        "bundle", f"{size / 1000:.2f} KB per entry", "<= 1.1 KB", f"{len(made.entries)} entries"
    )


def at_size(place: Place, words: argparse.Namespace) -> Line:
    """Compare appending to the big log with appending to one of a thousand entries."""
    with fresh() as small, small.recorder() as few, place.recorder() as many:
        filled(few, 1000)
        sids = spawned(few), spawned(many)
        start = many.head[0]
        little, large = turns(
            words.rounds,
            lambda: adds(few, [event(sids[0]) for _ in range(words.entries)], GROUP),
            lambda: adds(many, [event(sids[1]) for _ in range(words.entries)], GROUP),
        )
        many.seal(sids[1], CLOSED)
    us = [each / words.entries * 1e6 for each in (large, little)]
    return Line(
        f"append at {start} entries against 1000",
        f"{large / little:.2f} x",
        "<= 1.3 x",
        f"{us[0]:.0f} and {us[1]:.0f} us/entry",
    )


def proofs(place: Place, count: int = 500) -> Line:
    """Time proofs of inclusion of random entries, and count what they read."""
    engine, reads = db.engine(place.url), []
    with db.read(engine) as connection:
        size = connection.exec_driver_sql("SELECT size FROM log_head").scalar_one()
        sa.event.listen(connection, "before_cursor_execute", lambda *_: reads.append(1))
        times = []
        for index in random.Random(1).choices(range(size), k=count):
            begun = time.perf_counter()
            tree.inclusion_proof(tiles.nodes(connection), index, size)
            times.append(time.perf_counter() - begun)
    engine.dispose()
    middle = statistics.median(times) * 1e6
    return Line(
        f"proof of inclusion at {size} entries",
        f"{middle:.0f} us, {len(reads) / count:.1f} reads",
        "<= 100 us, <= 20 reads",
        f"median of {count}",
    )


def whole(place: Place) -> Iterator[Line]:
    """Verify the big log once, in one process and in as many as there are cores."""
    engine = db.engine(place.url)
    begun = time.perf_counter()
    found = auditing.audit(engine, place.home)
    seconds = time.perf_counter() - begun
    sound(found)
    engine.dispose()
    yield Line(f"verifying {found.entries} entries", f"{seconds:.0f} s", "", "once")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--entries", type=int, default=2000, help="of a slice")
    parser.add_argument(
        "--big", type=int, default=1_000_000, help="entries of the big log; 0: none"
    )
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--save", action="store_true", help="append to bench/results.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
