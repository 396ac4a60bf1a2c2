"""The gates around a call, in order; each yields a verdict, and the first refusal ends the walk."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ghost_core.errors import GhostError
from ghost_hooks import limits
from ghost_hooks.account import Account
from ghost_hooks.decision import Decision
from ghost_hooks.document import Call, document
from ghost_hooks.folder import Hook, Stage
from ghost_hooks.grants import Grant
from ghost_hooks.override import asks_otherwise
from ghost_hooks.params import UnreadableError, of_reply
from ghost_hooks.request import Reply, Request, Verdict
from ghost_hooks.rules import Rule
from ghost_hooks.runner import HookRunner
from ghost_hooks.schemas import Schema
from ghost_hooks.spelling import read_params
from ghost_hooks.turns import aside

type ExtraHook = tuple[Path | str, str]
"""A hook of one call: absolute path and the SHA-256 (hex) that the file must have, or a URL and its own."""

_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_LARGE_BYTES = 64_000
_LONG_QUERY = 4_000  # characters; each name in it is read in all spellings
_SEPARATORS = (b",", b"&", b";")
_MANY_VALUES = 500  # a schema can take some 50 µs for each


async def until_denied(steps: AsyncGenerator[Verdict]) -> tuple[Verdict, ...]:
    """Collect verdicts up to the first refusal; an exception in a gate is a refusal."""
    found: list[Verdict] = []
    try:
        async with contextlib.aclosing(steps):
            async for verdict in steps:
                found.append(verdict)
                if not verdict.allow:
                    break
    except Exception as error:  # noqa: BLE001  # a gate that fails refuses
        found.append(failed(error))
    return tuple(found)


def failed(error: Exception) -> Verdict:
    """Return the refusal of a gate that could not judge; it shows only what our own errors say."""
    if isinstance(error, UnreadableError):
        return unreadable(error)
    reason = error.message if isinstance(error, GhostError) else type(error).__name__
    return Verdict.no("hook", "guard", f"a gate failed: {reason}", code="hook.failed", status=500)


def unreadable(error: UnreadableError) -> Verdict:
    """Return the refusal of parameters that cannot be read in one way only."""
    code, hint = error.code, error.hint or ""
    return Verdict.no("schema", "body", error.message, code=code, status=error.status, hint=hint)


@dataclass(frozen=True, slots=True)
class Gates:
    """The walk of one call through its gates; what it takes from the `account` is its caller's to keep."""

    runner: HookRunner
    decision: Decision
    grant: Grant
    session: Mapping[str, object]
    action_id: str
    extra_hooks: Sequence[ExtraHook] = ()
    account: Account | None = None

    async def before(self, request: Request) -> AsyncGenerator[Verdict]:
        """Yield the verdicts about a request: method, rules, schema, limits, hooks, extra hooks."""
        override = await reading(request, lambda: asks_otherwise(request))
        if override is not None:
            yield override
        rules = self.decision.conditional
        schema = self.grant.request_schema
        deep = schema is not None and schema.recursive
        work = functools.partial(_on_params, rules, self.grant, request)
        for verdict in await reading(request, work, deep=deep):
            yield verdict
        limit = await self._on_limits(request)
        if limit is not None:
            yield limit
        async for verdict in self._hooked("pre", request):
            yield verdict

    async def after(self, request: Request, reply: Reply) -> AsyncGenerator[Verdict]:
        """Yield the verdicts about a reply: schema, hooks, extra hooks."""
        found = self.grant.replies.find(reply.status)
        deep = found is not None and found.recursive
        work = functools.partial(_on_reply, found, request, reply)
        schema = await judging(reply.body, work, deep=deep)
        if schema is not None:
            yield schema
        async for verdict in self._hooked("post", request, reply):
            gone = reply.body is None and verdict.verdict == "deny"
            yield verdict.flagged() if gone else verdict

    async def _on_limits(self, request: Request) -> Verdict | None:
        """Judge a limited call and take what it uses, in one step once its cost is known."""
        grant = self.grant
        if grant.limits is None or not limits.limited(grant.limits):
            return None
        capped = grant.limits
        now = await reading(request, lambda: limits.cost(capped, request, grant.kind))
        name = (self.decision.tool, self.decision.action)
        if self.account is None:
            return limits.judge(capped, None, now, rule=":".join(name))
        return self.account.take(self.action_id, name, capped, now)

    async def _hooked(
        self, stage: Stage, request: Request, reply: Reply | None = None
    ) -> AsyncGenerator[Verdict]:
        tool, action = self.decision.tool, self.decision.action
        hooks = [*self.runner.find(tool, action, stage), *map(_extra, self.extra_hooks)]
        if not hooks:
            return
        call = Call(self.action_id, tool, action, self.grant.kind)
        handed = document(call, self.session, request, reply)
        for hook in hooks:
            yield await self.runner.run(hook, handed)


def _extra(extra: ExtraHook) -> Hook:
    path, expected = extra
    if isinstance(path, str):
        return Hook(Path(), Path(), expected=expected, url=path)
    known = path.is_absolute() and _SHA256.match(expected)
    problem = "" if known else "expected an absolute path and a SHA-256"
    return Hook(path, path.parent, expected=expected, problem=problem)


def _on_params(rules: Sequence[Rule], grant: Grant, request: Request) -> list[Verdict]:
    """Judge conditional rules and the request schema; both read the parameters once."""
    schema = grant.request_schema
    if request.body == b"":
        if grant.empty_body == "refuse":
            raise UnreadableError("body: expected one, found none", code="params.missing")
        if grant.empty_body == "allow" and not request.target.query:
            schema = None
    if not rules and schema is None:
        return []
    params = read_params(request, grant.kind, [path for rule in rules for path in rule.paths])
    found = [rule.verdict(params.values) for rule in rules]
    if schema is not None:
        schema.names.require(request, params)
        found.append(schema.verdict(params.values, typed=params.typed))
    return [verdict for verdict in found if verdict is not None]


async def reading[T](request: Request, work: Callable[[], T], *, deep: bool = False) -> T:
    """Read a request as `judging` does, with a long query in a thread too."""
    long = deep or len(request.target.query) > _LONG_QUERY
    return await (aside(work) if long else judging(request.body, work))


async def judging[T](body: bytes | None, work: Callable[[], T], *, deep: bool = False) -> T:
    """Read a body as `beside` does, with one of many values in a thread too; `deep` is always read there."""
    many = deep or (body is not None and sum(map(body.count, _SEPARATORS)) > _MANY_VALUES)
    return await (aside(work) if many else beside(body, work))


async def beside[T](body: bytes | None, work: Callable[[], T]) -> T:
    """Read a large body in a thread, so that only calls of its own session wait for it."""
    return await aside(work) if len(body or b"") > _LARGE_BYTES else work()


def _on_reply(schema: Schema | None, request: Request, reply: Reply) -> Verdict | None:
    """Judge a successful reply by its schema; error replies have a shape of their own."""
    if schema is None or request.method == "HEAD":
        return None
    if reply.body is None:
        reason = "the reply streamed past its schema"
        return Verdict.no("schema", schema.name, reason, code="schema.streamed").flagged()
    try:
        return schema.verdict(of_reply(reply), typed=True, status=502)
    except UnreadableError as error:
        return Verdict.no("schema", schema.name, error.message, code=error.code, status=502)
