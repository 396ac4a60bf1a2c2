"""The audit page: one self-contained HTML file without script, inert against what it shows."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from ghost_templates import session, text

type Document = Mapping[str, Any]  # a JSON view: its values are whatever JSON allows


@dataclass(frozen=True, slots=True)
class Index:
    """The head of a page that shows many sessions."""

    sentence: str


def page(view: Document) -> str:
    """Render a session view, or a view with `sessions`, as one HTML document.

    The page loads nothing and runs nothing: its policy allows only its own style, by hash.
    """
    many = "sessions" in view
    views: Sequence[Document] = view["sessions"] if many else [view]
    sessions = [session.prepare(one, number=number) for number, one in enumerate(views)]
    index = Index(_sentence(sessions, view.get("log"), view.get("pruned"))) if many else None
    body = {"sessions": sessions, "index": index, "excerpts": any(map(_has_excerpts, views))}
    first = _render(marked=False, **body)
    return _render(marked=True, **body) if text.is_marked(first) else first


def _render(**body: object) -> str:
    sessions: Any = body["sessions"]  # prepared just above
    title = "ghost: all sessions" if body["index"] else f"ghost: {sessions[0].view['session_id']}"
    template = _environment().get_template("report/page.html.j2")
    sheet = Markup(style())  # noqa: S704  # a file of ours, no part of what is shown
    return template.render(title=title, style=sheet, policy=policy(), **body)


def _has_excerpts(view: Document) -> bool:
    return any(action.get("request") or action.get("response") for action in view["actions"])


def _sentence(
    sessions: Sequence[session.Session], log: Document | None, pruned: Document | None
) -> str:
    gone = pruned["entries"] if pruned else 0
    if log and len({log["entries"] + gone, log["places"], log["size"]}) > 1:
        return (
            f"Entries are missing: the log speaks of {max(log.values())}, there are"
            f" {log['entries']}. Do not rely on this history."
        )
    left = f" {pruned['sessions']} older ones were pruned." if pruned and gone else ""
    verified = sum(one.verdict.mark == text.GOOD for one in sessions)
    if verified == len(sessions):
        return ("All of them are verified." if sessions else "There is nothing to show yet.") + left
    return f"{verified} verified, {len(sessions) - verified} not.{left}"


@functools.cache
def style() -> str:
    """Return the style sheet that the page carries."""
    return resources.files("ghost_templates").joinpath("static/report.css").read_text("utf-8")


@functools.cache
def policy() -> str:
    """Return the content security policy: nothing at all, except this very style."""
    digest = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ghost_templates", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shown"] = text.shown
    environment.filters["moment"] = text.moment
    return environment
