"""The engine's own answers are JSON like ours."""

from __future__ import annotations

import json

import pytest
from mitmproxy.proxy.layers.http import _http1, _http2

from ghost_addons import pages
from ghost_core.errors import FailedError


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "request.malformed"),
        (413, "body.too_large"),
        (431, "request.head_too_large"),
        (502, "upstream.failed"),
        (504, "upstream.timeout"),
        (599, "proxy.error"),
    ],
)
def test_each_status_has_a_code_and_no_words_of_the_engine(status: int, code: str) -> None:
    body = pages.body_of(status, "Cannot connect to 10.0.0.1:443")
    assert json.loads(body)["error"]["code"] == code
    assert b"10.0.0.1" not in body


def test_a_whole_answer_closes_the_connection() -> None:
    head, _, body = pages.answer_of(502, "10.0.0.1").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 502 ")
    assert b"connection: close" in head.lower()
    assert b"content-length: %d" % len(body) in head.lower()
    assert body == pages.body_of(502)


def test_an_engine_without_the_functions_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pages.install()
    assert _http1.make_error_response is pages.answer_of
    monkeypatch.delattr(_http2, "format_error")
    with pytest.raises(FailedError) as caught:
        pages.install()
    assert caught.value.code == "proxy.engine"
