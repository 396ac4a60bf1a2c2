"""Runs hook files: every matching file must allow, and whatever goes wrong is a refusal."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ghost_core.errors import GhostError
from ghost_hooks import webhook
from ghost_hooks.document import call_of, params_of, request_of, response_of
from ghost_hooks.folder import Content, Hook, HookFolder, Stage, UnsafeError, read
from ghost_hooks.params import Json, UnreadableError
from ghost_hooks.posting import Poster
from ghost_hooks.process import Finished, run
from ghost_hooks.request import Verdict
from ghost_hooks.rules import Rule, read_rules
from ghost_hooks.schemas import Schema
from ghost_hooks.turns import aside
from ghost_hooks.validator import BROKEN
from ghost_hooks.webhook import PAST, labels_of

_BAD_REPLY = 502
# The C library hands a file that the kernel cannot run to a shell, to which an emptied one is a success.
_PROGRAMS = (b"#!", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")


class HookRunner:
    """The hooks of one folder; `timeout_seconds` is for each of them."""

    def __init__(
        self, folder: Path, timeout_seconds: float, *, poster: Poster | None = None
    ) -> None:
        self.folder = HookFolder(folder)
        self.timeout_seconds = timeout_seconds
        self.poster = poster or Poster((), None, timeout_seconds)

    def find(self, tool: str, action: str, stage: Stage) -> list[Hook]:
        """Return the hooks of a call, in the order in which they run; looked up each time."""
        return list(self.folder.find(tool, action, stage))

    async def run(self, hook: Hook, document: Mapping[str, object]) -> Verdict:
        """Return the hook's verdict with the hash of its file; nothing is raised but cancellation."""
        if hook.url:
            return await webhook.judge(self.poster, hook, document)
        try:
            content = await asyncio.to_thread(read, hook)
        except UnsafeError as error:
            return _failed(hook, str(error), code="hook.unsafe")
        try:
            verdict = await self._judged(hook, content, document)
        except UnreadableError as error:
            status = _BAD_REPLY if "response" in document else error.status
            code, hint = error.code, error.hint or ""
            verdict = Verdict.no(
                "hook", hook.name, error.message, code=code, status=status, hint=hint
            )
        except Exception as error:  # noqa: BLE001  # a gate that fails refuses
            verdict = _failed(hook, _told(error), code="hook.failed")
        return replace(verdict, hash=content.hash)

    async def _judged(
        self, hook: Hook, content: Content, document: Mapping[str, object]
    ) -> Verdict:
        match hook.path.suffix:
            case ".json":
                return await aside(lambda: _by_schema(hook, content, document))
            case ".yaml" | ".yml":
                return await aside(lambda: _by_rules(hook, content, document))
            case ".py":
                argv = [sys.executable, "-I", "-m", "ghost_hooks.validator"]
                return await self._by_program(
                    hook, content, [*argv, str(content.path), content.hash], document
                )
            case _ if not content.executable:
                return _failed(hook, _not_executable(hook, content), code="hook.unknown")
            case _ if not content.data.startswith(_PROGRAMS):
                return _failed(
                    hook, "is no program: expected #! in its first line", code="hook.unknown"
                )
            case _:
                return await self._by_program(hook, content, [str(content.path)], document)

    async def _by_program(
        self, hook: Hook, content: Content, argv: list[str], document: Mapping[str, object]
    ) -> Verdict:
        data = await aside(lambda: _written(document))
        finished = await run(
            argv, stdin=data, folder=hook.root, timeout_seconds=self.timeout_seconds
        )
        verdict = _read(hook, finished)
        if hook.path.suffix == ".py" and finished.exit == BROKEN and finished.output:
            verdict = _failed(hook, verdict.reason, code="hook.failed")
        if verdict.allow and hook.path.suffix == ".py" and not finished.output:
            verdict = _failed(hook, "ended before it gave a verdict", code="hook.output")
        if not _unchanged(hook, content):
            verdict = _failed(hook, "changed while it ran", code="hook.changed")
        return replace(verdict, exit=finished.exit, ms=finished.ms)


def _not_executable(hook: Hook, content: Content) -> str:
    if hook.path.suffix == ".sh" or content.data.startswith(_PROGRAMS):
        return f"is not executable: chmod 700 {hook.name}"
    return "has no known suffix (.py .json .yaml .yml) and is not executable"


def _written(document: Mapping[str, object]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def _unchanged(hook: Hook, content: Content) -> bool:
    try:
        again = read(hook)
    except UnsafeError:
        return False
    return (again.path, again.stamp, again.hash) == (content.path, content.stamp, content.hash)


def _read(hook: Hook, finished: Finished) -> Verdict:
    """Read exit status and output; the output can only make the verdict worse."""
    if finished.timed_out:
        return _failed(hook, "took too long and was killed", code="hook.timeout")
    if finished.escaped:
        return _failed(hook, "left a process behind", code="hook.escaped")
    if finished.overflowed:
        return _failed(hook, "wrote more than 64 KiB and was killed", code="hook.output")
    said = _said(finished.output)
    if said is None:
        return _failed(hook, "wrote no valid verdict", code="hook.output")
    outcome = said.get("verdict", "allow")
    if finished.exit != 0 and outcome == "allow":
        outcome = "deny"
    reason = said.get("reason") or (f"exit status {finished.exit}" if finished.exit else "")
    return Verdict(
        "hook",
        hook.name,
        allow=outcome == "allow",
        reason=str(reason),
        code="" if outcome == "allow" else f"hook.{PAST[outcome]}",
        verdict=outcome,
        labels=labels_of(said.get("labels")),
    )


def _said(output: bytes) -> dict[str, Any] | None:
    """Return the verdict object of the output, {} if there is none, None if it is malformed."""
    text = output.strip()
    if not text.startswith(b"{"):
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    outcome = found.get("verdict", "allow")
    return found if isinstance(outcome, str) and outcome in {"allow", *PAST} else None


def _by_schema(hook: Hook, content: Content, document: Mapping[str, object]) -> Verdict:
    schema = Schema.parse(hook.name, content.data)
    if "response" in document:
        verdict = schema.verdict(response_of(document), typed=True, status=502)
    else:
        found = params_of(document)
        schema.names.require(request_of(document), found)
        verdict = schema.verdict(found.values, typed=found.typed)
    return replace(verdict, by="hook")


def _by_rules(hook: Hook, content: Content, document: Mapping[str, object]) -> Verdict:
    call = call_of(document)
    for rule in read_rules(hook.name, content.data):
        if not rule.match(*call):
            continue
        verdict = rule.verdict(_values(document, rule) if rule.condition else None)
        if verdict is not None:
            return replace(verdict, by="hook")
    return Verdict.yes("hook", hook.name)


def _values(document: Mapping[str, object], rule: Rule) -> Json:
    if "response" not in document:
        return params_of(document, rule.paths).values
    reply = response_of(document)
    named = reply if isinstance(reply, Mapping) else {}
    return {"response": reply, **named}  # `response.id` and `id` are the same field


def _failed(hook: Hook, reason: str, *, code: str) -> Verdict:
    return Verdict.no("hook", hook.name, reason, code=code, status=500)


def _told(error: Exception) -> str:
    """Return a reason that shows no value: our own errors say it, of others only the kind."""
    if isinstance(error, GhostError):
        return error.message
    if isinstance(error, OSError):
        return f"cannot be run, {error.strerror}"
    return f"failed with {type(error).__name__}"
