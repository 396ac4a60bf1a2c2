from __future__ import annotations

from typing import Any

from ghost_ledger.export import otlp
from support import views


def spans(*actions: dict[str, Any]) -> list[dict[str, Any]]:
    (resource,) = otlp.spans(views.view(*actions))["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    assert scope["schemaUrl"] == otlp.SEMANTICS
    found: list[dict[str, Any]] = scope["spans"]
    return found


def said(span: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a span as names and plain values."""
    return {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}


def test_a_session_is_a_trace_and_an_action_a_span() -> None:
    action = views.action(1, latency_us=1500)
    (span,) = spans(action)
    assert span["traceId"] == views.SID.removeprefix("gh_")
    assert span["spanId"] == action["entry_hash"].removeprefix("sha256_")[:16]
    assert int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"]) == 1_500_000
    assert int(span["startTimeUnixNano"]) == action["timestamp_us"] * 1000
    assert (span["name"], span["kind"]) == ("execute_tool stripe_create_charge", 3)
    assert "status" not in span


def test_a_span_names_its_evidence() -> None:
    action = views.action(1)
    found = said(spans(action)[0])
    assert found["ghost.entry.hash"] == action["entry_hash"]
    assert found["ghost.entry.signature"] == action["signature"]
    assert found["gen_ai.tool.call.id"] == action["action_id"]
    assert found["http.response.status_code"] == "200"  # 64 bits travel as text
    assert "error.type" not in found


def test_the_resource_says_what_the_verifier_found() -> None:
    shown = views.view(views.action(1))
    (resource,) = otlp.spans(shown)["resourceSpans"]
    found = said(resource["resource"])
    assert found["ghost.session.verdict"] == shown["verdict"]["result"]
    assert found["ghost.log.origin"] == shown["log"]["origin"]


def test_what_went_wrong_is_an_error_with_its_reason() -> None:
    refused, lost, missing, bare = spans(
        views.denied(1),
        views.action(2, status="unknown", http_status=None, latency_us=None, error="crash"),
        views.action(3, http_status=404),
        views.action(4, status="failed", http_status=None, error=None),
    )
    assert [each["status"]["code"] for each in (refused, lost, missing, bare)] == [2, 2, 2, 2]
    assert said(refused)["error.type"] == views.denied(1)["denial"]["error"]
    assert said(refused)["http.response.status_code"] == "403"
    assert said(lost)["error.type"] == "crash"
    assert lost["endTimeUnixNano"] == lost["startTimeUnixNano"]
    assert said(missing)["error.type"] == "404"
    assert said(bare)["error.type"] == "failed"


def test_a_call_of_no_tool_is_named_by_its_method() -> None:
    (span,) = spans(views.action(1, tool=None, action=None, method="GET"))
    assert span["name"] == "GET"
    assert "gen_ai.tool.name" not in said(span)


def test_truth_values_are_none_of_the_numbers() -> None:
    assert otlp._value(True) == {"boolValue": True}
