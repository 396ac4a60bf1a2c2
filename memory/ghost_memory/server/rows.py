"""How a memory, a task and a decision look in an answer: a line for the model, fields for a program."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ghost_memory.asking import Hit
from ghost_memory.quotation import harmless, quoted
from ghost_memory.server.answer import Entry
from ghost_memory.values import Decision, Memory, Task

__all__ = ["of_decision", "of_hit", "of_memory", "of_task"]


def of_memory(memory: Memory, *, project: str = "", note: str = "", replaced_by: str = "") -> Entry:
    """Return a memory as a row; `note` is what a reader must know of it."""

    def line(texts: Sequence[str]) -> str:
        where = f" in {quoted(project)}" if project else ""
        known = f" [{note}]" if note else ""
        return f"- [{memory.category}] `{memory.id}`{where} ({_facts(memory)}){known} {quoted(texts[0])}"

    def data(texts: Sequence[str]) -> Mapping[str, object]:
        return {
            "id": memory.id,
            "project_id": memory.project_id,
            **({"project": quoted(project)} if project else {}),
            "category": memory.category,
            "content": quoted(texts[0]),
            "importance": round(memory.importance, 3),
            "pinned": memory.pinned,
            "tags": [harmless(tag) for tag in memory.tags],
            "created_at": memory.created_at,
            **({"note": note} if note else {}),
            **({"replaced_by": replaced_by} if replaced_by else {}),
        }

    return Entry((memory.content,), line, data)


def of_hit(hit: Hit, *, labelled: bool) -> Entry:
    """Return what a search found as a row; a row of another project, or of many, names its project."""
    note = f"replaced by `{hit.replaced_by}`" if hit.replaced_by else hit.label
    name = hit.project if labelled else ""
    return of_memory(hit.memory, project=name, note=note, replaced_by=hit.replaced_by)


def of_task(task: Task) -> Entry:
    """Return a task as a row: its title, its description indented below."""

    def line(texts: Sequence[str]) -> str:
        head = f"- [{task.status}] P{task.priority} `{task.id[:8]}` {quoted(texts[0])}"
        parts = (("", texts[1]), ("notes: ", texts[2]))
        return "\n".join([head, *(f"  {name}{quoted(text)}" for name, text in parts if text)])

    def data(texts: Sequence[str]) -> Mapping[str, object]:
        return {
            "id": task.id,
            "project_id": task.project_id,
            "status": task.status,
            "priority": task.priority,
            "title": quoted(texts[0]),
            **({"description": quoted(texts[1])} if texts[1] else {}),
            **({"notes": quoted(texts[2])} if texts[2] else {}),
            "created_at": task.created_at,
            **({"completed_at": task.completed_at} if task.completed_at else {}),
        }

    return Entry((task.title, task.description, task.notes), line, data)


def of_decision(decision: Decision) -> Entry:
    """Return a decision as a block under its title."""
    others = (
        json.dumps(list(decision.alternatives), ensure_ascii=False) if decision.alternatives else ""
    )
    replaced = f", replaced by `{decision.superseded_by}`" if decision.superseded_by else ""

    def line(texts: Sequence[str]) -> str:
        lines = [
            f"### {quoted(texts[0])}",
            f"Decision: {quoted(texts[1])}",
            f"Rationale: {quoted(texts[2])}",
            *([f"Alternatives rejected: {quoted(texts[3])}"] if texts[3] else []),
            f"Status: {decision.status}{replaced} (id: {decision.id})",
        ]
        return "\n".join(lines)

    def data(texts: Sequence[str]) -> Mapping[str, object]:
        return {
            "id": decision.id,
            "project_id": decision.project_id,
            "title": quoted(texts[0]),
            "decision": quoted(texts[1]),
            "rationale": quoted(texts[2]),
            **({"alternatives": quoted(texts[3])} if texts[3] else {}),
            "status": decision.status,
            **({"superseded_by": decision.superseded_by} if decision.superseded_by else {}),
            **({"memory_id": decision.memory_id} if decision.memory_id else {}),
            "created_at": decision.created_at,
        }

    return Entry((decision.title, decision.decision, decision.rationale, others), line, data)


def _facts(memory: Memory) -> str:
    facts = [f"{memory.importance:.1f}"]
    if memory.pinned:
        facts.append("[pinned]")
    if memory.tags:
        tags = [harmless(tag) for tag in memory.tags]
        facts.append(f"tags:{json.dumps(tags, ensure_ascii=False, separators=(',', ':'))}")
    return " ".join(facts)
