"""The witnesses of the configuration, over the wire and in the background."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from ghost_addons import cosigning
from ghost_core import settings as configuration
from ghost_core.errors import ConfigError
from ghost_core.paths import Home
from ghost_core.settings import Settings
from ghost_ledger.log_heads import LogHeads
from ghost_ledger.note import Vkey
from ghost_ledger.recorder import Recorder
from ghost_ledger.witness.kept import Kept
from ghost_ledger.witness.witness import Witness
from support.cosigners import named, served, witness
from support.ledger import open_recorder, spawned
from support.processes import free_port


@pytest.fixture
def recorder(home: Path) -> Iterator[Recorder]:
    with open_recorder(home) as opened:
        spawned(opened).act()
        yield opened


@pytest.fixture
def found(tmp_path: Path, recorder: Recorder) -> Witness:
    return witness(tmp_path / "w", [Vkey.parse(recorder.log_vkey)])


def configured(home: Path, *witnesses: str, allow: str = "") -> Settings:
    listed = ", ".join(f'"{each}"' for each in witnesses)
    private = f'"{allow}"' if allow else ""
    text = f"[proxy]\nallow_private = [{private}]\n[ledger]\nwitnesses = [{listed}]\n"
    Home(home).ensure().config.write_text(text, "utf-8")
    return configuration.load()


def at(port: int, vkey: object) -> str:
    return f"http://127.0.0.1:{port} {vkey}"


def test_a_witness_signs_over_the_wire(home: Path, recorder: Recorder, found: Witness) -> None:
    with served(found) as port:
        settings = configured(home, at(port, found.vkey.format()), allow=f"127.0.0.1:{port}")
        gathering = cosigning.of(Home(home), settings)
        assert gathering is not None
        made = gathering.gather(LogHeads(recorder.engine, Home(home)))
    assert list(cosigning.told(made)) == [
        {"name": found.vkey.name, "state": "signed", "detail": ""}
    ]


def test_one_that_is_not_there_is_told(home: Path, recorder: Recorder) -> None:
    port = free_port()
    settings = configured(home, at(port, named(1).format()), allow=f"127.0.0.1:{port}")
    gathering = cosigning.of(Home(home), settings)
    assert gathering is not None
    (said,) = cosigning.told(gathering.gather(LogHeads(recorder.engine, Home(home))))
    assert said["state"] == "unreachable"


def test_without_witnesses_there_is_nothing_to_ask(home: Path) -> None:
    assert cosigning.of(Home(home), configured(home)) is None


@pytest.mark.parametrize(
    ("witnesses", "why"),
    [
        (["https://w.test"], "no space"),
        ([f"{named(1).format()}"], "no space"),
        ([f"http://w.test {named(1).format()}"], "expected https"),
        ([f"https://127.0.0.1 {named(1).format()}"], "127.0.0.1"),
        ([f"https://w.test {Vkey('w', named(1).public).format()}"], "type 04"),
        (["https://w.test w+00000000+AAAA"], "key w"),
        ([f"https://w.test {named(1).format()} more"], "name+8 hex digits"),
        ([f"https://{each}.test {named(1).format()}" for each in "ab"], "twice"),
        ([f"https://w.test {named(each).format()}" for each in range(1, 17)], "at most 15"),
    ],
    ids=range(9),
)
def test_what_cannot_be_asked_is_refused(home: Path, witnesses: list[str], why: str) -> None:
    with pytest.raises(ConfigError) as caught:
        cosigning.check(configured(home, *witnesses))
    assert caught.value.code == "config.witnesses"
    assert why in caught.value.message


def test_new_heads_are_cosigned_in_the_background(
    home: Path, recorder: Recorder, found: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cosigning, "PAUSE_SECONDS", 0.02)
    heads, log = LogHeads(recorder.engine, Home(home)), Vkey.parse(recorder.log_vkey)
    with served(found) as port:
        settings = configured(home, at(port, found.vkey.format()), allow=f"127.0.0.1:{port}")
        with cosigning.following(Home(home), settings, heads):
            for _ in range(2):
                spawned(recorder)
                assert _kept(home, log, found, heads.size())


def _kept(home: Path, log: Vkey, found: Witness, size: int) -> bool:
    """Wait until a cosigned head of this size is kept."""
    for _ in range(500):
        kept = Kept.of(Home(home)).load(log, [found.vkey])
        if kept is not None and kept.head.size == size:
            return True
        threading.Event().wait(0.01)
    return False


def test_what_fails_in_the_background_is_told_once_and_tried_again(
    home: Path, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cosigning, "PAUSE_SECONDS", 0.01)
    port = free_port()
    settings = configured(home, at(port, named(1).format()), allow=f"127.0.0.1:{port}")
    log_key = Home(home).keys / "log_key"
    with (
        capture_logs() as said,
        cosigning.following(Home(home), settings, LogHeads(recorder.engine, Home(home))),
    ):
        _until(said, "witness.unreachable", 1)
        log_key.rename(log_key.with_suffix(".away"))
        _until(said, "witness.failed", 1)
        log_key.with_suffix(".away").rename(log_key)
        _until(said, "witness.unreachable", 2)
    # Many rounds have passed by then; what did not change was told once.
    told = [each["event"] for each in said]
    assert told == ["witness.unreachable", "witness.failed", "witness.unreachable"]


def _until(said: list[dict[str, object]], event: str, count: int) -> None:
    for _ in range(500):
        if sum(each["event"] == event for each in said) >= count:
            return
        threading.Event().wait(0.01)
    raise AssertionError(said)


def test_without_witnesses_nothing_follows(home: Path, recorder: Recorder) -> None:
    before = threading.active_count()
    with cosigning.following(Home(home), configured(home), LogHeads(recorder.engine, Home(home))):
        assert threading.active_count() == before
