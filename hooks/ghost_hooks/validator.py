"""Runs one Python validator in a process of its own: `python -I -m ghost_hooks.validator FILE SHA256`.

The request comes as JSON on stdin, the verdict goes as JSON to stdout. Only the standard library
is imported, and the bytes that are executed are the bytes that were hashed.
"""

from __future__ import annotations

import hashlib
import hmac
import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, Final

BROKEN: Final = 3
"""The exit status of a file that cannot be loaded: it refuses, but that is no verdict about the call."""


def main(path: str, expected: str, *, stdin: BinaryIO, stdout: BinaryIO) -> int:
    """Return 0 if the validator allows, 1 if it raises or refuses, 2 if the file is another one.

    Also 3 if it cannot be loaded.
    """
    source = Path(path).read_bytes()
    if not hmac.compare_digest(hashlib.sha256(source).hexdigest(), expected):
        return 2
    try:
        validate = _load(source, path)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever it raises is a refusal
        stdout.write(json.dumps(_denied(error, "cannot be loaded: ")).encode())
        return BROKEN
    try:
        answer = _answer(_call(validate, json.load(stdin)))
    except (Exception, SystemExit) as error:  # noqa: BLE001  # here too
        answer = _denied(error)
    stdout.write(json.dumps(answer).encode())
    return 0 if answer["verdict"] == "allow" else 1


def _denied(error: BaseException, what: str = "") -> dict[str, object]:
    return {"verdict": "deny", "reason": what + (str(error) or type(error).__name__)}


def _load(source: bytes, path: str) -> Callable[..., object]:
    space: dict[str, object] = {"__name__": "ghost_validator", "__file__": path}
    exec(compile(source, path, "exec"), space)  # noqa: S102  # the user's own hook, hashed above
    validate = space.get("validate")
    if not callable(validate):
        raise TypeError("expected a function validate(request)")
    return validate


def _call(validate: Callable[..., object], document: Mapping[str, object]) -> object:
    """Hand over the request, and the response to whoever takes a second argument."""
    request, response = document["request"], document.get("response")
    if response is None or len(inspect.signature(validate).parameters) == 1:
        return validate(request)
    return validate(request, response)


def _answer(returned: object) -> dict[str, object]:
    """Read what `validate` returned: nothing or true allows, false refuses, a verdict is one."""
    if returned is None or returned is True:
        return {"verdict": "allow"}
    if isinstance(returned, dict) and returned.get("verdict") in {"allow", "deny", "quarantine"}:
        return returned
    return {"verdict": "deny", "reason": "the validator refuses"}


if __name__ == "__main__":
    # Output of the validator itself must not be taken for its verdict.
    verdict_pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with verdict_pipe:
        sys.exit(main(sys.argv[1], sys.argv[2], stdin=sys.stdin.buffer, stdout=verdict_pipe))
