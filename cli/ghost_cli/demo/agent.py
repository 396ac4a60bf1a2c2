"""An ordinary agent: it takes a URL and a key from its environment and has never heard of ghost.

usage: agent.py TASK...    one JSON line per task, then one with everything the agent can see
"""

# ruff: noqa: TID251  # an agent has nothing but its environment

from __future__ import annotations

import functools
import importlib.util
import json
import os
import sys
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    type Body = dict[str, object] | None

TASKS: dict[str, tuple[str, str, Body]] = {
    "pay": ("POST", "/v1/payments", {"amount": 4200, "currency": "eur"}),
    "balance": ("GET", "/v1/balance", None),
    "feed": ("GET", "/v1/feed", None),
    "whoami": ("GET", "/v1/whoami", None),
    "refund": ("DELETE", "/v1/payments/pay_1", None),
}
CLIENT = "httpx" if importlib.util.find_spec("httpx") else "urllib"


def pieces(method: str, path: str, body: Body) -> Iterator[tuple[int, bytes]]:
    """Yield the status, then every piece of the answer as it arrives; raises OSError."""
    url = os.environ["DEMO_API_URL"] + path
    headers = {"Authorization": f"Bearer {os.environ['DEMO_API_KEY']}"}
    data = json.dumps(body).encode() if body else None
    if data:
        headers["Content-Type"] = "application/json"
    call = by_httpx if CLIENT == "httpx" else by_urllib
    yield from call(method, url, headers, data)


@functools.cache
def httpx_client() -> httpx.Client:
    """Open the one client: it keeps its connection, as the SDKs of the model vendors do."""
    import httpx

    return httpx.Client(timeout=10)


def by_httpx(
    method: str, url: str, headers: dict[str, str], data: bytes | None
) -> Iterator[tuple[int, bytes]]:
    """Call with httpx."""
    import httpx

    try:
        with httpx_client().stream(method, url, headers=headers, content=data) as answer:
            yield answer.status_code, b""
            for piece in answer.iter_raw():
                yield answer.status_code, piece
    except httpx.HTTPError as error:
        raise OSError(str(error)) from error


def by_urllib(
    method: str, url: str, headers: dict[str, str], data: bytes | None
) -> Iterator[tuple[int, bytes]]:
    """Call with the standard library, which reads the same environment."""
    request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310  # https, of the demo
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310  # as above
            yield answer.status, b""
            while piece := answer.read1():
                yield answer.status, piece
    except urllib.error.HTTPError as refused:
        yield refused.code, refused.read()


def work(task: str) -> dict[str, object]:
    """Do one task and tell what came back, with arrival times in milliseconds."""
    started, status, text, times = time.monotonic(), 0, b"", list[float]()
    try:
        for code, piece in pieces(*TASKS[task]):
            status, text = code, text + piece
            times.append(round((time.monotonic() - started) * 1000, 1))
    except OSError as error:
        text = str(error).encode()
    return {"task": task, "status": status, "text": text.decode(), "times_ms": times}


def main() -> None:
    """Do the tasks named on the command line."""
    if CLIENT == "httpx":
        httpx_client()
    for task in sys.argv[1:]:
        sys.stdout.write(json.dumps(work(task)) + "\n")
    seen = {"task": "end", "client": CLIENT, "environment": dict(os.environ)}
    sys.stdout.write(json.dumps(seen) + "\n")


if __name__ == "__main__":
    main()
