from __future__ import annotations

from ghost_core.settings_tables import CredentialSettings
from ghost_credentials.head import Head
from ghost_credentials.kinds.bearer import build

KIND = build(CredentialSettings(), name="x")


def test_one_authorization_line_is_left() -> None:
    head = Head("GET", "/", ((b"Authorization", b"a"), (b"accept", b"*"), (b"authorization", b"b")))
    assert KIND.inject(head, b"hunter2").headers == (
        (b"authorization", b"Bearer hunter2"),
        (b"accept", b"*"),
    )


def test_only_the_secret_can_be_echoed() -> None:
    assert KIND.exposures(b"hunter2") == (b"hunter2",)
