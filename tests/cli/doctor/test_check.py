from __future__ import annotations

from collections.abc import Iterator

from ghost_cli.doctor.check import Check, examine, fail, ok, warn
from ghost_core.errors import ConfigError


def test_a_finding_is_one_line_with_the_command_that_mends_it() -> None:
    assert ok("port", "is free").line(6) == "ok    port    is free"
    assert warn("port", "x\ny", "do this").line(4) == "warn  port  x y; mend: do this"


def test_a_finding_is_an_object_with_the_same_four_facts() -> None:
    expected = {"name": "port", "status": "fail", "found": "busy", "mend": "wait"}
    assert fail("port", "busy", "wait").document() == expected


def breaks(error: Exception) -> Iterator[Check]:
    yield ok("first", "seen")
    raise error


def test_an_error_of_ours_is_a_finding_with_its_hint() -> None:
    found = list(examine("config", lambda: breaks(ConfigError("broken", hint="mend it"))))
    assert found == [ok("first", "seen"), fail("config", "broken", "mend it")]


def test_of_another_error_only_the_kind_is_told() -> None:
    _, found = examine("home", lambda: breaks(OSError("sk_live_secret")))
    assert (found.status, found.found) == ("fail", "could not be looked at, OSError")
