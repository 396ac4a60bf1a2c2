from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ghost_core.errors import UnavailableError
from ghost_core.settings_models import MemorySettings
from ghost_memory.asking import Query, Vectors
from ghost_memory.server.parts import plug
from ghost_memory.values import GLOBAL, Project
from support.mcp import Calls, service_on
from support.memory import Store


@dataclass(slots=True)
class Away:
    """An embedder whose model does not answer."""

    heard: list[str] = field(default_factory=list)
    weight: float = 0.3

    @property
    def vectors(self) -> Vectors:
        return self

    def near(
        self, text: str, *, projects: Collection[str] | None, limit: int
    ) -> Mapping[str, float]:
        raise UnavailableError(f"model: does not answer about {text[:4]}", code="memory.embedder")

    def saved(self) -> None:
        self.heard.append("saved")

    def health(self) -> Mapping[str, object]:
        return {
            "model": "m",
            "embedded": 4,
            "pending": 121,
            "trouble": "does not answer",
            "others": {},
        }

    def close(self) -> None:
        self.heard.append("closed")


NOW = "2026-12-01T00:00:00.000000Z"


def test_search_and_context_are_those_of_memory(memory: Store) -> None:
    parts, saved = plug(MemorySettings()), memory.save("the port is 8402")
    found = memory.read(lambda c: parts.search(c, Query("port", "app"), now=NOW))
    assert [hit.memory.id for hit in found.hits] == [saved.id]
    shown = memory.read(
        lambda c: parts.context(c, Project("app", "app", "app", None), limit=5, now=NOW)
    )
    assert "«the port is 8402»" in shown.text


def test_what_all_share_is_a_list_of_its_own(memory: Store) -> None:
    parts = plug(MemorySettings())
    place = Project(GLOBAL, GLOBAL, GLOBAL, None)
    assert memory.read(lambda c: parts.context(c, place, limit=5, now=NOW)).empty
    for number in range(20):
        memory.save(f"rule {number} of all", GLOBAL)
    shown = memory.read(lambda c: parts.context(c, place, limit=5, now=NOW))
    assert (shown.shown, shown.total) == (15, 20)
    assert shown.text.startswith("## Global (applies to all projects)\n- [fact]")


def test_a_model_that_is_away_leaves_keywords_and_that_is_said(memory: Store) -> None:
    away = Away()
    call = Calls(service_on(memory, plug(MemorySettings(), away)))
    saved = call.save("the port is 8402")
    assert away.heard == ["saved"]
    found = call("ghost_memory_search", project_id="app", query="port")
    assert f"`{saved}`" in found.text
    assert found.text.endswith("\n(keywords only: model: does not answer about port)")
    assert found.data["degraded"]
    health = call("ghost_health")
    assert health.text.endswith(
        "embeddings: model m, embedded 4, pending 121, trouble does not answer"
    )
    assert health.data["embedding"] == away.health()


def test_without_an_embedder_that_is_said(memory: Store) -> None:
    health = Calls(service_on(memory))("ghost_health")
    assert health.text.endswith("embeddings: off, search works on keywords")


def test_only_what_changes_a_text_wakes_the_embedder(memory: Store) -> None:
    away = Away()
    call = Calls(service_on(memory, plug(MemorySettings(), away)))
    saved = call.save("one")
    here = {"project_id": "app", "memory_id": saved}
    call("ghost_memory_pin", **here, pinned=True)
    call("ghost_memory_update", **here, importance=0.1)
    assert away.heard == ["saved"]
    call("ghost_memory_update", **here, content="two")
    call("ghost_save_global", content="three")
    parts = {"title": "t", "decision": "d", "rationale": "r"}
    call("ghost_decision_record", project_id="app", **parts)
    assert away.heard == ["saved"] * 4


def test_closing_ends_the_embedder() -> None:
    away = Away()
    plug(MemorySettings(), away).close()
    assert away.heard == ["closed"]
