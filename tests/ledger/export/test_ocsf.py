from __future__ import annotations

from typing import Any

import pytest

from ghost_ledger.export import ocsf
from support import views

# What OCSF 1.2.0 requires of API Activity: events/application/api.json, base_event.json, their objects.
REQUIRED = {
    "activity_id", "actor", "api", "category_uid", "class_uid", "metadata", "severity_id",
    "src_endpoint", "time", "type_uid",
}  # fmt: skip


def events(*actions: dict[str, Any]) -> list[dict[str, Any]]:
    return ocsf.events(views.view(*actions))


@pytest.mark.parametrize("made", [views.action(1), views.denied(1)])
def test_an_event_has_what_its_class_requires(made: dict[str, Any]) -> None:
    (event,) = events(made)
    assert set(event) >= REQUIRED
    assert (event["class_uid"], event["category_uid"]) == (6003, 6)
    assert event["type_uid"] == 600_300 + event["activity_id"]
    assert set(event["metadata"]) >= {"product", "version"}
    assert set(event["metadata"]["product"]) >= {"name", "vendor_name"}
    assert event["api"]["operation"]
    assert event["api"]["request"]["uid"] == made["action_id"]
    assert event["metadata"]["version"] == ocsf.VERSION


@pytest.mark.parametrize(
    ("method", "activity"),
    [("POST", 1), ("GET", 2), ("HEAD", 2), ("PUT", 3), ("PATCH", 3), ("DELETE", 4), ("PURGE", 99)],
)
def test_a_method_is_an_activity(method: str, activity: int) -> None:
    (event,) = events(views.action(1, method=method))
    assert event["activity_id"] == activity


def test_how_it_ended_is_a_status_with_its_reason() -> None:
    done, refused, failed, lost = events(
        views.action(1),
        views.denied(2),
        views.action(3, status="failed", http_status=None, error="upstream.closed"),
        views.action(4, status="unknown", http_status=None, error="crash"),
    )
    assert [each["status_id"] for each in (done, refused, failed, lost)] == [1, 2, 2, 0]
    assert [each["severity_id"] for each in (done, refused, failed, lost)] == [1, 3, 2, 3]
    assert done["api"]["response"] == {"code": 200}
    assert "response" not in failed["api"]
    assert refused["status_code"] == str(views.denied(2)["http_status"])
    assert refused["status_detail"] == views.denied(2)["denial"]["message"]
    assert failed["status_detail"] == "upstream.closed"


def test_an_event_names_its_evidence_and_signs_nothing_itself() -> None:
    action = views.action(1)
    shown = views.view(action)
    (event,) = ocsf.events(shown)
    assert event["unmapped"]["ghost"]["entry_hash"] == action["entry_hash"]
    assert event["unmapped"]["ghost"]["verdict"] == shown["verdict"]["result"]
    assert "attestation_list" not in event


def test_a_call_of_no_tool_is_named_by_method_and_host() -> None:
    (event,) = events(views.action(1, tool=None, action=None, method="GET", host="api.test"))
    assert event["api"]["operation"] == "GET api.test"
    assert event["api"]["service"] == {"name": "api.test"}
