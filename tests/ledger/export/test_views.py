from __future__ import annotations

import json

import pytest

from ghost_ledger import bundle
from ghost_ledger.export.table import csv_text
from ghost_ledger.export.views import SCHEMA, is_view
from support import views
from support.bundles import Log


def test_our_views_are_recognised() -> None:
    view = views.view(views.action(2))
    assert is_view(json.dumps(view).encode())
    assert is_view(csv_text(view).encode())
    assert is_view(b"\xef\xbb\xbf" + csv_text(view).encode())
    assert is_view(b"<!doctype html>\n<html>")
    assert is_view(b"  <HTML>")
    assert is_view(json.dumps({"schema": SCHEMA, "sessions": []}).encode())


def test_a_bundle_is_no_view() -> None:
    assert not is_view(bundle.encode(Log().session().finish().bundle()))


@pytest.mark.parametrize("data", [b"", b"{", b"{}", b"[1]", b"{" * 50_000, b"\x00", b"null"])
def test_other_bytes_are_no_view(data: bytes) -> None:
    assert not is_view(data)
