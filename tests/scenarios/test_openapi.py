"""A tool from an OpenAPI document over the wire: requests and replies are what it says."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import fixtures
from support.agent import Answer, raw_connect, secure_connect
from support.board import scenario
from support.certs import Certs
from support.live import LiveProxy, live_proxy
from support.upstream import Upstream

pytestmark = scenario(
    "openapi", 1, "requests and replies that are not what an OpenAPI document says"
)

DOCUMENT = """
openapi: 3.0.3
paths:
  /pets:
    post:
      operationId: createPet
      requestBody: {$ref: '#/components/requestBodies/Pet'}
      responses:
        '201': {$ref: '#/components/responses/Pet'}
        default: {content: {application/json: {schema: {type: array}}}}
components:
  requestBodies:
    Pet:
      required: true
      content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}
  responses:
    Pet: {content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}
  schemas:
    Pet:
      type: object
      required: [id, name]
      properties:
        id: {type: integer, readOnly: true}
        name: {type: string}
        nick: {type: string, nullable: true}
"""
PET = b'{"id":1,"name":"Ada","nick":null}'
JSON = [("Content-Type", "application/json")]

up = fixtures.upstream("function")


@pytest.fixture
def live(tmp_path: Path, certs: Certs, up: Upstream) -> Iterator[LiveProxy]:
    file = tmp_path / "pets.yaml"
    file.write_text(DOCUMENT)
    tool: dict[str, Any] = {"openapi": str(file)}
    with live_proxy(tmp_path, certs, up, tools={"demo_api": tool}) as proxy:
        yield proxy


def asked(live: LiveProxy, up: Upstream, sid: Any, body: bytes = b'{"name":"Ada"}') -> Answer:
    headers = {"Host": up.authority, "Content-Type": "application/json"}
    with secure_connect(live.port, up.authority, sid.auth, ca=live.ca) as tunnel:
        return tunnel.request("POST", "/pets", headers, body)


@pytest.mark.parametrize(
    ("body", "status"),
    [(b'{"name":"Ada"}', 201), (b'{"name":1}', 403), (b"{}", 403), (b"", 400), (b"{", 400)],
)
def test_a_request_is_what_the_document_says(
    live: LiveProxy, up: Upstream, body: bytes, status: int
) -> None:
    up.route("/pets", lambda exchange: exchange.reply(201, PET, JSON))
    session = live.spawn("demo_api:createPet")
    assert asked(live, up, session, body).status == status
    assert len(up.requests) == (status == 201)
    assert live.types(session)[1] == ("action.intent" if status == 201 else "action.denied")


@pytest.mark.parametrize(
    ("status", "body", "seen"),
    [
        (201, PET, 201),
        (201, b'{"name":"Ada","private":1}', 502),
        (201, b"private", 502),
        (200, b'["private"]', 200),
        (202, b'{"private":1}', 502),
        (204, b"", 204),
        (404, b'"private"', 404),
    ],
)
def test_a_reply_that_breaks_its_schema_is_withheld_and_entered(
    live: LiveProxy, up: Upstream, *, status: int, body: bytes, seen: int
) -> None:
    up.route("/pets", lambda exchange: exchange.reply(status, body, JSON))
    session = live.spawn("demo_api:createPet")
    answer = asked(live, up, session)
    assert answer.status == seen
    outcome = live.last(session)
    assert outcome.type == "action.outcome"
    if seen == 502:
        assert b"private" not in answer.body
        assert outcome.fields["flags"] == ["withheld"]
        assert outcome.fields["http_status"] == status
        verdicts: Any = outcome.fields["verdicts"]
        assert (verdicts[-1]["by"], verdicts[-1]["verdict"]) == ("schema", "deny")
    else:
        assert answer.body == body


@pytest.mark.parametrize(("body", "seen"), [(PET, 201), (b'{"id":1}', 502)])
def test_an_encoded_reply_is_judged_as_it_is_delivered(
    live: LiveProxy, up: Upstream, body: bytes, seen: int
) -> None:
    packed = [*JSON, ("Content-Encoding", "gzip")]
    up.route("/pets", lambda exchange: exchange.reply(201, gzip.compress(body), packed))
    answer = asked(live, up, live.spawn("demo_api:createPet"))
    assert answer.status == seen
    assert answer.header("content-encoding") is None
    if seen == 201:
        assert answer.body == body


def test_a_path_that_the_document_does_not_have_is_no_action(live: LiveProxy, up: Upstream) -> None:
    session = live.spawn("demo_api")
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
        answer = tunnel.request("GET", "/pets", {"Host": up.authority})
    assert answer.status == 403
    assert json.loads(answer.body)["error"]["code"] == "scope.action"


def test_act_takes_the_operation_for_its_action(live: LiveProxy, up: Upstream) -> None:
    up.route("/pets", lambda exchange: exchange.reply(201, PET, JSON))
    session = live.spawn("demo_api:createPet")

    async def work() -> dict[str, object]:
        request: dict[str, object] = {
            "tool": "demo_api",
            "action": "createPet",
            "params": {"name": "Ada"},
        }
        return await live.proxy.act(live.proxy.admit(session.sid), request)

    document = live.do(work())
    assert (document["status"], document["response"]) == ("executed", json.loads(PET))


def test_a_broken_document_refuses_with_file_and_operation(
    live: LiveProxy, up: Upstream, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    session = live.spawn("demo_api")
    broken = DOCUMENT.replace("type: integer", "type: 5")
    (tmp_path / "pets.yaml").write_text(broken)
    with raw_connect(live.port, up.authority, session.auth) as tunnel:
        assert tunnel.status == 500
    assert up.requests == ()
    said = caplog.text
    assert f"openapi '{tmp_path / 'pets.yaml'}': operation 'createPet'" in said
