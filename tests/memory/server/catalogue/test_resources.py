from __future__ import annotations

from ghost_memory.server import uris
from ghost_memory.server.catalogue.resources import FIXED, KINDS, TEMPLATES


def test_every_template_is_an_address_that_is_understood() -> None:
    kinds = [uris.parse(each.uri.replace("{project_id}", "app")) for each in TEMPLATES]
    assert kinds == [("app", kind) for kind in KINDS]


def test_every_fixed_resource_is_an_address_that_is_understood() -> None:
    assert [uris.parse(each.uri) for each in FIXED] == [("_global", "memories")]
