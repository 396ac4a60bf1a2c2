from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ghost_core.errors import (
    UnavailableError,
)
from ghost_ledger.session.control import ask
from ghost_ledger.session.messages import Message
from support.control import echo, serving

type Launch = Callable[..., subprocess.Popen[str]]


def test_an_owner_answers_what_it_was_asked(sid: str) -> None:
    asked = {"verb": "act", "name": "ä", "deep": [1, {"x": None}]}
    assert serving(sid, echo, lambda: ask(sid, asked, timeout=5)) == {"echo": asked}


def test_a_silent_owner_is_given_up_in_time(sid: str) -> None:
    async def never(_: Message):
        await asyncio.Event().wait()

    with pytest.raises(UnavailableError) as caught:
        serving(sid, never, lambda: ask(sid, {}, timeout=0.05))
    assert caught.value.code == "session.owner_silent"


def fake_owner(root: Path, sid: str, answer: bytes) -> threading.Thread:
    """Answer one request with these bytes, as an owner of another version might."""
    descriptor = os.open(root / sid, os.O_RDONLY)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"/proc/self/fd/{descriptor}/control.sock")
    os.close(descriptor)
    listener.listen()
    listener.settimeout(5)

    def serve() -> None:
        with listener:
            channel, _ = listener.accept()
            with channel:
                channel.settimeout(5)
                channel.recv(65536)
                channel.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


@pytest.mark.parametrize(
    "answer", [b"", b'{"result"', b"{\n", b"[]\n", b'{"result":1}\n', b'{"error":null}\n']
)
def test_an_answer_that_is_none_means_that_the_owner_is_lost(
    root: Path, sid: str, answer: bytes
) -> None:
    thread = fake_owner(root, sid, answer)
    with pytest.raises(UnavailableError) as caught:
        ask(sid, {}, timeout=5)
    thread.join(5)
    assert caught.value.code == "session.owner_lost"


def test_no_time_is_no_answer(sid: str) -> None:
    with pytest.raises(UnavailableError) as caught:
        ask(sid, {}, timeout=0)
    assert caught.value.code == "session.owner_silent"
