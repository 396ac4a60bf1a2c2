"""A URL as a hook: it gets the hook's document by POST; what is no allowing verdict denies the call."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from ghost_core.errors import GhostError
from ghost_hooks.folder import Hook
from ghost_hooks.posting import Answer, Poster
from ghost_hooks.request import Verdict
from ghost_hooks.target import Target
from ghost_hooks.turns import aside

PAST = {"deny": "denied", "quarantine": "quarantined"}
_LABEL_LIMIT = 20
_SLACK_SECONDS = 0.5
# Threads of their own: receivers that hang must not take those that other calls need.
_ASKING = ThreadPoolExecutor(32, thread_name_prefix="ghost-hook")


def is_url(text: str) -> bool:
    """Tell whether a hook is named by a URL instead of a file."""
    return text.lower().startswith(("https://", "http://"))


def url_hash(url: str) -> str:
    """Return what stands for the hash of a file: SHA-256 (hex) of the URL."""
    return hashlib.sha256(url.encode()).hexdigest()


async def judge(poster: Poster, hook: Hook, document: Mapping[str, object]) -> Verdict:
    """Ask the receiver; whatever it does but allow in so many words is a refusal."""
    started = time.monotonic_ns()
    try:
        verdict = await _asked(poster, hook, document)
    except GhostError as error:
        verdict = _failed(hook, error.message, code=error.code)
    except Exception as error:  # noqa: BLE001  # a gate that fails refuses
        verdict = _failed(hook, f"failed with {type(error).__name__}", code="hook.failed")
    ms = (time.monotonic_ns() - started) // 1_000_000
    return replace(verdict, hash=url_hash(hook.url), ms=ms)


async def _asked(poster: Poster, hook: Hook, document: Mapping[str, object]) -> Verdict:
    if not hmac.compare_digest(hook.expected, url_hash(hook.url)):
        return _failed(hook, "is not the URL that was named", code="hook.unsafe")
    body = await aside(lambda: _written(document))  # a body may have many megabytes
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    try:
        # Once more here: a resolver that hangs is not under the deadline of the connection.
        async with asyncio.timeout(poster.timeout_seconds + _SLACK_SECONDS):
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(_ASKING, poster.post, hook.url, body, headers)
    except TimeoutError:
        return _failed(hook, "gave no answer in time", code="webhook.timeout")
    if not 200 <= answer.status < 300:
        return _failed(hook, f"answered {answer.status}", code="hook.output")
    return _read(hook, answer)


def _written(document: Mapping[str, object]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def _read(hook: Hook, answer: Answer) -> Verdict:
    if answer.over:
        return _failed(hook, "answered with more than 64 KiB", code="hook.output")
    try:
        said = json.loads(answer.body)
    except (ValueError, RecursionError):
        said = None
    outcome = said.get("verdict") if isinstance(said, dict) else None
    if not isinstance(said, dict) or outcome not in ("allow", "deny", "quarantine"):
        return _failed(hook, "gave no valid verdict", code="hook.output")
    return Verdict(
        "hook",
        rule_of(hook.url),
        allow=outcome == "allow",
        reason=str(said.get("reason") or ""),
        code="" if outcome == "allow" else f"hook.{PAST[outcome]}",
        verdict=outcome,
        labels=labels_of(said.get("labels")),
    )


def labels_of(said: object) -> tuple[str, ...]:
    """Return the labels that a hook gave, at most 20 of 64 characters."""
    labels = said if isinstance(said, list) else []
    return tuple(str(label)[:64] for label in labels[:_LABEL_LIMIT])


def rule_of(url: str) -> str:
    """Return how verdicts name the receiver: scheme and host only, since a path can hold a key."""
    try:
        target = Target.parse(url)
    except GhostError:
        return "webhook"
    return f"{target.scheme}://{target.authority}"


def _failed(hook: Hook, reason: str, *, code: str) -> Verdict:
    return Verdict.no("hook", rule_of(hook.url), reason, code=code, status=500)
