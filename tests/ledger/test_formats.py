"""The pages in docs/formats are true: their example verifies, and so does their own verifier."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ghost_ledger import bundle, wiretoken
from ghost_ledger.commitment import Commitment
from ghost_ledger.export.files import plain_files
from ghost_ledger.handover import open_handover
from ghost_ledger.tree import leaf_hash, node_hash, root
from ghost_ledger.verify import Policy, verify_bundle
from ghost_ledger.verify.revocation import Revocations
from support.bundles import Log, key
from support.cosigners import witness

FORMATS = Path(__file__).parents[2] / "docs" / "formats"
EXAMPLE = (FORMATS / "example.ghost").read_bytes()
PARTS = bundle.decode(EXAMPLE)
STATED = (FORMATS / "statement.ghost").read_bytes()
NAMES = ("entry", "seal", "bundle", "wiretoken", "witness", "statement", "keys")
PAGES = {name: (FORMATS / f"{name}.md").read_text("utf-8") for name in NAMES}
KEYS = re.findall(
    r"^(?:ghost[.]example/\S+[+]\S+|ed25519_public_\S+)$", PAGES["bundle"], re.MULTILINE
)


def block(page: str, start: str) -> str:
    """Return the fenced block of a page that starts with this text."""
    blocks = re.findall(r"^```\w*\n(.*?)^```$", PAGES[page], re.MULTILINE | re.DOTALL)
    return next(text for text in blocks if text.startswith(start))


@pytest.mark.parametrize("key", KEYS)
def test_the_example_verifies_under_every_key_of_the_page(key: str):
    report = verify_bundle(EXAMPLE, [key])
    assert report.exit_code == 0
    assert report.axis("disclosure").state == "valid"


def test_the_page_gives_three_keys():
    assert len(KEYS) == 3


def test_the_entry_on_the_page_is_the_one_of_the_example():
    assert block("entry", '{"bytes_received"').encode() == PARTS.entries[3]
    assert leaf_hash(PARTS.entries[3]).hex() in PAGES["entry"]


def test_the_commitment_on_the_page_is_the_one_of_the_formula():
    commitment = Commitment("params", bytes(range(32)))
    commitment.update(b"amount=2000&currency=usd")
    assert commitment.hex() in PAGES["entry"]


def test_the_notes_on_the_page_are_those_of_the_example():
    assert PARTS.seal == block("seal", "ghost.example/0193/s/").encode()
    assert PARTS.head == block("seal", "ghost.example/0193\n").encode()
    assert PARTS.seal_proof == block("seal", "c2sp.org/tlog-proof@v1")


def test_the_hashes_on_the_page_are_those_of_the_example():
    hashes = [leaf_hash(note) for note in PARTS.entries[:4]]
    nodes = [node_hash(*hashes[:2]), node_hash(*hashes[2:]), root(hashes)]
    for item in hashes + nodes:
        assert item.hex() in PAGES["seal"]


@pytest.mark.parametrize("changed", [False, True])
def test_the_verifier_on_the_page_accepts_the_example_and_nothing_changed(
    tmp_path: Path, *, changed: bool
):
    data = EXAMPLE.replace(b"api.stripe.com", b"api.strype.com") if changed else EXAMPLE
    (tmp_path / "example.ghost").write_bytes(data)
    (tmp_path / "page.py").write_text(block("bundle", "import base64"), "utf-8")
    command = [sys.executable, "page.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=5)
    assert (ended.returncode != 0) == changed


def test_the_cosigned_head_on_the_page_fulfils_the_policy_on_the_page():
    head = block("witness", "ghost.example/0193\n")
    policy = Policy.parse(block("witness", "log ").encode())
    proofs = [
        str(each).replace(str(PARTS.head, "utf-8"), head)
        for each in (PARTS.spawn_proof, PARTS.seal_proof)
    ]
    made = replace(PARTS, head=head.encode(), spawn_proof=proofs[0], seal_proof=proofs[1])
    report = verify_bundle(bundle.encode(made), (), policy=policy)
    assert (report.exit_code, report.axis("witness").state) == (0, "valid")
    assert verify_bundle(EXAMPLE, (), policy=policy).exit_code == 8


def test_the_request_on_the_page_is_signed_by_a_witness(tmp_path: Path):
    (log,) = Policy.parse(block("witness", "log ").encode()).logs
    answer = witness(tmp_path, [log]).add(block("witness", "old 0").encode())
    assert answer.status == 200


@pytest.mark.parametrize("changed", [False, True])
def test_the_check_of_a_cosignature_on_the_page_takes_the_example_alone(
    tmp_path: Path, *, changed: bool
):
    head = block("witness", "ghost.example/0193\n")
    (tmp_path / "checkpoint").write_text(
        head.replace("\n8\n", "\n9\n") if changed else head, "utf-8"
    )
    (tmp_path / "page.py").write_text(block("witness", "import base64"), "utf-8")
    command = [sys.executable, "page.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=5)
    assert (ended.returncode != 0) == changed


def test_the_statement_on_the_page_is_the_one_of_its_bundle():
    files = plain_files(bundle.decode(STATED))
    line = files["statement.intoto.jsonl"].decode()
    assert block("statement", '{"payload"') == line
    payload = base64.b64decode(json.loads(line)["payload"]).decode()
    assert block("statement", '{"_type"') == payload + "\n"
    made = Log("ghost.example/0193").session().action().finish().bundle()
    assert bundle.encode(made) == STATED


@pytest.mark.parametrize("start", ["from cryptography", "from securesystemslib"])
@pytest.mark.parametrize("changed", [False, True])
def test_the_checks_of_a_statement_on_the_page_take_the_example_alone(
    tmp_path: Path, start: str, *, changed: bool
):
    line = block("statement", '{"payload"')
    wrong = line.replace("eyJfdHlwZSI6Imh0dHBzOi8v", "eyJfdHlwZSI6Imh0dHBzOi8w")
    (tmp_path / "statement.intoto.jsonl").write_text(wrong if changed else line, "utf-8")
    code = block("statement", f"import base64, json\n{start}")
    (tmp_path / "page.py").write_text(code, "utf-8")
    command = [sys.executable, "page.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=20)
    assert (ended.returncode != 0) == changed


def test_the_note_on_the_page_hands_the_log_of_the_example_over():
    note, (log,) = block("keys", "ghost log key").encode(), KEYS[2:]
    said = open_handover(note)
    assert said.old.format() == log
    made = bundle.encode(replace(PARTS, handovers=(note,)))
    assert verify_bundle(made, [log]).exit_code == 0
    listed = Revocations.parse(block("keys", "# stolen").encode())
    assert listed.sizes == {said.old: 8}
    assert verify_bundle(made, [log], revoked=listed).exit_code == 0


@pytest.mark.parametrize("changed", [False, True])
def test_the_check_of_a_handover_on_the_page_takes_the_example_alone(
    tmp_path: Path, *, changed: bool
):
    note = block("keys", "ghost log key")
    (tmp_path / "handover-0.note").write_text(
        note.replace("8f25f1f7", "64b0289c") if changed else note, "utf-8"
    )
    (tmp_path / "page.py").write_text(block("keys", "import base64"), "utf-8")
    command = [sys.executable, "page.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=5)
    assert (ended.returncode != 0) == changed


@pytest.mark.parametrize("host", ["api.test", "else.test"])
def test_the_token_check_on_the_page_accepts_our_tokens_for_their_host(host: str):
    page: dict[str, Any] = {}
    exec(block("wiretoken", "import base64"), page)  # noqa: S102  # our own page
    end = 2**40
    token = wiretoken.issue(key(1), sid="s", action_id="a", host="api.test", expires_at_s=end)
    if host == "api.test":
        assert page["check"](token, key(1).public.hex(), host)["action"] == "a"
    else:
        with pytest.raises(ValueError, match="not for this host"):
            page["check"](token, key(1).public.hex(), host)
