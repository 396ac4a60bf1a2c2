from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from ghost_core.errors import IncompleteError, IntegrityError
from ghost_ledger import canonical, entry
from ghost_ledger.entry import ENTRY_TYPES, Entry
from ghost_ledger.note import Line
from support import bundles
from support.bundles import HASH, ORIGIN, Log, act, closed_fields, sid

SID = sid(7)
VKEY = Log().vkey.format()
VERDICT = {"by": "hook", "rule": "x", "verdict": "allow", "hash": HASH, "exit": 0, "ms": 3}
ACTION = {"tool": "stripe", "action": "charge", "method": "POST", "host": "api.stripe.com"}
CREDENTIAL = {"credential": "stripe", "reason": "spawn", "key_hash": HASH}
APPROVAL = {"approval": act(9), "by": "alice"}
CHANGE = {"change": "saved", "project": "p", "content": HASH}
EXAMPLES: dict[str, dict[str, Any]] = {
    "log.init": {"log_vkey": VKEY, "recorder": "0.1.0"},
    "session.spawn": Log().session()._spawn_fields() | {"head": {"size": 1, "root": HASH}},
    "action.intent": bundles.intent_fields(verdicts=[VERDICT], credential="stripe"),
    "action.outcome": bundles.outcome_fields(HASH, peer="10.0.0.1:443", flags=["streamed"]),
    "action.denied": {**ACTION, "code": 403, "error": "scope", "stage": "scope", "rule": "",
                      "verdicts": [], "count": 3},
    "action.unknown": {"intent": HASH, "session": SID, "action": act(1), "reason": "crash",
                       "boot": "b"},
    "session.closed": closed_fields(summary=[
        {"tool": "stripe", "action": "charge", "status": "executed", "count": 1}]),
    "session.seal": {"note": "text\n", "root": HASH, "size": 2},
    "session.abandoned": {"session": SID, "root": HASH, "size": 3, "reason": "key gone"},
    "session.quarantined": {"by": "hook", "reason": "bad"},
    "session.bypass": {"peer": "1.2.3.4:443"},
    "credential.issued": CREDENTIAL,
    "credential.revoked": CREDENTIAL,
    "credential.rotated": CREDENTIAL,
    "credential.probed": {"credential": "stripe", "result": "refused"},
    "approval.asked": {**ACTION, "approval": act(9), "rule": "amount > 1000"},
    "approval.given": APPROVAL,
    "approval.refused": APPROVAL,
    "approval.expired": APPROVAL,
    "usage.seen": {"provider": "openai", "model": "m", "input_tokens": 1, "output_tokens": 2,
                   "cost_usd": "0.0012"},
    "memory.changed": {"memory": "0" * 32, **CHANGE},
    "claim.changed": {"claim": "0" * 32, **CHANGE},
    "score.given": {"subject": SID, "score": "0.75", "passed": True},
    "route.chosen": {"policy": "always:m", "model": "m"},
    "run.event": {"event": "started"},
    "webhook.delivered": {
        "webhook": "audit",
        "event": "action.executed",
        "entry": HASH,
        "attempts": 1,
        "http_status": 200,
        "ms": 12,
    },
    "webhook.failed": {"webhook": "audit", "attempts": 5, "error": "webhook.timeout", "ms": 12},
    "payload.erased": {"entry": HASH, "fields": ["params"], "basis": "request", "actor": "alice"},
    "recorder.gap": {"count": 3, "reason": "overflow"},
    "log.pruned": {"old_minimum": 0, "new_minimum": 9, "count": 9, "root": HASH},
    "log.continued": {"origin": "ghost.test/old", "size": 4, "root": HASH, "reason": "restored"},
    "log.key": {"vkey": VKEY, "reason": "rotated"},
}  # fmt: skip


def build(type_: str = "session.closed", fields: Any = None, **changes: Any) -> bytes:
    common: dict[str, Any] = {
        "log": ORIGIN, "sid": SID, "seq": 3, "prev": HASH, "ts": 5, "id_": act(1),
    }  # fmt: skip
    return entry.build(
        type_, **(common | changes), fields=closed_fields() if fields is None else fields
    )


def changed(**changes: Any) -> bytes:
    value = canonical.decode(build())
    return canonical.encode({name: item for name, item in (value | changes).items() if item != "-"})


@pytest.mark.parametrize("type_", ENTRY_TYPES)
def test_an_entry_of_every_type_reads_back_as_built(type_: str):
    body = build(type_, EXAMPLES[type_])
    read = entry.parse(body)
    assert read == Entry(1, type_, ORIGIN, SID, 3, HASH, 5, act(1), EXAMPLES[type_], body)
    jsonschema.validate(canonical.decode(body), entry.json_schema(type_))


@pytest.mark.parametrize("type_", ENTRY_TYPES)
def test_every_required_field_is_missed(type_: str):
    for field in ENTRY_TYPES[type_].fields:
        fields = {name: item for name, item in EXAMPLES[type_].items() if name != field.name}
        if field.required:
            with pytest.raises(IntegrityError, match=f"{field.name} is missing"):
                build(type_, fields)
        else:
            build(type_, fields)


@pytest.mark.parametrize("type_", ENTRY_TYPES)
def test_a_field_of_another_kind_is_refused(type_: str):
    for field in ENTRY_TYPES[type_].fields:
        with pytest.raises(IntegrityError, match=f"field {field.name}: expected"):
            build(type_, EXAMPLES[type_] | {field.name: [[]]})


def test_the_body_is_one_sorted_line():
    body = build("recorder.gap", {"count": 3, "reason": "overflow"}, seq=0, prev=entry.FIRST_PREV)
    expected = (
        f'{{"count":3,"id":"{act(1)}","log":"{ORIGIN}","prev":"{"0" * 64}","reason":"overflow",'
        f'"seq":0,"sid":"{SID}","ts":5,"type":"recorder.gap","v":1}}'
    )
    assert body == expected.encode()


def test_a_clamped_time_can_be_marked_on_any_entry():
    assert entry.parse(build(fields=closed_fields(clk="clamped"))).fields["clk"] == "clamped"


def test_an_unregistered_type_is_not_built():
    with pytest.raises(IntegrityError, match="not registered"):
        build("session.unheard")


@pytest.mark.parametrize("name", ["surprise", "seq", "v"])
def test_an_unknown_or_common_field_is_not_built(name: str):
    with pytest.raises(IntegrityError, match=f"no field {name}"):
        build(fields=closed_fields(**{name: 1}))


@pytest.mark.parametrize(
    "common",
    [{"log": "a b"}, {"sid": "gh_1"}, {"sid": "../../etc"}, {"seq": -1}, {"prev": "AB" * 32},
     {"ts": True}, {"id_": "act/1"}],
)  # fmt: skip
def test_a_wrong_common_field_is_not_built(common: dict[str, Any]):
    with pytest.raises(IntegrityError) as caught:
        build(**common)
    assert caught.value.code == "ledger.grammar"


@pytest.mark.parametrize(
    "change", [{"type": "session.unheard"}, {"v": 2}, {"surprise": 1}], ids=["type", "v", "field"]
)
def test_what_is_unknown_is_unreadable_but_its_envelope_is_read(change: dict[str, Any]):
    body = changed(**change)
    assert entry.parse_envelope(body).sid == SID
    with pytest.raises(IncompleteError) as caught:
        entry.parse(body)
    assert caught.value.code == "ledger.unreadable"


@pytest.mark.parametrize(
    "change", [{"reads": "-"}, {"reads": -1}, {"reason": "bored"}], ids=["missing", "range", "word"]
)
def test_a_known_type_with_wrong_fields_is_broken(change: dict[str, Any]):
    with pytest.raises(IntegrityError) as caught:
        entry.parse(changed(**change))
    assert caught.value.code == "ledger.grammar"


@pytest.mark.parametrize("name", ["v", "type", "log", "sid", "seq", "prev", "ts", "id"])
@pytest.mark.parametrize("value", ["-", [], "?", True, -1], ids=repr)
def test_an_envelope_has_every_common_field_of_its_kind(name: str, value: Any):
    with pytest.raises(IntegrityError):
        entry.parse_envelope(changed(**{name: value}))


def test_a_body_over_16_kib_is_not_built():
    row = {"tool": "t" * 256, "action": "a", "status": "executed", "count": 1}
    with pytest.raises(IntegrityError, match="at most"):
        build(fields=closed_fields(summary=[row] * 100))


def test_a_leaf_is_the_whole_note_and_opens_again():
    body, name = build(), entry.session_name(ORIGIN, SID)
    data = entry.leaf(body, b"s" * 64, name, b"kkkk")
    assert data.startswith(body + b"\n\n" + f"— {name} ".encode())
    assert entry.open_leaf(data) == (body, Line(name, b"kkkk", b"s" * 64))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        entry.leaf(build(), b"s" * 64, "n", b"kkkk") * 2,
        entry.leaf(build() + b"\nmore", b"s" * 64, "n", b"kkkk"),
        entry.leaf(build(), b"s" * 64, "n", b"kkkk") + "— n c2lnc2ln\n".encode(),
        entry.leaf(b"x" * 70_000, b"s" * 64, "n", b"kkkk"),
    ],
)
def test_what_is_not_one_line_and_one_signature_is_no_leaf(data: bytes):
    with pytest.raises(IntegrityError):
        entry.open_leaf(data)


def test_a_log_head_is_no_entry():
    body, _ = entry.open_leaf(entry.leaf(b"{}", b"s" * 64, "n", b"kkkk"))
    with pytest.raises(IntegrityError):
        entry.parse_envelope(body)
    with pytest.raises(IntegrityError):
        entry.open_leaf(Log().head())
