"""Session views made by hand, in the shape of `ghost_ledger.export.view`: what a page is drawn from."""

from __future__ import annotations

from typing import Any

START = 1_781_278_320_000_000
SID = "gh_019eb7f0c1a27d3e8f2a7c3e5b604d11"
VKEY = "ghost.example/019eb7f0/s/" + SID + "+8fd2a1c4+AQ3k0vQy0q6VY7yqk8o2m6oQd1l3mX1S8g0o9yTq3Zr4"
LOG_KEY = "ghost.example/019eb7f0+5c0ffee1+AYl0lJmV0r1XnD0b1uQwzqWfC3K6cJ8a0ePq7Yx2sV9n"


def hexes(seed: int, count: int = 64) -> str:
    """Return hex digits that look like a digest."""
    return f"{(seed * 0x9E3779B97F4A7C15F39CC0605CEDC835) % 16**32:032x}" * (count // 32)


def part(start: str, headers: list[tuple[str, str]], body: str = "", **more: Any) -> dict[str, Any]:
    """Return a stored message of an action."""
    return {
        "state": "stored",
        "start": start,
        "headers": [{"name": name, "value": value} for name, value in headers],
        "body": body,
        "encoding": "utf-8",
        "size": len(start) + len(body),
        "stored": len(start) + len(body),
        "cut": False,
        "erased": None,
        **more,
    }


def missing(state: str) -> dict[str, Any]:
    """Return a message of which only the commitment is left."""
    return part("", [], state=state) | {"start": None, "body": None, "size": None, "stored": None}


def verdict(by: str, rule: str, decision: str = "allow", **more: Any) -> dict[str, Any]:
    """Return one decision."""
    return {"by": by, "rule": rule, "verdict": decision, "ms": 0, **more}


def action(seq: int, **more: Any) -> dict[str, Any]:
    """Return an executed action; keywords replace its fields."""
    at = START + seq * 2_345_678
    return {
        "action_id": f"act_{hexes(seq, 32)}",
        "tool": "stripe_create_charge",
        "action": "create_payment_intent",
        "timestamp": "2026-06-12T15:32:45Z",
        "params_hash": "sha256_" + hexes(seq + 1),
        "response_hash": "sha256_" + hexes(seq + 2),
        "signature": "ed25519_sig_" + hexes(seq + 3, 128),
        "status": "executed",
        "http_status": 200,
        "intent_signature": "ed25519_sig_" + hexes(seq + 4, 128),
        "entry_hash": "sha256_" + hexes(seq + 5),
        "intent_hash": "sha256_" + hexes(seq + 6),
        "forwarded_hash": "sha256_" + hexes(seq + 7),
        "policy_hash": "sha256_" + hexes(7),
        "seq": seq,
        "timestamp_us": at,
        "finished_at": "2026-06-12T15:32:45Z",
        "method": "POST",
        "scheme": "https",
        "host": "api.stripe.com",
        "port": 443,
        "credential": "stripe",
        "latency_us": 412_345,
        "sent": 1_204,
        "received": 2_931,
        "ended": "complete",
        "scrubbed": 0,
        "verdicts": [
            verdict("scope", "stripe_create_charge"),
            verdict("rule", "rules[2]"),
            verdict("schema", "schemas/pi_request.json", ms=1),
            verdict("hook", "stripe_create_charge_pre.sh", ms=38, exit=0, hash=hexes(9)),
        ],
        "denial": None,
        "error": None,
        "operation_id": None,
        "attempt": None,
        "peer": "203.0.113.7:443",
        "body": "buffered",
        "size": 64,
        "count": None,
        "frames_in": None,
        "frames_out": None,
        "flags": [],
        "request": part(
            "POST /v1/payment_intents HTTP/1.1",
            [
                ("Host", "api.stripe.com"),
                ("Authorization", "[redacted by ghost]"),
                ("User-Agent", "python-requests/2.32"),
                ("Accept", "*/*"),
                ("Connection", "keep-alive"),
                ("Content-Type", "application/x-www-form-urlencoded"),
            ],
            "amount=2000&currency=eur&metadata[order]=A-1042",
        ),
        "forwarded": part(
            "POST /v1/payment_intents HTTP/1.1",
            [
                ("host", "api.stripe.com"),
                ("authorization", "Bearer [redacted by ghost]"),
                ("user-agent", "python-requests/2.32"),
                ("accept", "*/*"),
                ("content-type", "application/x-www-form-urlencoded"),
                ("idempotency-key", "act_019eb7f0c1a27d3e"),
            ],
        ),
        "response": part(
            "HTTP/1.1 200 OK",
            [("content-type", "application/json"), ("request-id", "req_9fQz")],
            '{\n  "id": "pi_3PqX",\n  "amount": 2000,\n  "status": "requires_confirmation"\n}',
        ),
        **more,
    }


def denied(seq: int, **more: Any) -> dict[str, Any]:
    """Return a refused action."""
    refused = {
        "tool": "metadata.internal",
        "action": "GET",
        "method": "GET",
        "host": "metadata.internal",
        "status": "denied",
        "http_status": 403,
        "response_hash": None,
        "intent_signature": None,
        "intent_hash": None,
        "forwarded_hash": None,
        "credential": None,
        "latency_us": None,
        "sent": None,
        "received": None,
        "ended": None,
        "peer": None,
        "forwarded": None,
        "response": None,
        "request": part("GET /latest/meta-data/ HTTP/1.1", [("Host", "metadata.internal")]),
        "verdicts": [verdict("scope", "none", "deny", reason="no scope names metadata.internal")],
        "denial": {
            "code": 403,
            "error": "scope.host",
            "stage": "scope",
            "rule": "none",
            "message": "no scope names metadata.internal",
            "hint": "ghost spawn --scope 'GET https://metadata.internal/**'",
        },
        "count": 3,
    }
    return action(seq) | refused | more


def event(seq: int, type_: str, words: str, detail: str = "") -> dict[str, Any]:
    """Return an entry that is no action."""
    return {
        "seq": seq,
        "type": type_,
        "timestamp": "2026-06-12T15:32:00Z",
        "timestamp_us": START + seq * 2_345_678,
        "words": words,
        "detail": detail,
        "entry_hash": "sha256_" + hexes(seq + 5),
        "signature": "ed25519_sig_" + hexes(seq + 3, 128),
    }


def axes(**more: str) -> dict[str, dict[str, str]]:
    """Return all axes valid, except those named."""
    names = ("signatures", "chain", "complete", "intents", "inclusion", "key", "head", "columns")
    states = dict.fromkeys(names, "valid") | {"disclosure": "valid", "witness": "absent"} | more
    return {name: {"state": state, "detail": ""} for name, state in states.items()}


def view(*actions: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the view of a sealed and verified session with these actions."""
    counts = {
        status: sum(item["status"] == status for item in actions)
        for status in ("executed", "denied", "failed", "unknown")
    }
    last = 2 * len(actions) + 2
    return {
        "schema": "ghost/replay/v1",
        "session_id": SID,
        "intent": "deploy_staging",
        "spawned_at": "2026-06-12T15:32:00Z",
        "evaporated_at": "2026-06-12T15:33:15Z",
        "actions": list(actions),
        "root_signature": "ed25519_root_sig_" + hexes(3, 128),
        "verified": True,
        "verdict": {"result": "valid", "exit_code": 0, "axes": axes()},
        "status": "sealed",
        "reason": "evaporate",
        "intent_state": "stored",
        "scopes": ["aws_ec2:Describe*", "stripe_create_charge", "GET https://api.example.com/v1/*"],
        "ttl_seconds": 300,
        "expires_at": "2026-06-12T15:37:00Z",
        "lived_for_seconds": 75,
        "actions_executed": counts["executed"],
        "counts": counts,
        "reads": 14,
        "bytes_sent": 18_204,
        "bytes_received": 1_310_420,
        "summary": [],
        "root_hash": "sha256_root_" + hexes(11),
        "entries": last + 1,
        "seal": f"ghost.example/019eb7f0/s/{SID}\n{last + 1}\nq1V0l6b7cO0Jw0hK3mYd4cS8mA1H2z=\n\n— sig\n",
        "verify_key": VKEY,
        "ephemeral_key": "ed25519_public_" + hexes(5),
        "wire_key": "ed25519_public_" + hexes(6),
        "parent_session_id": None,
        "recorder": "ghost 0.1.0",
        "policy_hash": "sha256_" + hexes(7),
        "log": {
            "origin": "ghost.example/019eb7f0",
            "vkey": LOG_KEY,
            "size": 1_204,
            "root_hash": "sha256_" + hexes(13),
            "spawn_index": 1_181,
            "seal_index": 1_203,
        },
        "events": [
            event(0, "session.spawn", "Session spawned", "3 scopes, 5 min"),
            event(1, "credential.issued", "Credential issued", "stripe, reason spawn"),
            event(last - 1, "credential.revoked", "Credential revoked", "stripe, reason evaporate"),
            event(last, "session.closed", "Session closed", "evaporate"),
        ],
        "columns": [],
        "verify": {
            "commands": [
                f"ghost bundle {SID} -o {SID}.ghost",
                f"ghost verify {SID}.ghost --key '{LOG_KEY}'",
            ],
            "key": LOG_KEY,
            "fingerprint": "SHA256:9f86d081 884c7d65 9a2feaa0 c55ad015",
            "source": "the log key pinned in keys/ of this home",
        },
        "comparison": None,
        **more,
    }
