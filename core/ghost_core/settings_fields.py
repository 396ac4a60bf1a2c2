"""The one table of plain settings: name, default, kind, and how a project file may tighten it.

Both doors read it: the models take their defaults from here, `peek` its answers. Sections whose names
the user invents (credentials, tools, …) are listed as `TABLES`; they have no defaults.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, NamedTuple

type Kind = Literal["text", "whole", "number", "size", "path", "url", "list"]


class Field(NamedTuple):
    """One setting: its default as `ghost.toml` spells it, and what a project file may do to it.

    `tighter` is None (never without trust), "lower" (down only), "free" (harmless), or the values
    from loose to tight.
    """

    default: object
    kind: Kind = "text"
    tighter: Literal["lower", "free"] | tuple[str, ...] | None = None


FIELDS: dict[str, Field] = {
    "database.url": Field("sqlite:///$GHOST_HOME/ghost.db", "url"),
    "session.ttl_seconds": Field(300, "whole", "lower"),
    "session.max_ttl_seconds": Field(86400, "whole", "lower"),
    "proxy.host": Field("localhost"),
    "proxy.port": Field(9999, "whole"),
    "proxy.record": Field("mutations", tighter=("mutations", "all")),
    "proxy.buffer_limit": Field("64MB", "size"),
    "proxy.scrub": Field("redact", tighter=("mark", "redact", "refuse")),
    "proxy.upstream_ca": Field("", "path"),
    "proxy.upstream_proxy": Field(""),
    "proxy.allow_private": Field((), "list"),
    "proxy.workers": Field(1, "whole"),
    "ledger.payloads": Field("full"),
    "ledger.payload_limit": Field("1MB", "size"),
    "ledger.witnesses": Field((), "list"),
    "hooks.dir": Field("$GHOST_HOME/hooks", "path"),
    # Less time is less judged: a hook that is killed puts nothing in quarantine, and nobody is told.
    "hooks.timeout_seconds": Field(10, "number"),
    "prices.name": Field("list-2026-11"),
    "memory.embedding.backend": Field("static"),
    "memory.embedding.sweep_seconds": Field(120, "whole", "free"),
    "memory.embedding.model": Field(""),
    "memory.embedding.url": Field(""),
    "memory.embedding.key": Field("env:OPENAI_API_KEY"),
    "memory.search.fusion": Field("convex", tighter="free"),
    "memory.search.vector_weight": Field(Decimal("0.3"), "number", "free"),
    "memory.search.rrf_k": Field(60, "whole", "free"),
    "memory.search.decay": Field("tie-break", tighter="free"),
    "memory.nudge.mode": Field("block-once", tighter="free"),
    "memory.llm.key": Field("env:ANTHROPIC_API_KEY"),
    "harness.worker_model": Field(""),
    "harness.reflector_model": Field(""),
    "harness.k": Field(5, "whole", "free"),
    "harness.accept_sources": Field(2, "whole", "free"),
    "harness.semantic": Field(Decimal("0.25"), "number", "free"),
    "harness.harmful_seen": Field(2, "whole", "free"),
    "harness.harmful_rate": Field(Decimal("0.34"), "number", "free"),
    "harness.split": Field((70, 15, 15), "list", "free"),
    "harness.cost_weight": Field(Decimal("0.1"), "number", "free"),
    "upgrade.index": Field(""),  # what is installed from there runs as the user
}

TABLES = ("credentials", "tools", "rules", "webhooks", "triggers", "prices.models")
"""Sections that hold what the user names; `rules` and `triggers` are lists."""

RESERVED = frozenset({"GHOST_HOME", "GHOST_SESSION_ID", "GHOST_HOOK"})
"""Variables with our prefix that are no settings."""


def variable(key: str) -> str:
    """Return the environment variable of a dotted key: `proxy.port` is `GHOST_PROXY__PORT`."""
    return "GHOST_" + key.upper().replace(".", "__")
