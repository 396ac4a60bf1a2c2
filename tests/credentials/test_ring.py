"""The system's keyring; what needs the optional package is skipped where it is not installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ghost_core.errors import ConfigError, UnavailableError
from ghost_credentials import ring

BACKEND = """
from keyring.backend import KeyringBackend

class Backend(KeyringBackend):
    priority = 1
    held = {("pay/ments", "me"): "hunter2-hunter2"}

    def get_password(self, service, username):
        if service == "broken":
            raise OSError("hunter2-hunter2")
        return self.held.get((service, username))

    def set_password(self, service, username, password):
        raise NotImplementedError
"""


@pytest.fixture
def backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A keyring of our own, in this process only."""
    keyring = pytest.importorskip("keyring", reason="the extra keyring is not installed")
    (tmp_path / "ghost_test_ring.py").write_text(BACKEND)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "ghost_test_ring", raising=False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "ghost_test_ring.Backend")
    keyring.core.init_backend()


@pytest.mark.usefixtures("backend")
def test_the_last_slash_divides_service_and_user() -> None:
    found = ring.find("pay/ments/me", subject="credential 'x'")
    assert found is not None
    assert found.reveal() == b"hunter2-hunter2"


@pytest.mark.usefixtures("backend")
def test_what_the_keyring_does_not_have_is_none() -> None:
    assert ring.find("payments/nobody", subject="credential 'x'") is None


@pytest.mark.usefixtures("backend")
def test_a_keyring_that_fails_is_unavailable_and_its_text_stays_unsaid() -> None:
    with pytest.raises(UnavailableError, match="credential 'x'.*OSError") as caught:
        ring.find("broken/me", subject="credential 'x'")
    assert caught.value.code == "credential.unavailable"
    assert "hunter2" not in str(caught.value)


def test_without_the_package_the_way_to_install_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ring, "_PACKAGE", "no_such_package_of_ours")
    with pytest.raises(ConfigError, match="credential 'x': the package") as caught:
        ring.find("payments/me", subject="credential 'x'")
    assert (caught.value.code, caught.value.exit_code) == ("credential.keyring", 3)
    assert "ghost-ledger[keyring]" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("place", "fits"),
    [
        ("a/b", True),
        ("https://a/b", True),
        ("a", False),
        ("/b", False),
        ("a/", False),
        ("a/b\n", False),
    ],
)
def test_an_entry_has_a_service_and_a_user(place: str, fits: bool) -> None:
    assert ring.is_entry(place) is fits
