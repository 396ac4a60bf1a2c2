"""Whatever happens to a ledger, only its end grows; whatever is read as evidence, no reader breaks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import strategies as st

from ghost_core.errors import GhostError
from ghost_ledger import bundle, canonical, entry, note, wiretoken
from ghost_ledger.checkpoint import decode_proof, open_checkpoint
from ghost_ledger.cosignature import WitnessKey, cosigned
from ghost_ledger.verify import Policy, verify_bundle
from ghost_ledger.verify.pins import read_key
from ghost_ledger.witness.request import decode_request
from support.bundles import Log, Session, key
from support.cosigners import asking, cosigned_head
from support.fuzzing import fuzz, fuzz_machine
from support.ledger_model import Ledger

HOST = "api.test"


def sealed() -> Session:
    return Log().session().action().finish()


FOUND = sealed()
LOG = FOUND.log
PINS = [FOUND.vkey.format()]
WITNESS = WitnessKey("witness.test/1", key(3001).public)
TOKEN = wiretoken.issue(key(1), sid=FOUND.sid, action_id="act_1", host=HOST, expires_at_s=2**40)
POLICY = (
    f"log {LOG.vkey.format()}\nwitness a {WITNESS.format()}\ngroup g any a\nquorum g\n".encode()
)


def policy(data: bytes) -> None:
    Policy.parse(data).allows([WITNESS])


def token(text: str) -> None:
    wiretoken.check(text, key(1).public, now_s=1, host=HOST)


def replayed(data: bytes) -> None:
    assert verify_bundle(data, PINS, head=LOG.head(2), policy=Policy.parse(POLICY)).exit_code >= 0


def text(read: Callable[[str], object]) -> Callable[[bytes], object]:
    """Let a reader of text read bytes, all of which are some text."""
    return lambda data: read(data.decode("latin-1"))


READERS: dict[str, tuple[Callable[[bytes], object], list[bytes]]] = {
    "bundle": (replayed, [bundle.encode(FOUND.bundle(consistency=LOG.consistency(2)))]),
    "entry": (lambda data: entry.parse(entry.open_leaf(data)[0]), FOUND.notes),
    "body": (canonical.decode, [entry.open_leaf(each)[0] for each in FOUND.notes]),
    "note": (lambda data: note.open_note(data, [FOUND.vkey]), FOUND.notes),
    "checkpoint": (lambda data: open_checkpoint(data, [LOG.vkey]), [LOG.head()]),
    "cosigned head": (lambda data: cosigned(data, [WITNESS]), [cosigned_head(LOG, 1, 2)]),
    "tlog-proof": (text(decode_proof), [LOG.proof(FOUND.notes[-1]).encode()]),
    "policy": (policy, [POLICY]),
    "witness request": (decode_request, [asking(LOG, 2), asking(LOG, 0)]),
    "wire token": (text(token), [TOKEN.encode()]),
    "key": (
        text(read_key),
        [PINS[0].encode(), f"ed25519_public_{FOUND.key.public.hex()}".encode()],
    ),
}


def damaged(samples: list[bytes]) -> st.SearchStrategy[bytes]:
    """Cut a genuine one and put in bytes, or a stretch of it, wherever."""
    whole = st.sampled_from(samples)
    place, some = st.integers(0, max(map(len, samples))), st.integers(0, 80)
    stretch = st.builds(lambda data, at, size: data[at : at + size], whole, place, some)
    new = st.binary(max_size=4) | stretch | st.sampled_from([b"\n\n", b'"', b"\x80", b"9" * 5000])
    cut = st.builds(
        lambda data, at, out, put: data[:at] + put + data[at + out :], whole, place, some, new
    )
    return st.one_of(st.binary(max_size=200), cut, cut.map(lambda data: data + data))


@pytest.mark.parametrize("name", READERS)
def test_any_bytes_are_read_or_refused(name: str) -> None:
    read, samples = READERS[name]
    for each in samples:
        read(each)

    def check(data: bytes) -> None:
        try:
            read(data)
        except GhostError:
            return

    fuzz(check, damaged(samples), examples=100, share=0.01)


def test_a_ledger_does_what_its_model_does() -> None:
    fuzz_machine(Ledger, examples=12, steps=12, share=0.14)
