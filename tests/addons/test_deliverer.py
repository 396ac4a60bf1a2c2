"""Signing and what a webhook needs; deliveries themselves are told in test_events.py."""

from __future__ import annotations

import base64
import hmac
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from ghost_addons import deliverer
from ghost_addons.deliverer import Deliverer, Tried, signature
from ghost_addons.notice import Notice
from ghost_core.clock import SystemClock
from ghost_core.errors import ConfigError, NotFoundError
from ghost_core.paths import Home
from ghost_core.secret import SecretBytes
from ghost_core.settings_tables import WebhookSettings
from ghost_credentials.references import Reference
from ghost_hooks.posting import Poster
from ghost_ledger import entry
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from support.certs import Certs
from support.receiver import KEY, answering
from support.upstream import Upstream

NOTICE = Notice("action.executed", "act_1", "00" * 32, b'{"a":1}')


@pytest.fixture
def ops(certs: Certs) -> Iterator[Upstream]:
    with Upstream(certs) as receiver:
        receiver.route("/hook", answering())
        yield receiver


@pytest.fixture
def recorder(home: Path) -> Iterator[Recorder]:
    with Recorder.open(Home(home), f"sqlite:///{home}/ghost.db") as opened:
        yield opened


OPS = "env:OPS"


def settings(url: str, secret: str | None = OPS) -> WebhookSettings:
    return WebhookSettings(url=url, on=("action.executed",), secret=secret)


def delivering(ops: Upstream, certs: Certs, recorder: Recorder, secret: bytes) -> Deliverer:
    def resolve(_: Reference) -> SecretBytes:
        if not secret:
            raise NotFoundError("gone", code="credential.missing")
        return SecretBytes(secret)

    poster = Poster((ops.authority,), certs.ca, 5.0)
    hook = settings(f"{ops.url}/hook")
    return Deliverer("audit", hook, poster, resolve, recorder, SystemClock())


def last(recorder: Recorder) -> entry.Entry:
    stored = Ledger(recorder.engine).entries(recorder.system())
    return entry.parse(stored[-1].body)


def test_the_signature_is_the_one_of_the_specification() -> None:
    """The example of Standard Webhooks' own libraries."""
    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    body = b'{"test": 2432232314}'
    found = signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body)
    assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize(
    ("secret", "key"),
    [(b"whsec_" + base64.b64encode(KEY), KEY), (b"plain text as it is", b"plain text as it is")],
)
def test_a_secret_is_base64_behind_its_prefix_or_as_it_is(
    ops: Upstream, certs: Certs, recorder: Recorder, secret: bytes, key: bytes
) -> None:
    delivering(ops, certs, recorder, secret).deliver(NOTICE, threading.Event())
    (record,) = ops.requests
    stamp = record.header("webhook-timestamp") or b""
    digest = hmac.new(key, b"act_1." + stamp + b"." + NOTICE.body, "sha256").digest()
    assert record.header("webhook-signature") == b"v1," + base64.b64encode(digest)
    assert last(recorder).type == "webhook.delivered"


@pytest.mark.parametrize(
    ("secret", "code"),
    [
        (b"", "credential.missing"),
        (b"whsec_???", "credential.malformed"),
        (b"whsec_", "credential.malformed"),
    ],
)
def test_without_its_key_nothing_is_sent_and_that_is_entered(
    ops: Upstream, certs: Certs, recorder: Recorder, secret: bytes, code: str
) -> None:
    delivering(ops, certs, recorder, secret).deliver(NOTICE, threading.Event())
    found = last(recorder)
    assert (found.type, found.fields["error"], found.fields["attempts"]) == (
        "webhook.failed",
        code,
        1,
    )
    assert ops.connections == 0


def test_what_was_given_up_is_entered_with_its_number(
    ops: Upstream, certs: Certs, recorder: Recorder
) -> None:
    delivering(ops, certs, recorder, KEY).lost(7)
    found = last(recorder).fields
    assert (found["count"], found["error"]) == (7, "webhook.unsent")
    assert "entry" not in found


def test_an_outcome_that_cannot_be_entered_is_logged(
    ops: Upstream, certs: Certs, recorder: Recorder
) -> None:
    made = delivering(ops, certs, recorder, KEY)
    recorder.close()
    with capture_logs() as told:
        made.deliver(NOTICE, threading.Event())
    assert [each["event"] for each in told] == ["webhook.unrecorded"]
    assert len(ops.requests) == 1


def test_a_receiver_may_say_when_to_come_again_but_not_for_ever() -> None:
    assert deliverer._told_to_wait(Tried(429, "webhook.status", 2.0)) == 2.0
    assert deliverer._told_to_wait(Tried(503, "webhook.status", 1e9)) == deliverer.LONGEST_SECONDS
    assert deliverer._told_to_wait(Tried(500, "webhook.status")) is None


@pytest.mark.parametrize(
    ("url", "secret", "code"),
    [
        ("https://ops.example/x", None, "config.webhook"),
        ("http://ops.example/x", "env:OPS", "config.webhook"),
        ("https://user:pass@ops.example/x", "env:OPS", "config.webhook"),
        ("https://ops.example/x", "keyring:x", "credential.reference"),
    ],
)
def test_a_webhook_that_could_never_deliver_is_refused(
    url: str, secret: str | None, code: str
) -> None:
    poster = Poster(("localhost:8080",), None, 5.0)
    with pytest.raises(ConfigError) as caught:
        deliverer.check("audit", settings(url, secret), poster)
    assert caught.value.code == code
    assert "pass" not in caught.value.message


def test_https_and_a_named_private_place_are_taken() -> None:
    poster = Poster(("localhost:8080",), None, 5.0)
    deliverer.check("audit", settings("https://ops.example/x"), poster)
    deliverer.check("audit", settings("http://localhost:8080/x"), poster)
