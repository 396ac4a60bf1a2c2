from __future__ import annotations

import re
from importlib.metadata import version

from ghost_core.version import __version__


def test_the_version_is_semantic_and_that_of_the_installed_package() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
    assert version("ghost-ledger") == __version__
