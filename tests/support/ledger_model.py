"""A ledger against a small model of it: whatever happens in whatever order, only the end grows."""

from __future__ import annotations

import shutil
import tempfile
from concurrent.futures import Future
from functools import cache
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ghost_core import ids
from ghost_core.errors import IntegrityError, UnavailableError
from ghost_core.paths import Home
from ghost_ledger import auditing, tree
from ghost_ledger.batch import Batch
from ghost_ledger.recorder import Draft, Receipt, Recorder
from support.ledger import CLOSED, Owned, denied, intent, open_recorder, outcome, rows, spawned

PICK = st.integers(0, 1000)
FILES = ("ghost.db", "ghost.db-wal")
# Who is killed loses nothing that was written, synced or not; so memory will do, and is quicker.
FOLDERS = "/dev/shm" if Path("/dev/shm").is_dir() else None


class Ledger(RuleBasedStateMachine):
    """Known are all leaf hashes in order, the live sessions, and their calls without an answer."""

    recorder: Recorder

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(dir=FOLDERS))
        self.folder = self.root / "0"
        self.leaves: list[bytes] = []
        self.live: list[Owned] = []
        self.asked: list[tuple[Owned, str, Receipt]] = []
        self.unknown = 0
        self.copies: list[tuple[Path, int]] = []

    @initialize()
    def born(self) -> None:
        shutil.copytree(_born().name, self.folder)
        self.recorder = open_recorder(self.folder)
        self._grown()
        self.keep_a_copy()
        self.spawn()

    # --- what a recorder does -------------------------------------------------------------------

    @rule()
    def spawn(self) -> None:
        self.live.append(spawned(self.recorder))
        self._grown()

    @precondition(lambda self: self.live)
    @rule(pick=PICK, count=st.integers(1, 5))
    def ask(self, pick: int, count: int) -> None:
        """Enter calls together, each of which waits for its answer."""
        owned = self._one(pick)
        actions = [ids.action_id() for _ in range(count)]
        receipts = self.recorder.append(*(intent(owned.sid, each) for each in actions))
        self.asked += [(owned, *pair) for pair in zip(actions, receipts, strict=True)]
        self._grown(*receipts)

    @precondition(lambda self: self.asked)
    @rule(pick=PICK)
    def answer(self, pick: int) -> None:
        owned, action, receipt = self.asked.pop(pick % len(self.asked))
        self._grown(*self.recorder.append(outcome(owned.sid, action, receipt)))

    @precondition(lambda self: self.live)
    @rule(picks=st.lists(PICK, min_size=1, max_size=4), times=st.sampled_from([1, 80]))
    def refuse_many_at_once(self, picks: list[int], times: int) -> None:
        """Queue entries of several sessions; the writer commits them in groups, and fills tiles."""
        drafts = [denied(self._one(pick).sid) for pick in picks * times]
        queued: list[Future[tuple[Receipt, ...]]] = [self.recorder.submit(each) for each in drafts]
        self._grown(*(receipt for each in queued for receipt in each.result(5)))

    @precondition(lambda self: self.live)
    @rule(pick=PICK)
    def seal(self, pick: int) -> None:
        owned = self._one(pick)
        self.recorder.seal(owned.sid, CLOSED)
        self._gone([owned])
        self._grown()

    @precondition(lambda self: self.live)
    @rule(pick=PICK)
    def append_what_is_wrong(self, pick: int) -> None:
        """Nothing of a call is entered whose last draft has a field too few."""
        owned = self._one(pick)
        wrong = Draft(owned.sid, "action.denied", ids.action_id(), {"tool": "x"})
        with pytest.raises(IntegrityError):
            self.recorder.append(denied(owned.sid), wrong)

    # --- what happens to it ---------------------------------------------------------------------

    @rule()
    def close_and_open(self) -> None:
        self.recorder.close()
        self._grown()
        self.recorder = open_recorder(self.folder)
        self._attach()

    @rule(keys_left=st.booleans())
    def kill(self, *, keys_left: bool) -> None:
        """Leave what lies on the disk between two transactions."""
        self._killed(self._copy(), keys_left=keys_left)

    @precondition(lambda self: self.live)
    @rule(pick=PICK, count=st.integers(1, 300), keys_left=st.booleans())
    def kill_before_the_commit(self, pick: int, count: int, *, keys_left: bool) -> None:
        """Leave what lies on the disk when rows and tiles are written and nothing is committed."""
        owned, left = self._one(pick), list[Path]()

        def cut(batch: Batch) -> tuple[Receipt, ...]:
            batch.append(denied(owned.sid) for _ in range(count))
            batch.finish()
            left.append(self._copy())
            raise UnavailableError("killed")

        with pytest.raises(UnavailableError, match="killed"):
            self.recorder._writer.submit(cut, weight=count).result(5)
        self._killed(left[0], keys_left=keys_left)

    @rule()
    def keep_a_copy(self) -> None:
        self.copies.append((self._copy(), len(self.leaves)))

    @rule(pick=PICK)
    def restore_a_copy(self, pick: int) -> None:
        """An old database is refused, and nothing is written; the newest is taken again."""
        copy, size = self.copies[pick % len(self.copies)]
        self.recorder.close()
        self._grown()
        newest = self._copy()
        self._put(copy)
        if size < len(self.leaves):
            with pytest.raises(IntegrityError) as caught:
                open_recorder(self.folder).close()
            assert caught.value.code == "ledger.rollback"
            assert len(self._stored()) == size
        self._put(newest)
        self.recorder = open_recorder(self.folder)
        self._attach()

    @rule()
    def verify(self) -> None:
        self.recorder.sync_head()
        found = auditing.audit(self.recorder.engine, Home(self.folder))
        assert found.exit_code == 0, found.axes
        assert (found.entries, found.root) == (len(self.leaves), tree.root(self.leaves))
        assert found.pending == self.unknown + len(self.asked)

    @invariant()
    def the_head_is_over_all_entries(self) -> None:
        assert self.recorder.head == (len(self.leaves), tree.root(self.leaves))

    def teardown(self) -> None:
        try:
            if hasattr(self, "recorder"):
                self.recorder.close()
        finally:
            shutil.rmtree(self.root)

    # --- the model ------------------------------------------------------------------------------

    def _grown(self, *receipts: Receipt) -> None:
        """Take over what was entered: it follows all that was there, and holds what was told."""
        stored = self._stored()
        assert stored[: len(self.leaves)] == self.leaves
        assert all(stored[each.idx] == each.leaf_hash for each in receipts)
        self.leaves = stored

    def _stored(self) -> list[bytes]:
        return rows(self.folder, "SELECT leaf_hash FROM entries ORDER BY idx")

    def _one(self, pick: int) -> Owned:
        return self.live[pick % len(self.live)]

    def _gone(self, sessions: list[Owned]) -> None:
        over = [each for each in self.asked if each[0] in sessions]
        self.unknown += len(over)
        self.asked = [each for each in self.asked if each not in over]
        self.live = [each for each in self.live if each not in sessions]

    def _attach(self) -> None:
        for owned in self.live:
            self.recorder.attach(owned.sid, owned.key)

    def _copy(self) -> Path:
        """Copy the home as a crash would leave it, without the memory that processes share."""
        copy = self.root / f"{ids.entry_id()}"
        shutil.copytree(self.folder, copy, ignore=lambda _, names: {*filter(_passing, names)})
        return copy

    def _put(self, copy: Path) -> None:
        for path in self.folder.glob("ghost.db*"):
            path.unlink()
        for name in FILES:
            if (copy / name).exists():
                shutil.copy(copy / name, self.folder / name)

    def _killed(self, left: Path, *, keys_left: bool) -> None:
        """Go on with what was left: it holds exactly what was acknowledged; then tidy it up."""
        self.recorder.close()
        self.folder = left
        assert self._stored() == self.leaves
        self.recorder = open_recorder(left)
        mine = {each.sid for each in self.live}
        found = self.recorder.recover(
            lambda _: True, can_continue=lambda sid: keys_left and sid in mine
        )
        unknown = [action for each in found for action in each.unknown]
        assert sorted(unknown) == sorted(action for _, action, _ in self.asked)
        over = [] if keys_left else list(self.live)
        ended = {each.sid for each in found if each.abandoned}
        assert ended & mine == {each.sid for each in over}
        self.unknown, self.asked = self.unknown + len(self.asked), []
        self._gone(over)
        self._grown()
        self._attach()
        self.verify()


def _passing(name: str) -> bool:
    return name.endswith("-shm") or name.startswith(".")


@cache
def _born() -> tempfile.TemporaryDirectory[str]:
    """Return a home with an empty log, made once and removed at the end."""
    folder = tempfile.TemporaryDirectory(dir=FOLDERS)
    open_recorder(Path(folder.name)).close()
    return folder
