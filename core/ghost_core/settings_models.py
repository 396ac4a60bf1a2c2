"""The settings tree: one frozen value, sections as in `ghost.toml`."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ghost_core.settings_tables import (
    CredentialSettings,
    PriceSettings,
    RuleSettings,
    ToolSettings,
    TriggerSettings,
    WebhookSettings,
)
from ghost_core.settings_types import (
    DatabaseUrl,
    ExpandedPath,
    OptionalPath,
    OptionalReference,
    Reference,
    Section,
    Size,
    Text,
    setting,
)

type Ratio = Annotated[Decimal, Field(ge=0, le=1)]


class DatabaseSettings(Section):
    """Where the database is."""

    url: DatabaseUrl = setting("database.url")


class SessionSettings(Section):
    """How long sessions live."""

    ttl_seconds: int = setting("session.ttl_seconds", ge=1)
    max_ttl_seconds: int = setting("session.max_ttl_seconds", ge=1)

    @model_validator(mode="after")
    def _within_max(self) -> Self:
        if self.ttl_seconds > self.max_ttl_seconds:
            raise ValueError("expected ttl_seconds up to max_ttl_seconds")
        return self


class ProxySettings(Section):
    """The listener and what it does with traffic; limits in bytes."""

    host: Text = setting("proxy.host")
    port: int = setting("proxy.port", ge=0, le=65535)
    record: Literal["mutations", "all"] = setting("proxy.record")
    buffer_limit: Size = setting("proxy.buffer_limit")
    scrub: Literal["redact", "refuse", "mark"] = setting("proxy.scrub")
    upstream_ca: OptionalPath = setting("proxy.upstream_ca")
    upstream_proxy: str = setting("proxy.upstream_proxy")
    allow_private: tuple[Text, ...] = setting("proxy.allow_private")
    workers: int = setting("proxy.workers", ge=1, le=64)


class LedgerSettings(Section):
    """How much of the payloads is kept; limits in bytes."""

    payloads: Literal["full", "headers", "none"] = setting("ledger.payloads")
    payload_limit: Size = setting("ledger.payload_limit")
    witnesses: tuple[Text, ...] = setting("ledger.witnesses")


class HookSettings(Section):
    """Where hook files lie and how long each may take."""

    dir: ExpandedPath = setting("hooks.dir")
    timeout_seconds: float = setting("hooks.timeout_seconds", gt=0, le=600)


class EmbeddingSettings(Section):
    """What turns text into vectors."""

    backend: Literal["static", "onnx", "ollama", "openai", "none"] = setting(
        "memory.embedding.backend"
    )
    sweep_seconds: int = setting("memory.embedding.sweep_seconds", ge=1)
    model: str = setting("memory.embedding.model")
    url: str = setting("memory.embedding.url")
    key: OptionalReference = setting("memory.embedding.key")


class SearchSettings(Section):
    """How search mixes words and vectors."""

    fusion: Literal["convex", "rrf"] = setting("memory.search.fusion")
    vector_weight: Ratio = setting("memory.search.vector_weight")
    rrf_k: int = setting("memory.search.rrf_k", ge=1)
    decay: Literal["tie-break", "full", "off"] = setting("memory.search.decay")


class NudgeSettings(Section):
    """Whether an agent that saved nothing is reminded."""

    mode: Literal["block-once", "notify", "off"] = setting("memory.nudge.mode")


class ModelSettings(Section):
    """The model that memory may ask."""

    key: Reference = setting("memory.llm.key")


class MemorySettings(Section):
    """Memory: embedding, search, nudge, model."""

    embedding: EmbeddingSettings = EmbeddingSettings()
    search: SearchSettings = SearchSettings()
    nudge: NudgeSettings = NudgeSettings()
    llm: ModelSettings = ModelSettings()


class HarnessSettings(Section):
    """Models and thresholds of the harness."""

    worker_model: str = setting("harness.worker_model")
    reflector_model: str = setting("harness.reflector_model")
    k: int = setting("harness.k", ge=1)
    accept_sources: int = setting("harness.accept_sources", ge=1)
    semantic: Ratio = setting("harness.semantic")
    harmful_seen: int = setting("harness.harmful_seen", ge=1)
    harmful_rate: Ratio = setting("harness.harmful_rate")
    split: tuple[int, int, int] = setting("harness.split")
    cost_weight: Decimal = setting("harness.cost_weight", ge=0)


class UpgradeSettings(Section):
    """Where newer versions of this program come from."""

    index: str = setting("upgrade.index")


class Settings(Section):
    """Everything `ghost.toml` may say; `Settings()` is all defaults."""

    database: DatabaseSettings = Field(default_factory=DatabaseSettings)
    session: SessionSettings = Field(default_factory=SessionSettings)
    proxy: ProxySettings = Field(default_factory=ProxySettings)
    ledger: LedgerSettings = Field(default_factory=LedgerSettings)
    hooks: HookSettings = Field(default_factory=HookSettings)
    credentials: dict[str, CredentialSettings] = Field(default_factory=dict)
    tools: dict[str, ToolSettings] = Field(default_factory=dict)
    rules: tuple[RuleSettings, ...] = ()
    webhooks: dict[str, WebhookSettings] = Field(default_factory=dict)
    triggers: tuple[TriggerSettings, ...] = ()
    prices: PriceSettings = PriceSettings()
    memory: MemorySettings = MemorySettings()
    harness: HarnessSettings = HarnessSettings()
    upgrade: UpgradeSettings = UpgradeSettings()
