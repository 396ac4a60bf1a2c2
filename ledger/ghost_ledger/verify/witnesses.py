"""The step about witnesses: who, of those that the caller's policy names, signed the head of the bundle."""

from __future__ import annotations

from ghost_core.errors import IncompleteError, IntegrityError
from ghost_ledger.checkpoint import Checkpoint, open_checkpoint
from ghost_ledger.cosignature import cosigned
from ghost_ledger.verify.evidence import Evidence
from ghost_ledger.verify.policy import Policy

__all__ = ["check_witnesses"]


def check_witnesses(evidence: Evidence, policy: Policy | None) -> str | None:
    """Witness: a log of the policy signed the head, and so did enough of the policy's witnesses."""
    note = evidence.bundle.head
    if policy is None:
        return None
    if note is None:
        raise IncompleteError("the bundle holds no head that a witness could have signed")
    head = _signed(evidence, policy, note)
    found = cosigned(note, policy.witnesses.values())
    count = f"{len(found)} of {len(policy.witnesses)} witnesses signed size {head.size}"
    if not policy.allows(found.keys()):
        names = ", ".join(sorted(key.name for key in found)) or "none"
        raise IncompleteError(f"{count}, too few for the quorum: {names}")
    return count if found else f"{count}, and the quorum asks for none"


def _signed(evidence: Evidence, policy: Policy, note: bytes) -> Checkpoint:
    """Open the head under the logs of the policy; one without logs leaves them to the caller's keys."""
    origin = evidence.leaves[0].entry.log
    keys = [key for key in policy.logs if key.name == origin]
    if policy.logs and not keys:
        raise IntegrityError(f"the policy lists no log {origin}", code="ledger.policy")
    if not keys and not evidence.log_keys:
        raise IncompleteError("no key of the log: neither listed, pinned nor in the spawn entry")
    head = open_checkpoint(note, evidence.heirs(keys) or evidence.log_keys)
    if head.origin != origin:
        raise IntegrityError(f"head: origin is {head.origin}, expected {origin}")
    return head
