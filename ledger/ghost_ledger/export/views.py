"""Recognises our own views, so that nobody takes one for evidence."""

from __future__ import annotations

import json
import re
from typing import Final

__all__ = ["SCHEMA", "is_view"]

SCHEMA: Final = "ghost/replay/v1"

_BOM: Final = b"\xef\xbb\xbf"
_HTML: Final = re.compile(rb"\s*<(!doctype|html)\b", re.IGNORECASE)
_CSV: Final = re.compile(rb'"?session_id"?,"?intent"?,')
_JSON: Final = re.compile(rb"\s*\{")


def is_view(data: bytes) -> bool:
    """Tell whether the bytes are a replay as html, csv or json, edited or not."""
    start = data.removeprefix(_BOM)
    if _HTML.match(start) or _CSV.match(start):
        return True
    return bool(_JSON.match(start)) and _is_replay(start)


def _is_replay(data: bytes) -> bool:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return False
    if not isinstance(found, dict):
        return False
    return found.get("schema") == SCHEMA or {"session_id", "actions"} <= found.keys()
