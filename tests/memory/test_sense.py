"""Everything of meaning as one part, on the shipped table."""

from __future__ import annotations

import threading
import time

import pytest

from ghost_core.errors import ConfigError
from ghost_core.secret import SecretBytes
from ghost_core.settings import Settings
from ghost_credentials.references import Reference
from ghost_memory.sense import Sense
from support.memory import PROJECT, Store
from support.upstream import Upstream

NAME = "ghost-vectors"


def opened(memory: Store, *, background: bool = True, **embedding: object) -> Sense:
    settings = Settings(memory={"embedding": embedding})  # type: ignore[arg-type]
    engine = memory.recorder.engine
    return Sense.open(settings, engine, memory.clock, no_secret, background=background)


def no_secret(reference: Reference) -> SecretBytes:
    raise AssertionError(reference.shown)


def threads() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name == NAME]


def test_a_saved_text_is_found_by_its_meaning(memory: Store) -> None:
    with opened(memory) as sense:
        one = memory.save("Log in to postgres with the password in the vault.")
        memory.save("The logo is blue.")
        sense.saved()
        ends = time.monotonic() + 5
        while sense.health()["pending"]:
            assert time.monotonic() < ends
            threading.Event().wait(0.01)
        assert sense.vectors is not None
        near = sense.vectors.near("database credentials", projects=[PROJECT], limit=1)
        assert list(near) == [one.id]
    assert threads() == []


def test_a_short_command_starts_no_thread_and_can_catch_up(memory: Store) -> None:
    memory.save("one text")
    with opened(memory, background=False) as sense:
        assert threads() == []
        assert (sense.health()["embedded"], sense.health()["pending"]) == (0, 1)
        assert sense.catch_up(5.0)
        assert (sense.health()["embedded"], sense.health()["pending"]) == (1, 0)
        assert (sense.health()["others"], sense.health()["compared_by"]) == ({}, "numpy")


def test_without_an_embedder_there_is_nothing(memory: Store) -> None:
    with opened(memory, backend="none") as sense:
        sense.saved()
        assert sense.catch_up(0.0)
        assert sense.vectors is None
        assert sense.health() == {}
        assert threads() == []


def test_the_health_of_a_served_model_asks_nobody(memory: Store) -> None:
    with (
        Upstream() as up,
        opened(memory, background=False, backend="ollama", url=up.url) as sense,
    ):
        health = sense.health()
        assert up.requests == ()
        assert health["model"] == ""
        assert health["trouble"] == "the model has not answered yet"
        assert "pending" not in health


def test_a_wrong_setting_opens_nothing(memory: Store) -> None:
    with pytest.raises(ConfigError):
        opened(memory, backend="onnx")
    assert threads() == []
