"""What callers hand over."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from ghost_ledger.drafts import Draft, Payload


def test_a_draft_cannot_change_after_it_was_handed_over():
    draft = Draft("s", "run.event", "e", {})
    with pytest.raises(FrozenInstanceError):
        draft.sid = "other"  # type: ignore[misc]


def test_a_payload_does_not_show_its_bytes():
    payload = Payload("params", b"", "", b"canary", 6)
    assert "canary" not in repr(Draft("s", "action.intent", "a", {}, (payload,)))
