"""The verification of a bundle, step by step, in the order in which trust is built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ghost_core.errors import IntegrityError
from ghost_ledger.bundle import Bundle, decode
from ghost_ledger.entry import session_name
from ghost_ledger.verify import steps, timestamps, witnesses
from ghost_ledger.verify.evidence import Evidence, Leaf, declared_key, read_leaves
from ghost_ledger.verify.pins import Pins, read_pins
from ghost_ledger.verify.policy import Policy
from ghost_ledger.verify.report import Axis, Report, judge
from ghost_ledger.verify.revocation import Revocations

if TYPE_CHECKING:
    from ghost_ledger.timestamp import Roots  # its library is an extra

__all__ = ["verify_bundle"]


def verify_bundle(
    data: bytes,
    keys: Sequence[str],
    *,
    head: bytes | None = None,
    policy: Policy | None = None,
    revoked: Revocations | None = None,
    roots: Roots | None = None,
    fast: bool = False,
) -> Report:
    """Judge a bundle under the caller's keys: vkey lines or `ed25519_public_` and 64 hex digits.

    `head` is a log head that the caller kept from earlier. `policy` says which witnesses must have signed
    the bundle's head; the logs that it lists are keys of the caller too. `revoked` says up to which size
    heads of a log key still count. `roots` is whom the caller trusts to stamp that head with the time. `fast`
    checks hashes and the signatures of seal and head only. Without a key nothing is valid, at best
    incomplete.

    Raises:
        IntegrityError: not a bundle, over a limit, or a key that is none.
        IncompleteError: a bundle of an unknown version.
    """
    # 1. The file is GJ1, has the members of a bundle, and is within all limits.
    bundle = decode(data)
    # 2. Every entry is a note over one GJ1 object with the common fields; we hash it ourselves.
    try:
        leaves = read_leaves(bundle.entries)
    except IntegrityError as error:
        return Report((Axis("content", "invalid", error.message),), "", len(bundle.entries))
    # 3. The caller's keys are sorted by the names of this session and this log.
    spawn = leaves[0].entry
    listed = () if policy is None else policy.logs
    pins = read_pins(keys, spawn.log, spawn.sid, listed=listed)
    # 4. The spawn entry names the keys; a pinned log key goes before the named one, and may have handed over.
    try:
        evidence = _evidence(bundle, leaves, pins, revoked or Revocations())
    except IntegrityError as error:
        axis = Axis("key", "invalid", error.message)
        return Report((axis,), spawn.sid, len(leaves))
    # 15. Authorities that the caller trusts have seen the head, not before what it holds.
    time = judge("time", lambda: timestamps.check_time(evidence, roots))
    report = Report((*_axes(evidence, head, policy, fast=fast), time), spawn.sid, len(leaves))
    return replace(report, keys=_used(evidence, report.axis("key")))


def _evidence(
    bundle: Bundle, leaves: tuple[Leaf, ...], pins: Pins, revoked: Revocations
) -> Evidence:
    spawn = leaves[0]
    name = session_name(spawn.entry.log, spawn.entry.sid)
    session = declared_key(spawn, "vkey", name) or next(iter(pins.session), None)
    log = declared_key(spawn, "log_vkey", spawn.entry.log)
    found = Evidence(bundle, leaves, pins, session, (), revoked)
    return replace(found, log_keys=found.heirs(pins.log or ((log,) if log else ())))


def _axes(
    evidence: Evidence, head: bytes | None, policy: Policy | None, *, fast: bool
) -> tuple[Axis, ...]:
    leaves = evidence.leaves
    # 5. Each entry and the seal are signed by the session key.
    signatures = judge("signatures", lambda: steps.check_signatures(evidence, fast=fast))
    # 6. The entries are one session's, in order, without gap, and nothing follows the seal.
    chain = judge("chain", lambda: steps.check_chain(leaves))
    # 7. The seal counts and hashes exactly the entries before it, session.closed being the last.
    complete = judge("complete", lambda: steps.check_complete(evidence))
    # 8. Each intent was in time and has exactly one outcome.
    intents = judge("intents", lambda: steps.check_intents(leaves))
    # 9. The log signed a head that includes the spawn entry and the seal entry.
    inclusion = judge("inclusion", lambda: steps.check_inclusion(evidence))
    # 10. The caller knows the session's key, or the key of the log that includes the session.
    key = judge("key", lambda: steps.check_key(evidence, included=inclusion.state))
    # 11. Every field of every entry has a known meaning.
    content = judge("content", lambda: steps.check_contents(leaves))
    # 12. Disclosed payloads are those that were committed to.
    disclosure = judge("disclosure", lambda: steps.check_disclosures(evidence))
    # 13. The log still stands by the head that the caller kept.
    known = judge("head", lambda: steps.check_head(evidence, head))
    # 14. The witnesses that the caller's policy names have signed the bundle's head.
    witness = judge("witness", lambda: witnesses.check_witnesses(evidence, policy))
    return (
        signatures, chain, complete, intents, inclusion, key, content, disclosure, known, witness,
    )  # fmt: skip


def _used(evidence: Evidence, key: Axis) -> tuple[str, ...]:
    """Name the pinned keys that took part, if the key axis holds."""
    if key.state != "valid":
        return ()
    session, pins = evidence.session_key, evidence.pins
    used = list(pins.log)
    if session is not None and (session in pins.session or session.public in pins.bare):
        used.insert(0, session)
    return tuple(item.format() for item in used)
