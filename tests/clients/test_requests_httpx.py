"""requests and httpx, with nothing but the environment block."""

from __future__ import annotations

import pytest

from support.client import Client

pytestmark = pytest.mark.proxy

REQUESTS = """
import requests
session = requests.Session()
for number in range(2):
    answer = session.post(URL + "/echo", json={"n": number}, headers={"Authorization": "Bearer " + KEY})
    answer.raise_for_status()
print(answer.json()["body"])
"""
HTTPX = """
import httpx
answer = httpx.post(URL + "/echo", json={"n": 1}, headers={"Authorization": "Bearer " + KEY})
answer.raise_for_status()
print(answer.status_code, answer.json()["body"])
"""
HTTP2 = """
import httpx
with httpx.Client(http2=True, headers={"Authorization": "Bearer " + KEY}) as client:
    answer = client.post(URL + "/echo", json={"n": 1})
answer.raise_for_status()
print(answer.status_code, answer.json()["body"])
"""
ASYNC = """
import asyncio, httpx
async def main():
    async with httpx.AsyncClient(headers={"Authorization": "Bearer " + KEY}) as client:
        posts = [client.post(URL + "/echo", json={"n": n}) for n in range(4)]
        answers = await asyncio.gather(*posts)
    print([answer.status_code for answer in answers])
asyncio.run(main())
"""
STREAM = """
import httpx
headers = {"Authorization": "Bearer " + KEY}
with httpx.stream("POST", URL + "/sse?n=3&gap_ms=1", json={}, headers=headers) as answer:
    print([line for line in answer.iter_lines() if line])
"""
LEAK = """
import httpx
headers = {"Authorization": "Bearer " + KEY}
print(httpx.post(URL + "/gzip-echo-header", json={}, headers=headers).text)
"""


def test_requests_calls_twice_on_one_connection(client: Client) -> None:
    assert client.python(REQUESTS) == b'{"n": 1}\n'
    assert [each.body for each in client.seen(2)] == [b'{"n": 0}', b'{"n": 1}']
    client.entered(2)


@pytest.mark.parametrize("text", [HTTPX, HTTP2])
def test_httpx_calls_whether_it_may_use_http2_or_not(client: Client, text: str) -> None:
    assert client.python(text) == b'200 {"n":1}\n'
    client.seen()
    client.entered()


def test_httpx_calls_at_once_are_each_entered(client: Client) -> None:
    assert client.python(ASYNC) == b"[200, 200, 200, 200]\n"
    assert sorted(each.body for each in client.seen(4)) == [b'{"n":%d}' % n for n in range(4)]
    client.entered(4)


def test_httpx_reads_a_stream_of_events(client: Client) -> None:
    assert client.python(STREAM).count(b"data:") == 3
    client.seen()
    client.entered()


def test_a_reply_that_repeats_the_secret_has_a_mark_in_its_place(client: Client) -> None:
    assert client.python(LEAK) == b"you sent: Bearer [redacted by ghost]\n"
    client.seen()
    client.entered()
