"""Writes the graded set of the memory bench from hand-written templates, the same bytes for the same seed.

    python scripts/bench_set.py            # writes memory/ghost_memory/bench/data/own
    python scripts/bench_set.py --check    # exit 1 if the files are not what this would write

Six projects, each with ten kinds of question. A kind is only as hard as its distractors: every number has
siblings, every rule its counterpart, every update its past, every old truth a newer look-alike.
"""

from __future__ import annotations

import argparse
import json
import random  # noqa: TID251  # the same bytes for the same seed is what it is for
import sys
import tomllib
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

SEED = 20261201
HERE = Path(__file__).parent
TARGET = HERE.parent / "memory" / "ghost_memory" / "bench" / "data" / "own"
NUMBER_QUESTIONS = 2
CATEGORY = {"decision": "decision", "negation": "convention", "identifier": "fact"}
KINDS = {"decision": "why-decision", "number": "number-near-duplicate", "none": "no-answer"}


class Set:
    """The memories and questions of all projects, in writing."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311
        self.memories: list[dict[str, Any]] = []
        self.queries: list[dict[str, Any]] = []

    def project(self, said: Mapping[str, Any]) -> None:
        """Add everything of one project."""
        project = _Project(self, str(said["project"]), str(said["split"]))
        for kind in ("identifier", "paraphrase", "decision", "cjk"):
            project.pairs(kind, said[kind])
        for rule, counterpart, question in said["negation"]:
            gains = {project.keep("negation", rule): 3}
            project.ask("negation", question, gains, [project.keep("negation", counterpart)])
        project.chains(said["chain"])
        for right, newer, question in said["trap"]:
            old = project.keep("trap", right, age=project.days(300, 700))
            wrong = project.keep("trap", newer, age=project.days(2, 12))
            project.ask("recency-trap", question, {old: 3}, [wrong])
        project.numbers(said["number"], said["parts"])
        for part, text in product(said["parts"], said["filler"]):
            project.keep("filler", text.format(part=part))
        for question in said["none"]:
            project.ask("none", question, {})


class _Project:
    def __init__(self, whole: Set, name: str, split: str) -> None:
        self.whole, self.name, self.split = whole, name, split
        self.count = 0

    def days(self, low: int, high: int) -> int:
        return self.whole.random.randint(low, high)

    def keep(
        self, kind: str, content: str, *, age: int | None = None, over: tuple[str, ...] = ()
    ) -> str:
        self.count += 1
        key = f"{self.name}-{self.count:03d}"
        categories = ("fact", "architecture", "pattern", "gotcha", "dependency")
        self.whole.memories.append(
            {
                "key": key,
                "project": self.name,
                "category": CATEGORY.get(kind) or self.whole.random.choice(categories),
                "content": content,
                "importance": self.whole.random.choice((0.5, 0.6, 0.7, 0.8)),
                "tags": [self.name],
                "age_days": self.days(1, 400) if age is None else age,
                **({"supersedes": list(over)} if over else {}),
            }
        )
        return key

    def ask(
        self, kind: str, text: str, rel: Mapping[str, int], wrong: list[str] | None = None
    ) -> None:
        self.whole.queries.append(
            {
                "name": f"q-{self.name}-{len(self.whole.queries):03d}",
                "class": KINDS.get(kind, kind),
                "project": self.name,
                "split": self.split,
                "text": text,
                "rel": rel,
                **({"wrong": wrong} if wrong else {}),
            }
        )

    def pairs(self, kind: str, said: list[list[str]]) -> None:
        for memory, *questions in said:
            key = self.keep(kind, memory)
            for question in questions:
                self.ask(kind, question, {key: 3})

    def chains(self, said: list[Any]) -> None:
        for versions, state, premise in said:
            keys: list[str] = []
            for place, text in enumerate(versions):
                age = (len(versions) - place) * self.days(40, 120)
                keys.append(self.keep("chain", text, age=age, over=tuple(keys)))
            self.ask("update-chain", state, {keys[-1]: 3}, keys[:-1])
            self.ask("premise-trap", premise, {keys[-1]: 3}, keys[:-1])

    def numbers(self, said: list[Any], parts: list[str]) -> None:
        """Let every part have its number; ask for a few, so that the others are in the way."""
        for text, question, low, high in said:
            values = self.whole.random.sample(range(low, high), len(parts))
            keys = {
                part: self.keep("number", text.format(part=part, n=value))
                for part, value in zip(parts, values, strict=True)
            }
            for part in self.whole.random.sample(parts, NUMBER_QUESTIONS):
                others = [key for other, key in keys.items() if other != part]
                self.ask("number", question.format(part=part), {keys[part]: 3}, others)


def written() -> Iterator[tuple[Path, str]]:
    """Yield every file with its text."""
    whole = Set(SEED)
    for path in sorted((HERE / "bench_set").glob("*.toml")):
        whole.project(tomllib.loads(path.read_text("utf-8")))
    for name, rows in (("memories", whole.memories), ("queries", whole.queries)):
        head = "# Written by scripts/bench_set.py; change its templates, not this file.\n"
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        yield TARGET / f"{name}.jsonl", head + "\n".join(lines) + "\n"


def main() -> int:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(description="write the graded set of the memory bench")
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    same = True
    for path, text in written():
        if check:
            same = same and path.read_text("utf-8") == text
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
