"""Node's own fetch and https, with nothing but the environment block."""

from __future__ import annotations

import pytest

from support.client import Client
from support.home import PLACEHOLDER
from support.node import node

pytestmark = pytest.mark.proxy

FETCH = """
const [url, key] = process.argv.slice(1);
const headers = {Authorization: `Bearer ${key}`, "Content-Type": "application/json"};
const answer = await fetch(url, {method: "POST", headers, body: JSON.stringify({n: 1})});
console.log(answer.status, (await answer.json()).body);
"""
HTTPS = """
import https from "node:https";
const [url, key] = process.argv.slice(1);
const headers = {Authorization: `Bearer ${key}`};
const call = https.request(url, {method: "POST", headers}, (answer) => {
  answer.resume();
  answer.on("end", () => console.log(answer.statusCode));
});
call.end("{}");
"""


def run(client: Client, text: str) -> bytes:
    words = ["--input-type=module", "-e", text, f"{client.up.url}/echo", PLACEHOLDER]
    return client.run(node(), *words).stdout


def test_fetch_goes_through_the_session(client: Client) -> None:
    assert run(client, FETCH) == b'200 {"n":1}\n'
    (seen,) = client.seen()
    assert seen.body == b'{"n":1}'
    client.entered()


def test_https_goes_through_the_session(client: Client) -> None:
    assert run(client, HTTPS) == b"200\n"
    client.seen()
    client.entered()
