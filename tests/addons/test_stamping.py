"""An authority of time, asked over the wire."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost_addons import stamping
from ghost_core import settings as configuration
from ghost_core.errors import DeniedError, FailedError, GhostError, IntegrityError
from ghost_core.paths import Home
from ghost_core.settings import Settings
from ghost_ledger import timestamp
from support import tsa
from support.exchange import Exchange
from support.tsa import Authority
from support.upstream import Upstream

HEAD = b"a head\n"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return tsa.today()


@pytest.fixture(scope="module")
def up(authority: Authority) -> Iterator[Upstream]:
    def twice(exchange: Exchange) -> None:
        exchange.reply(200, authority.answer(exchange.record.body) * 100)

    with tsa.served(authority) as served:
        served.route("/gone", lambda exchange: exchange.reply(404, b"no"))
        served.route("/html", lambda exchange: exchange.reply(200, b"<html>"))
        served.route("/long", twice)
        yield served


def configured(home: Path, allow: str = "") -> Settings:
    text = f"[proxy]\nallow_private = [{allow!r}]\n" if allow else ""
    Home(home).ensure().config.write_text(text, "utf-8")
    return configuration.load()


def test_an_authority_is_sent_a_hash_and_gives_a_token(
    home: Path, up: Upstream, authority: Authority
) -> None:
    settings = configured(home, up.authority)
    token = stamping.stamp(settings, f"{up.url}/tsa", HEAD)
    timestamp.Roots(authority.root.pem).check(timestamp.read(token))
    assert HEAD not in up.requests[-1].body


@pytest.mark.parametrize(
    ("path", "code"),
    [("gone", "timestamp.status"), ("html", "timestamp.answer"), ("long", "timestamp.answer")],
)
def test_what_is_no_answer_is_refused(home: Path, up: Upstream, path: str, code: str) -> None:
    with pytest.raises(GhostError) as caught:
        stamping.stamp(configured(home, up.authority), f"{up.url}/{path}", HEAD)
    assert caught.value.code == code
    assert isinstance(caught.value, FailedError | IntegrityError)


def test_plain_http_is_for_places_that_are_named(home: Path, up: Upstream) -> None:
    asked = len(up.requests)
    with pytest.raises(DeniedError, match="time stamp: receiver: expected https"):
        stamping.stamp(configured(home), f"{up.url}/tsa", HEAD)
    assert len(up.requests) == asked
