"""The offline verifier: bytes and keys in, a verdict on several axes out; nothing else is read.

No database, no network, no clock. `bundle.py` holds the numbered steps in their order, `steps.py`
what each one checks, `witnesses.py` and `timestamps.py` those about witnesses and about time, `pins.py` and
`policy.py` how the caller's keys and policy are read, `report.py` the answer.
"""

from __future__ import annotations

from ghost_ledger.verify.bundle import verify_bundle
from ghost_ledger.verify.policy import Policy
from ghost_ledger.verify.report import Axis, Report

__all__ = ["Axis", "Policy", "Report", "verify_bundle"]
