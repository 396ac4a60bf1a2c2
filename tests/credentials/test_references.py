from __future__ import annotations

import os
from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.errors import ConfigError, NotFoundError, UnavailableError
from ghost_core.paths import Home
from ghost_core.secret import SecretBytes
from ghost_credentials.references import MAX_SECRET_BYTES, Reference, SecretSource
from ghost_credentials.vault import Vault


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").ensure()


def source(home: Home, **environ: str) -> SecretSource:
    return SecretSource(home, db.engine(f"sqlite:///{home.database}"), environ=environ)


def resolve(found: SecretSource, text: str) -> bytes:
    return found.resolve(Reference.parse(text, credential="stripe")).reveal()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hunter2-secret",
        "sk:hunter2-secret",
        "keyring:hunter2-secret",
        "keyring:a/",
        "env:",
        "env: ",
        "env:hunter2-secret",
        "vault:hunter2 secret",
        "vault:../x",
        "file:\0",
        "cmd:'hunter2-secret",
        "cmd:   ",
    ],
)
def test_a_malformed_reference_names_the_credential_and_never_the_text(text: str) -> None:
    with pytest.raises(ConfigError, match="credential 'stripe'") as caught:
        Reference.parse(text, credential="stripe")
    assert caught.value.code == "credential.reference"
    assert "hunter2" not in f"{caught.value} {caught.value.hint}"


def test_a_reference_without_an_owner_still_explains_itself() -> None:
    with pytest.raises(ConfigError, match="credential: expected a reference"):
        Reference.parse("x")


def test_the_arguments_of_a_command_are_never_shown() -> None:
    assert Reference.parse("cmd:op read hunter2").shown == "cmd:op …"
    assert Reference.parse("env:KEY").shown == "env:KEY"


def test_the_environment_is_read_anew_each_time(home: Home) -> None:
    environ = {"KEY": "one"}
    found = SecretSource(home, db.engine(f"sqlite:///{home.database}"), environ=environ)
    assert resolve(found, "env:KEY") == b"one"
    environ["KEY"] = "two"
    assert resolve(found, "env:KEY") == b"two"
    del environ["KEY"]
    with pytest.raises(NotFoundError, match="credential 'stripe' from env:KEY") as caught:
        resolve(found, "env:KEY")
    assert caught.value.code == "credential.missing"


def test_the_process_environment_is_the_default(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHOST_TEST_KEY", "hunter2")
    found = SecretSource(home, db.engine(f"sqlite:///{home.database}"))
    assert resolve(found, "env:GHOST_TEST_KEY") == b"hunter2"


def test_a_file_that_changes_holds_at_once(home: Home) -> None:
    path = home.root / "key"
    path.write_bytes(b"one\n")
    found = source(home)
    assert resolve(found, f"file:{path}") == b"one"
    path.write_bytes(b"two\n")
    assert resolve(found, f"file:{path}") == b"two"
    path.unlink()
    with pytest.raises(NotFoundError, match="from file:"):
        resolve(found, f"file:{path}")


def test_a_path_is_expanded_under_the_home(home: Home) -> None:
    (home.root / "key").write_bytes(b"one")
    assert resolve(source(home), "file:$GHOST_HOME/key") == b"one"
    assert resolve(source(home), "file:~/.ghost/key") == b"one"


def test_what_is_no_regular_file_is_refused_without_waiting(home: Home) -> None:
    os.mkfifo(home.root / "pipe")
    with pytest.raises(ConfigError, match="regular file"):
        resolve(source(home), "file:$GHOST_HOME/pipe")


def test_a_file_that_cannot_be_read_says_why(home: Home) -> None:
    with pytest.raises(UnavailableError, match="credential 'stripe' from file:") as caught:
        resolve(source(home), "file:$GHOST_HOME/hooks")
    assert caught.value.code == "credential.unavailable"


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_one_trailing_newline_is_no_part_of_the_secret(home: Home, end: str) -> None:
    assert resolve(source(home, KEY="hunter2" + end), "env:KEY") == b"hunter2"


@pytest.mark.parametrize(
    "value", ["", "\n", "hunter2\n\n", "hun\rter2", "hunter2 ", "hun\u2028ter2"]
)
def test_an_unfit_secret_is_refused_without_showing_it(home: Home, value: str) -> None:
    with pytest.raises(ConfigError, match="credential 'stripe' from env:KEY") as caught:
        resolve(source(home, KEY=value), "env:KEY")
    assert caught.value.code == "credential.malformed"
    assert "hun" not in str(caught.value)


@pytest.mark.parametrize(
    ("size", "fits"), [(MAX_SECRET_BYTES, True), (MAX_SECRET_BYTES + 1, False)]
)
def test_a_secret_has_a_length_that_servers_accept(home: Home, size: int, fits: bool) -> None:
    (home.root / "key").write_bytes(b"x" * size + b"\n")
    if fits:
        assert len(resolve(source(home), "file:$GHOST_HOME/key")) == size
        return
    with pytest.raises(ConfigError, match="longer than"):
        resolve(source(home), "file:$GHOST_HOME/key")


def test_a_command_is_run_without_a_shell(home: Home) -> None:
    assert resolve(source(home), "cmd:printf '%s' '$HOME;x'") == b"$HOME;x"


def test_the_keyring_is_read_anew_each_time(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    held: dict[str, SecretBytes] = {"payments/me": SecretBytes(b"one")}

    def find(place: str, *, subject: str) -> SecretBytes | None:
        return held.get(place)

    monkeypatch.setattr("ghost_credentials.ring.find", find)
    found = source(home)
    assert resolve(found, "keyring:payments/me") == b"one"
    held["payments/me"] = SecretBytes(b"two")
    assert resolve(found, "keyring:payments/me") == b"two"
    del held["payments/me"]
    with pytest.raises(NotFoundError, match="from keyring:payments/me") as caught:
        resolve(found, "keyring:payments/me")
    assert caught.value.hint == "keyring set payments me"


def test_a_secret_that_was_sealed_with_a_line_break_is_refused_when_it_is_read(home: Home) -> None:
    engine = db.engine(f"sqlite:///{home.database}")
    db.migrate(engine)
    Vault(home, engine).put("stripe", SecretBytes("hun\u0085ter2".encode()))
    with pytest.raises(ConfigError, match="credential 'stripe' from vault:stripe") as caught:
        resolve(SecretSource(home, engine), "vault:stripe")
    assert caught.value.code == "credential.malformed"


def test_the_vault_is_read_anew_each_time(home: Home) -> None:
    engine = db.engine(f"sqlite:///{home.database}")
    db.migrate(engine)
    vault, found = Vault(home, engine), SecretSource(home, engine)
    with pytest.raises(NotFoundError, match="credential 'stripe' from vault:stripe") as caught:
        resolve(found, "vault:stripe")
    assert caught.value.hint == "ghost credential add stripe"
    vault.put("stripe", SecretBytes(b"one"))
    assert resolve(found, "vault:stripe") == b"one"
    vault.put("stripe", SecretBytes(b"two"))
    assert resolve(found, "vault:stripe") == b"two"
