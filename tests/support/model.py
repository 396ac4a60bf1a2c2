"""A model server that only knows one trick: it has its client call one tool, then says that it is done.

It speaks what three hosts speak, as streams: Anthropic Messages, OpenAI Responses and chat completions.

with model_server("ghost_memory_save", {"project_id": "app", "content": "x"}) as model:
    ...                      # model.url, model.offered, model.results
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DONE = "All done."
type Event = tuple[str, Mapping[str, Any]]


@dataclass(slots=True)
class Model:
    """What is to be called, and what was seen: names of tools that were offered, results of the call."""

    tool: str
    arguments: Mapping[str, Any]
    port: int = 0
    offered: set[str] = field(default_factory=set)
    results: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.port}"

    def choose(self, names: list[str], results: list[str]) -> str:
        """Return the full name of the tool to call now; nothing once it was called, or is not offered."""
        self.offered.update(names)
        self.results.extend(each for each in results if each not in self.results)
        found = [name for name in names if name.endswith(self.tool)]
        return found[0] if found and not results else ""


@contextmanager
def model_server(tool: str, arguments: Mapping[str, Any]) -> Iterator[Model]:
    """Serve on loopback until the end of the block."""
    model = Model(tool, arguments)

    class Handler(_Handler):
        asked = model

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """Answers each of the three protocols by its path."""

    asked: Model

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name there
        """Say nothing."""

    def do_HEAD(self) -> None:
        """Answer who only looks whether somebody is there."""
        self._send("application/json", b"")

    def do_GET(self) -> None:
        """Answer a list of models."""
        self._send("application/json", b'{"object": "list", "data": [], "models": []}')

    def do_POST(self) -> None:
        """Answer one turn of a conversation."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self._send("application/json", b'{"input_tokens": 10}')
        elif path.endswith("/messages"):
            self._stream(_messages(self.asked, body))
        elif path.endswith("/responses"):
            self._stream(_responses(self.asked, body))
        else:
            self._stream(_completions(self.asked, body))

    def _stream(self, events: list[Event]) -> None:
        lines = [
            (f"event: {name}\n" if name else "") + f"data: {json.dumps(data) if data else '[DONE]'}"
            for name, data in events
        ]
        self._send("text/event-stream", ("\n\n".join(lines) + "\n\n").encode())

    def _send(self, kind: str, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _text(content: Any) -> str:
    """Return what stands in a content, whatever its shape."""
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _messages(model: Model, body: Mapping[str, Any]) -> list[Event]:
    blocks = [
        block
        for message in body["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    results = [_text(each["content"]) for each in blocks if each["type"] == "tool_result"]
    name = model.choose([each["name"] for each in body.get("tools", [])], results)
    if name:
        block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
        part = {"type": "input_json_delta", "partial_json": json.dumps(model.arguments)}
    else:
        block = {"type": "text", "text": ""}
        part = {"type": "text_delta", "text": DONE}
    usage = {"input_tokens": 10, "output_tokens": 10}
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    ended = {"stop_reason": "tool_use" if name else "end_turn", "stop_sequence": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": part},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": usage},
        {"type": "message_stop"},
    ]
    return [(str(each["type"]), each) for each in events]


def _responses(model: Model, body: Mapping[str, Any]) -> list[Event]:
    items = body["input"] if isinstance(body["input"], list) else []
    results = [_text(i["output"]) for i in items if i.get("type") == "function_call_output"]
    tools = list(_functions(body.get("tools", [])))
    name = model.choose([f"{space}{each}" for space, each in tools], results)
    if name:
        space, bare = next(pair for pair in tools if "".join(pair) == name)
        item: dict[str, Any] = {
            "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": bare,
            "arguments": json.dumps(model.arguments), "status": "completed",
            **({"namespace": space} if space else {}),
        }  # fmt: skip
    else:
        said = [{"type": "output_text", "text": DONE, "annotations": []}]
        item = {
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": said,
        }  # fmt: skip
    usage = {
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 20,
    }  # fmt: skip
    begun = {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}
    ended = {**begun, "status": "completed", "output": [item], "usage": usage}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": ended},
    ]
    return [(str(each["type"]), {**each, "sequence_number": n}) for n, each in enumerate(events)]


def _functions(tools: list[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Return namespace and name of every function; some hosts group those of a server."""
    for each in tools:
        if each.get("type") == "namespace":
            yield from ((str(each["name"]), str(inner["name"])) for inner in each["tools"])
        elif "name" in each:
            yield "", str(each["name"])


def _completions(model: Model, body: Mapping[str, Any]) -> list[Event]:
    results = [_text(each["content"]) for each in body["messages"] if each["role"] == "tool"]
    name = model.choose([each["function"]["name"] for each in body.get("tools", [])], results)
    call = {"name": name, "arguments": json.dumps(model.arguments)}
    delta: dict[str, Any] = {"role": "assistant", "content": DONE}
    if name:
        calls = [{"index": 0, "id": "call_1", "type": "function", "function": call}]
        delta = {"role": "assistant", "tool_calls": calls}
    ended = "tool_calls" if name else "stop"
    choices = [
        {"index": 0, "delta": delta, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": ended},
    ]
    shared = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    chunks = [("", {**shared, "choices": [each]}) for each in choices]
    return [*chunks, ("", {**shared, "choices": [], "usage": usage}), ("", {})]
