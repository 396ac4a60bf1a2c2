from __future__ import annotations

import pytest

from ghost_ledger.export.source import Source
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from support.ledger import CLOSED, intent, spawned


@pytest.fixture
def source(ledger: Ledger) -> Source:
    return Source(ledger)


def test_the_recorders_own_session_is_not_listed(recorder: Recorder, source: Source) -> None:
    owned = spawned(recorder)
    assert list(source.sessions()) == [owned.sid]


def test_the_log_is_whole(recorder: Recorder, source: Source) -> None:
    spawned(recorder)
    count = source.count()
    assert count.whole
    assert count.entries == count.head > 0


def test_a_mark_moves_with_the_session_only(recorder: Recorder, source: Source) -> None:
    one, two = spawned(recorder), spawned(recorder)
    before = source.mark(one.sid)
    two.act()
    assert source.mark(one.sid) == before
    one.act()
    assert source.mark(one.sid) != before


def test_what_others_say_is_read_again_when_there_is_more(
    recorder: Recorder, source: Source
) -> None:
    owned = spawned(recorder)
    recorder.append(intent(owned.sid))
    source.mark(owned.sid)
    assert source.about_others() == []
    recorder.detach(owned.sid)
    recorder.recover(lambda sid: sid == owned.sid)
    source.mark(owned.sid)
    types = [item.entry.type for item in source.about_others()]
    assert types == ["action.unknown", "session.abandoned"]


def test_a_session_is_known_by_its_row(recorder: Recorder, source: Source) -> None:
    owned = spawned(recorder)
    recorder.seal(owned.sid, CLOSED)
    assert source.has_row(owned.sid)
    assert not source.has_row("gh_" + "0" * 32)
