"""Fixtures that several folders make, each for as long as its own tests want them.

up, place = fixtures.upstream("module"), fixtures.home("module")
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from typing import Any, Literal

import pytest

from support.certs import Certs
from support.home import GhostHome, Toml, ghost_home
from support.processes import possess
from support.upstream import Upstream

type Scope = Literal["function", "module", "session"]


def upstream(scope: Scope, **options: Any) -> Any:
    """Return fixture `up`: a recording upstream over TLS that no client trusts by itself."""

    @pytest.fixture(scope=scope)
    def up(certs: Certs) -> Iterator[Upstream]:
        with Upstream(certs, **options) as running:
            yield running

    return up


def home(scope: Scope, *, possessed: bool = False, **tables: Mapping[str, Toml]) -> Any:
    """Return fixture `place`: a home with a tool for `up`, and with a running possess if so asked."""

    @pytest.fixture(scope=scope)
    def place(
        tmp_path_factory: pytest.TempPathFactory, certs: Certs, up: Upstream
    ) -> Iterator[GhostHome]:
        with (
            ghost_home(tmp_path_factory.mktemp("place"), up, certs, **tables) as made,
            possess(made) if possessed else nullcontext(),
        ):
            yield made

    return place
