"""`ghost credential`: what goes in is sealed, and nothing ever comes out."""

from __future__ import annotations

import importlib.util
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from support.home import GhostHome
from support.processes import Outcome
from support.shell import inside

SECRET = "hunter2-hunter2-and-something-else"
WEAK = "hunter2"


class Ghost:
    """Runs `ghost credential` in a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.home = GhostHome(folder / "home", folder, 0)
        self.home.root.mkdir(mode=0o700)

    def __call__(self, *words: str, stdin: str = "", fails: int = 0) -> Outcome:
        done = inside(self.home, "credential", *words, stdin=stdin)
        assert done.code == fails, done.err
        assert "hunter2" not in done.out + done.err
        return done

    def configure(self, text: str) -> None:
        self.home.config.write_text(text, encoding="utf-8")


@pytest.fixture
def ghost(tmp_path: Path) -> Ghost:
    return Ghost(tmp_path)


STRIPE = '[credentials.stripe]\nsecret = "vault:stripe"\nhosts = ["api.stripe.com"]\n'


def test_a_secret_from_stdin_is_stored_and_usable(ghost: Ghost) -> None:
    ghost.configure(STRIPE)
    assert ghost("add", "stripe", stdin=SECRET + "\n").out == "stored vault:stripe\n"
    assert ghost("test", "stripe").out.startswith("stripe: the secret from vault:stripe can be")
    assert ghost("add", "stripe", "--json", stdin=SECRET).json["replaced"] is True


def test_a_secret_that_nothing_uses_gets_a_hint(ghost: Ghost) -> None:
    assert 'secret = "vault:stripe"' in ghost("add", "stripe", stdin=SECRET).err


def test_a_webhook_at_a_metadata_address_is_refused_as_the_proxy_would(ghost: Ghost) -> None:
    hook = '[webhooks.ops]\non = ["session.sealed"]\nsecret = "env:OPS"\nurl = "https://{}/"\n'
    ghost("add", "stripe", stdin=SECRET)
    for place in ("169.254.169.254", "2852039166", "[::ffff:a9fe:a9fe]", "10.0.0.1", "127.0.0.1"):
        ghost.configure(STRIPE + hook.format(place))
        assert "webhooks.ops.url" in ghost("test", "stripe", fails=3).err
    allowed = '[proxy]\nallow_private = ["10.0.0.1"]\n'
    ghost.configure(STRIPE + hook.format("10.0.0.1") + allowed)
    ghost("test", "stripe")


def test_a_weak_secret_is_warned_of_without_value_or_length(ghost: Ghost) -> None:
    ghost.configure(STRIPE)
    for words in (("add", "stripe"), ("test", "stripe")):
        done = ghost(*words, stdin=WEAK)
        assert "warning: credential 'stripe': its secret is weak" in done.err
        assert str(len(WEAK)) not in done.err
    assert ghost("test", "stripe", "--json").json["weak"] is True
    assert "weak" in ghost("add", "stripe", "--quiet", stdin=WEAK).err
    strong = ghost("add", "stripe", stdin=SECRET)
    assert "weak" not in strong.err
    assert ghost("test", "stripe", "--json").json["weak"] is False


def test_a_secret_on_the_command_line_is_refused_without_repeating_it(ghost: Ghost) -> None:
    assert "never taken from the command line" in ghost("add", "stripe", SECRET, fails=2).err


@pytest.mark.parametrize("name", ["../x", "a b", "-"])
def test_an_unfit_name_is_refused(ghost: Ghost, name: str) -> None:
    ghost("add", "--", name, stdin=SECRET, fails=2)


@pytest.mark.parametrize(
    "secret", ["", "\n", SECRET + "\n\n", SECRET + "\r\nx: y", "hunter2" * 4000]
)
def test_an_unfit_secret_is_refused(ghost: Ghost, secret: str) -> None:
    assert "credential 'stripe': the secret" in ghost("add", "stripe", stdin=secret, fails=3).err


def test_a_terminal_is_asked_without_echo(ghost: Ghost) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "r+b", buffering=0) as terminal:
        process = subprocess.Popen(
            [sys.executable, "-m", "ghost_cli", "credential", "add", "stripe"],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            env=ghost.home.env,
            cwd=ghost.home.root,
            start_new_session=True,
        )
        os.close(theirs)
        seen = b""
        while b"(not shown)" not in seen:
            seen += terminal.read(1024)
        terminal.write(SECRET.encode() + b"\n")
        out, _ = process.communicate(timeout=60)
        seen += terminal.read(1024)
    assert out == b"stored vault:stripe\n"
    assert b"hunter2" not in seen


def test_the_list_shows_names_and_references_only(ghost: Ghost) -> None:
    cmd = '[credentials.op]\nsecret = "cmd:op read hunter2"\nhosts = ["a.example"]\n'
    aws = '[credentials.aws]\nkind = "sigv4"\n[credentials.ring]\nsecret = "keyring:hunter2"\n'
    ghost.configure(STRIPE + cmd + aws)
    ghost("add", "stripe", stdin=SECRET)
    found = ghost("list", "--json").json
    assert {each["name"]: each["secret"] for each in found["credentials"]} == {
        "aws": "none",
        "op": "cmd:op …",
        "ring": "keyring:…",
        "stripe": "vault:stripe",
    }
    assert [each["name"] for each in found["vault"]] == ["stripe"]
    assert "stripe  bearer  vault:stripe  api.stripe.com\n" in ghost("list").out


def test_an_empty_home_has_no_credentials(ghost: Ghost) -> None:
    assert ghost("list").out == "no credentials\n"


def test_a_removed_secret_is_gone(ghost: Ghost) -> None:
    ghost.configure(STRIPE)
    ghost("add", "stripe", stdin=SECRET)
    assert "'stripe' still refers to it" in ghost("remove", "stripe").err
    ghost("test", "stripe", fails=4)
    ghost("remove", "stripe", fails=4)


@pytest.mark.parametrize(
    ("kind", "secret", "says"),
    [
        ('kind = "cookie"\ncookie = "sid"', "hunter2-hunter2; x=1", "without ; , "),
        ('kind = "path"', "hunter2/hunter2", "segments"),
        ('kind = "cookie"', SECRET, "the name of a cookie"),
        ('kind = "sigv4"', SECRET, "kind 'sigv4' is not in this version"),
    ],
)
def test_a_secret_that_its_kind_cannot_carry_is_no_use(
    ghost: Ghost, kind: str, secret: str, says: str
) -> None:
    ghost.configure(STRIPE + kind)
    ghost("add", "stripe", stdin=secret)
    assert says in ghost("test", "stripe", fails=3).err


@pytest.mark.parametrize(
    "kind",
    ['kind = "path"', 'kind = "body"\nbody = "/auth/key"', 'kind = "cookie"\ncookie = "sid"'],
)
def test_a_secret_is_tried_on_without_a_call(ghost: Ghost, kind: str) -> None:
    ghost.configure(STRIPE + kind)
    ghost("add", "stripe", stdin=SECRET)
    found = ghost("test", "stripe", "--json").json
    assert (found["usable"], found["hosts"]) == (True, ["api.stripe.com"])


def test_a_keyring_without_its_package_is_told(ghost: Ghost) -> None:
    if importlib.util.find_spec("keyring"):
        pytest.skip("the extra keyring is installed")
    ghost.configure('[credentials.ring]\nsecret = "keyring:service/user"\nhosts = ["a.example"]\n')
    assert "ghost-ledger[keyring]" in ghost("test", "ring", fails=3).err


@pytest.mark.parametrize("mark", ["\u0085", "\u2028", "\u2029", "\0", "\r"])
def test_a_secret_with_a_line_break_of_any_kind_is_refused(ghost: Ghost, mark: str) -> None:
    ghost("add", "stripe", stdin=f"hunter2{mark}hunter2", fails=3)


def test_a_credential_that_is_not_configured_cannot_be_tested(ghost: Ghost) -> None:
    ghost("test", "stripe", fails=4)
