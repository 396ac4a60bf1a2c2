"""The document that hooks read."""

from __future__ import annotations

import json

import pytest

from ghost_hooks.document import Call, call_of, document, params_of, response_of
from ghost_hooks.params import UnreadableError
from ghost_hooks.request import Headers, Reply, Request
from ghost_hooks.target import Target

_JSON: Headers = ((b"Content-Type", b"application/json"),)
_TARGET = Target("https", "a.example", 443, "/x", "q=1")
_CALL = Call("act_1", "stripe", "create", "json")


def test_a_request_is_plain_values() -> None:
    request = Request("POST", _TARGET, (*_JSON, (b"X", b"1"), (b"x", b"2")), b'{"a":1}')
    found = document(_CALL, {"id": "gh_1"}, request)
    assert json.loads(json.dumps(found)) == found
    assert found["schema"] == "ghost/hook-request/v1"
    assert found["session"] == {"id": "gh_1"}
    assert found["action"] == {
        "id": "act_1",
        "tool": "stripe",
        "action": "create",
        "params": "json",
    }
    assert found["request"] == {
        "method": "POST",
        "scheme": "https",
        "host": "a.example",
        "port": 443,
        "path": "/x",
        "query": "q=1",
        "url": "https://a.example/x?q=1",
        "headers": {"content-type": "application/json", "x": "1, 2"},
        "body": '{"a":1}',
    }
    assert "response" not in found


def test_a_body_that_is_no_text_is_base64_and_a_streamed_one_null() -> None:
    request = Request("POST", _TARGET, (), b"\xff\x00")
    found = document(_CALL, {}, request, Reply(200))
    assert found["request"]["body"] == {"base64": "/wA="}  # type: ignore[index]
    assert found["response"] == {"status": 200, "headers": {}, "body": None}


def test_parameters_and_reply_are_read_back_from_it() -> None:
    request = Request("POST", _TARGET, _JSON, b'{"a":1}')
    found = document(_CALL, {}, request, Reply(200, _JSON, b"[2]"))
    assert params_of(found).values == {"a": 1}
    assert response_of(found) == [2]
    assert call_of(found) == ("POST", _TARGET, "stripe", "create")


def test_a_binary_body_is_read_back_from_base64() -> None:
    found = document(_CALL, {}, Request("POST", _TARGET, _JSON, b"\xff"))
    with pytest.raises(UnreadableError) as caught:
        params_of(found)
    assert caught.value.code == "params.malformed"


def test_a_streamed_body_cannot_be_read() -> None:
    with pytest.raises(UnreadableError):
        params_of(document(_CALL, {}, Request("POST", _TARGET, _JSON)))
    with pytest.raises(UnreadableError):
        response_of({})
