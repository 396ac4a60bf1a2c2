"""The secrets that this process knows."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from ghost_addons.hidden import Secrets
from ghost_core import log
from ghost_core.errors import GhostError
from ghost_core.secret import SecretBytes
from ghost_core.settings_tables import CredentialSettings
from ghost_credentials.binding import Credential, Credentials
from ghost_credentials.scrub import Scrubber

MARK = b"[redacted by ghost]"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A secret in a file."""
    path = tmp_path / "secret"
    path.write_text("sk_live_4242424242\n")
    path.chmod(0o600)
    return path


def credential(reference: str, **fields: object) -> Credential:
    section = {"secret": reference, "hosts": ["api.test"], **fields}
    return Credential.from_settings("demo", CredentialSettings.model_validate(section))


def test_a_resolved_secret_is_scrubbed_from_then_on(secrets: Secrets, file: Path) -> None:
    assert secrets.scrubber.clean(b"sk_live_4242424242").data == b"sk_live_4242424242"
    found = secrets.resolve(credential(f"file:{file}"))
    assert found.reveal() == b"sk_live_4242424242"
    assert secrets.scrubber.clean(b"a sk_live_4242424242 b").data == b"a " + MARK + b" b"
    assert log.redact("x sk_live_4242424242") != "x sk_live_4242424242"


def test_the_value_of_yesterday_stays_hidden(secrets: Secrets, file: Path) -> None:
    held = credential(f"file:{file}")
    secrets.resolve(held)
    file.write_text("sk_live_5353535353\n")
    secrets.resolve(held)
    clean = secrets.scrubber.clean(b"sk_live_4242424242 sk_live_5353535353")
    assert clean == (MARK + b" " + MARK, 2)


def test_a_text_with_a_secret_has_an_owner(secrets: Secrets, file: Path) -> None:
    secrets.resolve(credential(f"file:{file}"))
    assert secrets.owner(b"k=736b5f6c6976655f34323432343234323432") == "demo"
    assert secrets.owner(b"k=sk_live_424242424") is None


def test_a_short_secret_owns_no_text(secrets: Secrets, file: Path) -> None:
    file.write_text("shrt-99\n")
    secrets.resolve(credential(f"file:{file}"))
    assert secrets.scrubber.holds(b"shrt-99")
    assert secrets.owner(b"shrt-99") is None


def test_the_same_secret_is_known_once(secrets: Secrets, file: Path) -> None:
    held = credential(f"file:{file}")
    secrets.resolve(held)
    before = secrets.scrubber
    secrets.resolve(held)
    assert secrets.scrubber is before


def test_what_can_be_read_without_a_command_is_learned_at_the_start(
    secrets: Secrets, file: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    held = [
        credential(f"cmd:touch {ran}"),
        credential("env:NOWHERE_TO_BE_FOUND"),
        credential(f"file:{file}"),
    ]
    named = {str(number): each for number, each in enumerate(held)}
    secrets.learn(Credentials(named))
    assert not ran.exists()
    assert SecretBytes(b"sk_live_4242424242") in secrets.known


def test_a_missing_secret_is_told_when_it_is_needed(secrets: Secrets) -> None:
    with pytest.raises(GhostError):
        secrets.resolve(credential("env:NOWHERE_TO_BE_FOUND"))


def test_surrendered_secrets_are_forgotten_and_handed_out_as_copies(
    secrets: Secrets, file: Path
) -> None:
    file.write_text("sk_live_of_this_test\n")  # the log knows those of other tests
    secrets.resolve(credential(f"file:{file}"))
    held = secrets.known
    copies = secrets.surrender()
    assert SecretBytes(b"sk_live_of_this_test") in copies
    assert all(set(each.reveal()) <= {0} for each in held)
    assert secrets.known == ()
    assert secrets.scrubber.clean(b"sk_live_of_this_test").hits == 0
    assert log.redact("x sk_live_of_this_test") == "x sk_live_of_this_test"


def test_after_a_surrender_a_secret_can_be_resolved_again(secrets: Secrets, file: Path) -> None:
    held = credential(f"file:{file}")
    secrets.resolve(held)
    secrets.surrender()
    assert secrets.resolve(held).reveal() == b"sk_live_4242424242"
    assert secrets.scrubber.clean(b"sk_live_4242424242").data == MARK


def test_of_secrets_that_come_at_once_none_is_left_out(
    secrets: Secrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    other_came = threading.Event()

    def slowly(known: Sequence[SecretBytes]) -> Scrubber:
        found = Scrubber(known)
        if len(known) == 1:
            other_came.wait(0.2)
        else:
            other_came.set()
        return found

    monkeypatch.setattr("ghost_addons.hidden.Scrubber", slowly)
    texts = [b"a-secret-of-the-first", b"a-secret-of-the-second"]
    threads = [threading.Thread(target=secrets.hide, args=(SecretBytes(each),)) for each in texts]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert all(secrets.scrubber.holds(each) for each in texts)


def test_calls_that_need_the_same_command_ask_it_once(secrets: Secrets, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\necho >> {ran}\nsleep 0.1\nexit 1\n")
    script.chmod(0o700)
    held = credential(f"cmd:{script}")

    async def both() -> list[SecretBytes | BaseException]:
        work = (secrets.resolved(held) for _ in range(20))
        return await asyncio.gather(*work, return_exceptions=True)

    assert all(isinstance(each, GhostError) for each in asyncio.run(both()))
    assert ran.read_bytes() == b"\n"
    asyncio.run(both())
    assert ran.read_bytes() == b"\n\n"


def test_a_credential_that_was_changed_meanwhile_does_not_get_the_old_secret(
    secrets: Secrets,
) -> None:
    """The old one may be for hosts to which the new one must not go, and the other way round."""

    async def both() -> list[SecretBytes]:
        changed = (credential(f"cmd:echo of-the-{each}-config") for each in ("old", "new"))
        return await asyncio.gather(*(secrets.resolved(each) for each in changed))

    found = asyncio.run(both())
    assert [each.reveal() for each in found] == [b"of-the-old-config", b"of-the-new-config"]
