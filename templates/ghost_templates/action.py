"""One action as the page shows it: status, who decided, what was changed, what came back, the proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ghost_templates import diff, text
from ghost_templates.text import Mark

type Document = Mapping[str, Any]  # a JSON view: its values are whatever JSON allows

SUMMARY_LENGTH = 120
_MARKS = {"executed": text.GOOD, "failed": text.WARN, "denied": text.BAD, "unknown": text.OPEN}
_DECISIONS = {
    "allow": (text.GOOD, "allowed"),
    "deny": (text.BAD, "denied"),
    "flag": (text.WARN, "flagged"),
    "quarantine": (text.BAD, "put the session in quarantine"),
}
_STORED = {
    "absent": "Not stored: only the commitment was kept.",
    "erased": "Erased on request: the commitment remains, and the chain still verifies.",
    "mismatch": "What the database holds does not fit the signed commitment. It is not shown.",
    "unchecked": "The commitment could not be checked: its salt is missing.",
}


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence that must not be overlooked, with the command that helps, if there is one."""

    mark: Mark
    text: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One decision of the chain scope, rule, schema, hook."""

    mark: Mark
    by: str
    word: str
    rule: str
    detail: str


@dataclass(frozen=True, slots=True)
class Difference:
    """The agent's head beside the forwarded one."""

    title: str
    right: str
    lines: tuple[diff.Line, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A stored text with a remark on what is missing from it."""

    title: str
    text: str
    remark: str


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the timeline that opens."""

    action: Document
    mark: Mark
    anchor: str
    offset: str
    title: str
    call: str
    word: str
    took: str
    notices: tuple[Notice, ...]
    chain: tuple[Step, ...]
    diff: Difference | None
    blocks: tuple[Block, ...]
    numbers: tuple[tuple[str, object], ...]
    proof: tuple[tuple[str, object], ...]
    event: None = None


def row(action: Document, *, offset: str, anchor: str) -> Row:
    """Prepare one action of the view."""
    return Row(
        action=action,
        mark=mark(action),
        anchor=anchor,
        offset=offset,
        title=title(action),
        call=summary(action),
        word=action["status"],
        took=_took(action),
        notices=_notices(action),
        chain=tuple(_step(verdict) for verdict in action["verdicts"]),
        diff=_difference(action),
        blocks=_blocks(action),
        numbers=_numbers(action),
        proof=_proof(action),
    )


def mark(action: Document) -> Mark:
    """Return the sign of an action; an error answer of the upstream is executed, with a warning."""
    if action["status"] == "executed" and (action["http_status"] or 0) >= 400:
        return text.WARN
    return _MARKS.get(action["status"], text.OPEN)


def title(action: Document) -> str:
    """Name tool and action, as a scope would; a raw call is named by its method and host."""
    if action["tool"] == action["host"]:
        return target(action)
    return f"{action['tool']}:{action['action']}"


def target(action: Document) -> str:
    """Return method, host and port as the entry states them."""
    port = action["port"]
    suffix = f":{port}" if port and port not in {80, 443} else ""
    return f"{action['method']} {action['host']}{suffix}"


def summary(action: Document) -> str:
    """Return the line under the title: why it was refused, else where it went."""
    denial = action["denial"]
    if denial:
        said = str(denial["message"] or denial["error"])
        return said if len(said) <= SUMMARY_LENGTH else said[: SUMMARY_LENGTH - 1] + "…"
    return "raw call" if action["tool"] == action["host"] else target(action)


def _took(action: Document) -> str:
    parts = []
    if action["http_status"]:
        parts.append(f"HTTP {action['http_status']}")
    if action["latency_us"] is not None:
        parts.append(text.span(action["latency_us"]))
    if (action["count"] or 1) > 1:
        parts.append(f"{action['count']} times")
    return " · ".join(parts)


def _notices(action: Document) -> tuple[Notice, ...]:
    found = []
    denial = action["denial"]
    if denial:
        said = denial["message"] or denial["error"]
        rule = "" if denial["rule"] in {None, "", said} else f" Rule: {denial['rule']}."
        answer = f"Refused by {denial['stage']}: {said}.{rule}"
        code = f" The agent was answered {denial['code']}." if denial["code"] else ""
        found.append(Notice(text.BAD, answer + code, denial["hint"] or ""))
    if action["status"] == "failed":
        found.append(
            Notice(text.WARN, f"The call failed: {action['error'] or 'no reason was recorded'}.")
        )
    if action["status"] == "unknown":
        reason = action["error"] or "no outcome is recorded"
        found.append(
            Notice(
                text.OPEN,
                f"What became of this call is not known: {reason}. It was not sent again.",
            )
        )
    if action["ended"] == "aborted":
        found.append(Notice(text.WARN, "The reply was cut before its end."))
    if action["scrubbed"]:
        found.append(Notice(text.WARN, _masked(action["scrubbed"])))
    return tuple(found)


def _masked(count: int) -> str:
    if count == 1:
        return "The reply held a known secret; it was masked."
    return f"The reply held known secrets at {count} places; they were masked."


def _step(verdict: Document) -> Step:
    sign, word = _DECISIONS.get(verdict["verdict"], (text.OPEN, str(verdict["verdict"])))
    details = [str(verdict.get("reason") or "")]
    if verdict.get("exit") is not None:
        details.append(f"exit {verdict['exit']}")
    if verdict.get("ms"):
        details.append(f"{verdict['ms']} ms")
    if verdict.get("hash"):
        details.append(f"sha256 {str(verdict['hash'])[:16]}…")
    rule = str(verdict.get("rule") or "")
    return Step(sign, str(verdict["by"]), word, rule, " · ".join(d for d in details if d))


def _difference(action: Document) -> Difference | None:
    before, after = action.get("request"), action.get("forwarded")
    if not before or before["start"] is None:
        return None
    if not after or after["start"] is None:
        sent = "Not forwarded" if action["status"] == "denied" else "Not stored"
        lines = [diff.pair("", before["start"], before["start"])]
        lines += [diff.pair(h["name"].lower(), h["value"], h["value"]) for h in before["headers"]]
        alone = tuple(diff.Line(line.left, diff.BLANK) for line in lines)
        return Difference("The request", sent, alone)
    return Difference(
        "The request, before and after", "Forwarded by ghost", diff.heads(before, after)
    )


def _blocks(action: Document) -> tuple[Block, ...]:
    blocks = []
    request, response = action.get("request"), action.get("response")
    if request:
        blocks += _body("Body from the agent", request, request["body"])
    if response:
        head = "\n".join([response["start"], *_lines(response)]) if response["start"] else ""
        whole = head + ("\n\n" + response["body"] if response["body"] else "")
        blocks += _body("The reply", response, whole)
    return tuple(blocks)


def _lines(part: Document) -> list[str]:
    return [f"{header['name']}: {header['value']}" for header in part["headers"]]


def _body(title: str, part: Document, content: str) -> list[Block]:
    remark = _remark(part)
    return [Block(title, content or "", remark)] if content or remark else []


def _remark(part: Document) -> str:
    remarks = [_STORED.get(part["state"], "")]
    if part["erased"]:
        remarks.append(_erased(part["erased"]))
    if part["state"] == "truncated":
        remarks.append(
            f"Of {text.size(part['size'])} the first {text.size(part['stored'])} were stored;"
            " the commitment covers all of it."
        )
    if part["cut"]:
        remarks.append("Only the beginning is shown here; --disclose shows all that is stored.")
    if part["encoding"] == "escaped":
        remarks.append("Not UTF-8: bytes that are no text are written as \\xNN.")
    return " ".join(remark for remark in remarks if remark)


def _erased(said: Document) -> str:
    entry, when = said["entry_hash"], text.moment(said["timestamp"])
    return f"Entry {entry} of {when} says so, by {said['actor']}, basis: {said['basis']}."


def _numbers(action: Document) -> tuple[tuple[str, object], ...]:
    return (
        ("Action", action["action_id"]),
        ("Started", text.moment(action["timestamp"])),
        ("Credential", action["credential"]),
        ("Sent", _bytes(action["sent"])),
        ("Received", _bytes(action["received"])),
        ("Latency", None if action["latency_us"] is None else text.span(action["latency_us"])),
        ("Peer", action["peer"]),
        ("Attempt", action["attempt"]),
        ("Frames in, out", _frames(action)),
        ("Flags", ", ".join(action["flags"])),
    )


def _bytes(count: int | None) -> str | None:
    return None if count is None else text.size(count)


def _frames(action: Document) -> str | None:
    if action["frames_in"] is None and action["frames_out"] is None:
        return None
    return f"{action['frames_in'] or 0}, {action['frames_out'] or 0}"


def _proof(action: Document) -> tuple[tuple[str, object], ...]:
    return (
        ("Request", action["params_hash"]),
        ("Forwarded head", action["forwarded_hash"]),
        ("Reply", action["response_hash"]),
        ("Intent entry", action["intent_hash"]),
        ("Intent signature", action["intent_signature"]),
        ("Entry", action["entry_hash"]),
        ("Signature", action["signature"]),
        ("Policy", action["policy_hash"]),
        *((f"Salt of {item['field']}", item["salt"]) for item in action.get("disclosures", ())),
    )
