"""A ticket: one call of `ghost act`, and what became of it."""

from __future__ import annotations

from ghost_addons.refusal import Refusal
from ghost_addons.ticket import Ticket
from ghost_ledger.drafts import Receipt

RECEIPT = Receipt(7, "gh_1", 2, b"\xab" * 32, b"", b"", ts=1_780_000_000_000_000)


def test_every_ticket_has_a_password_and_an_action_of_its_own() -> None:
    one, other = Ticket("demo", "read"), Ticket("demo", "read")
    assert one.password != other.password
    assert one.action_id != other.action_id
    assert len(one.password) > 40


def test_a_settled_ticket_names_its_entry() -> None:
    ticket = Ticket("demo", "read")
    ticket.settled("executed", "", RECEIPT)
    assert (ticket.status, ticket.error, ticket.ts) == ("executed", "", RECEIPT.ts)
    assert ticket.residue_hash == "sha256_" + "ab" * 32


def test_a_refused_ticket_says_why() -> None:
    ticket = Ticket("demo", "read")
    ticket.refused(Refusal(403, "rule.denied", "a rule refuses it", "rule", hint="ask"), RECEIPT)
    assert (ticket.status, ticket.error) == ("denied", "rule.denied")
    assert (ticket.reason, ticket.hint) == ("a rule refuses it", "ask")
