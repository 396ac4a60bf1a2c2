"""The page that describes the view names every field that a view has."""

from __future__ import annotations

from pathlib import Path

from ghost_core import db
from ghost_core.paths import Home
from ghost_ledger.export.replay import all_view, session_view
from ghost_ledger.reader import Ledger
from support.ledger import CLOSED, denied, open_recorder, spawned, url_of

PAGE = Path(__file__).parents[3] / "docs" / "formats" / "replay.md"


def test_every_field_of_a_view_is_described(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
        owned.act()
        recorder.append(denied(owned.sid))
        recorder.seal(owned.sid, CLOSED)
    engine = db.engine(url_of(tmp_path))
    ledger, home = Ledger(engine, Home(tmp_path)), Home(tmp_path)
    view = session_view(ledger, home, owned.sid, disclose=True, against=owned.sid)
    every = all_view(ledger, home)
    engine.dispose()
    first, refused = view["actions"]
    objects = [
        view, view["verdict"], view["log"], view["events"][0], view["verify"], view["comparison"],
        view["disclosures"][0], first, refused["denial"], every, every["log"],
    ]  # fmt: skip
    named = {name for found in objects for name in found}
    page = PAGE.read_text("utf-8")
    missing = {name for name in named if f"`{name}`" not in page and f'"{name}"' not in page}
    assert missing == set()
