"""The table that is shipped, and what it makes of texts."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_memory.embedding.static import FOLDER, StaticEmbedder

ABOUT = json.loads((FOLDER / "model.json").read_text("utf-8"))
EMBEDDER = StaticEmbedder()


def test_the_files_are_those_that_were_built_and_small() -> None:
    found = {name: (FOLDER / name).read_bytes() for name in ABOUT["sha256"]}
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in found.items()}
    assert digests == ABOUT["sha256"]
    joined = "".join(digests.values()).encode()
    assert ABOUT["revision"] == hashlib.sha256(joined).hexdigest()[:12]
    assert len(found["table.npy"]) + len(found["scale.npy"]) <= 8_000_000


def test_the_notice_names_model_and_licence() -> None:
    notice = (FOLDER / "NOTICE").read_text("utf-8")
    assert "sentence-transformers/all-MiniLM-L6-v2" in notice
    assert "Apache License, Version 2.0" in notice


def test_what_means_the_same_is_nearer_than_what_does_not() -> None:
    asked = EMBEDDER.embed(["how do I sign in to the database"], query=True)[0]
    texts = [
        "Log in to postgres with the password in the vault.",
        "The logo is blue and has a rounded border.",
        "Bananas ripen faster in a paper bag.",
    ]
    scores = EMBEDDER.embed(texts) @ asked
    assert scores.argmax() == 0
    assert scores[0] > scores[2] + 0.2


@given(st.lists(st.text(), max_size=4))
def test_any_text_has_a_row_of_length_one_or_zero(texts: list[str]) -> None:
    rows = EMBEDDER.embed(texts)
    assert rows.shape == (len(texts), 256)
    assert rows.dtype == np.float32
    lengths = np.linalg.norm(rows, axis=1)
    assert (np.isclose(lengths, 1.0, atol=1e-5) | (lengths == 0)).all()


def test_a_text_is_the_same_alone_and_in_company_and_case_does_not_count() -> None:
    alone = EMBEDDER.embed(["Retries are off."])[0]
    rows = EMBEDDER.embed(["other", "RETRIES are off.", ""])
    assert np.array_equal(rows[1], alone)
    assert not rows[2].any()


@pytest.mark.parametrize("text", ["[CLS]", "[MASK] [SEP]"])
def test_marks_of_the_model_are_words_like_others(text: str) -> None:
    assert np.array_equal(EMBEDDER.embed([text])[0], EMBEDDER.embed([text.lower()])[0])


def test_threads_that_come_first_together_get_the_same() -> None:
    embedder, found = StaticEmbedder(), []
    threads = [
        threading.Thread(target=lambda: found.append(embedder.embed(["one two three"])))
        for _ in range(4)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join(5)
    assert len(found) == 4
    assert all(np.array_equal(each, found[0]) for each in found)


def test_nothing_is_loaded_before_the_first_text() -> None:
    embedder = StaticEmbedder()
    assert embedder._table is None
    assert embedder.space().id == f"{ABOUT['model']}@{ABOUT['revision']}/256"
    assert embedder.known() == embedder.space()
    embedder.close()
    assert embedder.embed(["one"]).any()


def test_only_numpy_is_needed() -> None:
    program = (
        "import sys; from ghost_memory.embedding.static import StaticEmbedder;"
        " StaticEmbedder().embed(['one']);"
        " print([name for name in ('torch', 'tokenizers', 'onnxruntime', 'mcp', 'sqlmodel')"
        " if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"
