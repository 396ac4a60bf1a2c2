from __future__ import annotations

from ghost_core.header_name import folded


def test_names_are_compared_as_gateways_do() -> None:
    assert folded(b"X_Api_Key") == folded(b"x.api.key") == folded(b"x\xe4api-key") == b"x-api-key"
