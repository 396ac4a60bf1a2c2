"""The list of revoked keys: read strictly, and what it leaves of a head."""

from __future__ import annotations

import pytest

from ghost_core.errors import IntegrityError
from ghost_ledger.note import Vkey
from ghost_ledger.verify.revocation import REVOKED_LIMIT, Revocations, revocation_line
from support.bundles import ORIGIN, Log, key

ONE, TWO = (Vkey(ORIGIN, key(number).public) for number in (1, 2))
LINE = revocation_line(ONE.format(), 10)


def test_lines_are_read_and_comments_are_not() -> None:
    text = f"# keys that were stolen\n\n  {LINE}\n{revocation_line(TWO.format(), 0)}\n"
    assert Revocations.parse(text.encode()).sizes == {ONE: 10, TWO: 0}
    assert Revocations.parse(b"").sizes == {}


def test_of_two_lines_for_a_key_the_smaller_size_counts() -> None:
    text = f"{revocation_line(ONE.format(), 7)}\n{LINE}\n"
    assert Revocations.parse(text.encode()).sizes == {ONE: 7}


@pytest.mark.parametrize(
    "text",
    [
        LINE,
        "revoked\n",
        f"revoke {ONE.format()} 10\n",
        f"revoked {ONE.format()}\n",
        f"revoked {ONE.format()} -1\n",
        f"revoked {ONE.format()} 010\n",
        f"revoked {ONE.format()} 10 more\n",
        f"revoked {ONE.format()[:-1]} 10\n",
        f"revoked {Log().session().vkey.format()} 10\n",
        "revoked \xff 10\n",
        "#" * REVOKED_LIMIT + "\n",
    ],
    ids=range(11),
)
def test_another_line_is_refused(text: str) -> None:
    with pytest.raises(IntegrityError):
        Revocations.parse(text.encode("latin-1"))


def test_a_head_counts_up_to_the_size() -> None:
    listed = Revocations({ONE: 10})
    assert "above size 10" in listed.check([ONE], 10)
    assert listed.check([TWO], 11) == ""
    assert listed.check([ONE, TWO], 11) == ""
    with pytest.raises(IntegrityError, match="revoked above 10"):
        listed.check([ONE], 11)


def test_heirs_of_a_revoked_key_are_told_of() -> None:
    listed = Revocations({ONE: 10})
    listed.check_heirs([TWO])
    with pytest.raises(IntegrityError, match="give the log's present key"):
        listed.check_heirs([TWO, ONE])
