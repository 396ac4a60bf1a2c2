from __future__ import annotations

from ghost_ledger.entry import ENTRY_TYPES
from ghost_ledger.export.events import describe


def test_a_spawn_tells_scopes_and_life() -> None:
    told = describe("session.spawn", {"scopes": ["a"], "ttl_seconds": 300})
    assert told == ("Session spawned", "1 scope, 300 s to live")


def test_a_credential_event_names_the_credential() -> None:
    told = describe("credential.revoked", {"credential": "stripe", "reason": "evaporate"})
    assert told == ("Credential revoked", "stripe, evaporate")


def test_a_quarantine_tells_who_and_why_however_long() -> None:
    told = describe("session.quarantined", {"by": "hook:a", "reason": "x" * 300, "action": "act_1"})
    assert told == ("Session put in quarantine", "hook:a, " + "x" * 300)


def test_a_change_of_memory_tells_what_where_and_by_whom() -> None:
    fields = {"change": "memory.saved", "memory": "3f78", "project": "app", "by": "mcp"}
    told = describe("memory.changed", {**fields, "content": "0" * 64, "host": "raw/1"})
    assert told == ("Memory changed", "memory.saved 3f78, in app, mcp, raw/1")
    told = describe("memory.changed", {**fields, "reason": "into shop"})
    assert told[1] == "memory.saved 3f78, in app, mcp, into shop"


def test_an_unknown_type_is_called_by_its_name() -> None:
    assert describe("moon.risen", {"phase": "full"}) == ("moon.risen", "full")


def test_long_values_stay_out_of_the_line() -> None:
    assert describe("moon.risen", {"story": "x" * 81, "day": 3}) == ("moon.risen", "3")


def test_no_type_without_its_fields_stops_a_view() -> None:
    for name in ENTRY_TYPES:
        assert describe(name, {})[0]
