"""A policy over a few tools, and what is asked of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from ghost_core.settings import Settings
from ghost_hooks.decision import Decision
from ghost_hooks.policy import Policy
from ghost_hooks.request import Headers, Reply, Request, Verdict
from ghost_hooks.target import Target

TOOLS: dict[str, Any] = {
    "stripe": {
        "base_url": "https://api.stripe.com",
        "credential": "stripe",
        "actions": {
            "create": {
                "method": "POST",
                "path": "/v1/charges",
                "params": "form",
                "request_schema": {
                    "required": ["amount"],
                    "properties": {"amount": {"type": "integer", "maximum": 5000}},
                },
                "response_schema": {"required": ["id"]},
            },
            "list": {"method": "GET", "path": "/v1/*"},
            "secrets": {"method": "GET", "path": "/v1/secrets"},
            "twin": {"method": "GET", "path": "/v1/secrets"},
            "capped": {"method": "POST", "path": "/v1/capped", "limits": {"bytes": "1kB"}},
            "summed": {
                "method": "POST",
                "path": "/v1/summed",
                "limits": {"sum": {"field": "amount", "max": 5}},
            },
        },
    },
    "free": {"base_url": "https://free.example/v1", "ghost_token": False},
    "wide": {
        "base_url": "https://*.wide.example",
        "actions": {
            "DescribeAll": {"method": "GET", "path": "/"},
            "Delete": {"method": "DELETE", "path": "/"},
        },
    },
}
FORM: Headers = ((b"content-type", b"application/x-www-form-urlencoded"),)
JSON: Headers = ((b"content-type", b"application/json"),)
SESSION = {"id": "gh_1"}


def make_settings(folder: Path, **more: Any) -> Settings:
    tree = {"hooks": {"dir": str(folder), "timeout_seconds": 5}, "tools": TOOLS, **more}
    tree.setdefault("credentials", {"stripe": {"secret": "env:X", "hosts": ["api.stripe.com"]}})
    return Settings.model_validate(tree)


def make_policy(folder: Path, *scopes: str, **more: Any) -> Policy:
    return Policy(make_settings(folder, **more), scopes)


def judged(policy: Policy, method: str, url: str) -> Decision:
    return policy.judge(method, Target.parse(url))


def code_of(decision: Decision) -> str:
    return decision.denial.code if decision.denial else ""


def before(policy: Policy, request: Request, **more: Any) -> tuple[Verdict, ...]:
    decision = policy.judge(request.method, request.target)
    return asyncio.run(policy.before(decision, request, SESSION, "act_1", **more))


def charge(body: bytes | None, *headers: tuple[bytes, bytes], query: str = "") -> Request:
    target = Target("https", "api.stripe.com", 443, "/v1/charges", query)
    return Request("POST", target, headers or FORM, body)


def write_hook(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    path.chmod(0o700)
    return path


def after_reply(policy: Policy, reply: Reply, **more: Any) -> tuple[Verdict, ...]:
    request = charge(b"amount=1")
    decision = policy.judge(request.method, request.target)
    return asyncio.run(
        policy.after(decision, request, reply, session=SESSION, action_id="act_1", **more)
    )
