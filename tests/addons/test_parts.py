from __future__ import annotations

import subprocess
import sys

from ghost_addons import parts

PROGRAM = """
import sys
from ghost_addons import master
assert not {"ldap3", "flask", "mitmproxy.addons.onboarding"} & set(sys.modules), "all of them"
from mitmproxy import addons
from ghost_addons import parts
assert addons.core is parts.core
assert len(addons.default_addons()) > 20
"""


def test_the_engine_starts_without_what_it_does_not_run_and_others_still_get_all_of_it() -> None:
    assert subprocess.run([sys.executable, "-c", PROGRAM], check=False, timeout=60).returncode == 0


def test_where_the_package_is_there_already_it_stays() -> None:
    from mitmproxy import addons  # whole, whatever was imported before

    with parts._only_a_folder("mitmproxy.addons"):
        assert sys.modules["mitmproxy.addons"] is addons
    assert sys.modules["mitmproxy.addons"] is addons


def test_a_package_that_is_not_there_is_left_to_the_import() -> None:
    with parts._only_a_folder("mitmproxy.nothing"):
        assert "mitmproxy.nothing" not in sys.modules
