"""The doors that other rooms use: views of sessions, their csv, and what single entries are worth."""

from __future__ import annotations

from ghost_ledger.export.history import all_view
from ghost_ledger.export.standing import Standing, standing
from ghost_ledger.export.table import csv_text
from ghost_ledger.export.view import Parts, session_view, view_exit_code

__all__ = [
    "Parts",
    "Standing",
    "all_view",
    "csv_text",
    "session_view",
    "standing",
    "view_exit_code",
]
