"""Hook files as real files and real processes: whatever goes wrong refuses."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from ghost_hooks.document import Call, document
from ghost_hooks.folder import Hook
from ghost_hooks.request import Headers, Reply, Request, Verdict
from ghost_hooks.runner import HookRunner
from ghost_hooks.target import Target

_JSON: Headers = ((b"content-type", b"application/json"),)
_REQUEST = Request("POST", Target("https", "a.example", 443, "/x"), _JSON, b'{"amount":10}')


def _document(reply: Reply | None = None, request: Request = _REQUEST) -> dict[str, object]:
    call = Call("act_1", "stripe", "create", "json")
    return document(call, {"id": "gh_1"}, request, reply)


def _run(
    path: Path, found: dict[str, object] | None = None, *, seconds: float = 5, expected: str = ""
) -> Verdict:
    hook = Hook(path, path.parent, expected=expected)
    runner = HookRunner(path.parent, seconds)
    return asyncio.run(runner.run(hook, _document() if found is None else found))


def _script(folder: Path, text: str, name: str = "_pre.sh", mode: int = 0o700) -> Path:
    path = folder / name
    path.write_text(text)
    path.chmod(mode)
    return path


def test_exit_status_zero_allows_with_the_files_hash(tmp_path: Path) -> None:
    path = _script(tmp_path, "#!/bin/sh\nexit 0\n")
    verdict = _run(path)
    assert verdict.allow
    assert verdict.hash == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (verdict.by, verdict.rule, verdict.exit) == ("hook", "_pre.sh", 0)


def test_another_exit_status_denies(tmp_path: Path) -> None:
    verdict = _run(_script(tmp_path, "#!/bin/sh\nexit 3\n"))
    assert (verdict.verdict, verdict.code, verdict.exit) == ("deny", "hook.denied", 3)
    assert verdict.reason == "exit status 3"


def test_a_signal_denies(tmp_path: Path) -> None:
    verdict = _run(_script(tmp_path, "#!/bin/sh\nkill -TERM $$\n"))
    assert (verdict.allow, verdict.exit) == (False, 143)


@pytest.mark.parametrize(
    ("output", "status", "outcome", "code"),
    [
        ('{"verdict":"allow"}', 0, "allow", ""),
        ('{"verdict":"allow"}', 1, "deny", "hook.denied"),
        ('{"verdict":"deny","reason":"no"}', 0, "deny", "hook.denied"),
        ('{"verdict":"quarantine"}', 0, "quarantine", "hook.quarantined"),
        ('{"other":1}', 0, "allow", ""),
        ("checked, fine", 0, "allow", ""),
        ("true", 0, "allow", ""),
        ('{"verdict":"perhaps"}', 0, "deny", "hook.output"),
        ('{"verdict":["allow"]}', 0, "deny", "hook.output"),
        ('{"verdict":', 0, "deny", "hook.output"),
    ],
)
def test_output_can_only_make_the_verdict_worse(
    tmp_path: Path, output: str, status: int, outcome: str, code: str
) -> None:
    text = f"#!/bin/sh\ncat <<'END'\n{output}\nEND\nexit {status}\n"
    verdict = _run(_script(tmp_path, text))
    assert (verdict.verdict, verdict.code) == (outcome, code)
    assert verdict.allow is (outcome == "allow")


def test_reason_and_labels_come_along(tmp_path: Path) -> None:
    said = json.dumps({"verdict": "deny", "reason": "card data", "labels": ["pii", 1]})
    verdict = _run(_script(tmp_path, f"#!/bin/sh\necho '{said}'\n"))
    assert (verdict.reason, verdict.labels) == ("card data", ("pii", "1"))


def test_a_program_reads_the_document(tmp_path: Path) -> None:
    _run(_script(tmp_path, "#!/bin/sh\ncat > seen.json\n"))
    assert json.loads((tmp_path / "seen.json").read_text()) == _document()


def test_a_hanging_program_denies(tmp_path: Path) -> None:
    verdict = _run(_script(tmp_path, "#!/bin/sh\nsleep 60 &\nsleep 60\n"), seconds=0.3)
    assert (verdict.code, verdict.status) == ("hook.timeout", 500)


def test_a_flooding_program_denies(tmp_path: Path) -> None:
    verdict = _run(_script(tmp_path, "#!/bin/sh\nwhile :; do echo xxxxxxxxxxxxxxxxxxxxx; done\n"))
    assert verdict.code == "hook.output"


def test_a_file_that_is_no_program_denies(tmp_path: Path) -> None:
    assert _run(_script(tmp_path, "exit 0", mode=0o600)).code == "hook.unknown"
    assert _run(_script(tmp_path, "{}", "_pre.toml", mode=0o600)).code == "hook.unknown"


@pytest.mark.parametrize("text", ["", "exit 0\n", " #!/bin/sh\n", "\x00\x00"])
def test_a_file_that_only_a_shell_would_run_denies(text: str, tmp_path: Path) -> None:
    verdict = _run(_script(tmp_path, text))
    assert (verdict.allow, verdict.code) == (False, "hook.unknown")
    assert verdict.hash


def test_a_program_without_an_interpreter_denies(tmp_path: Path) -> None:
    verdict = _run(_script(tmp_path, "#!/missing/interpreter\n"))
    assert verdict.code == "hook.failed"
    assert verdict.hash


def test_a_missing_file_denies(tmp_path: Path) -> None:
    assert _run(tmp_path / "_pre.sh").code == "hook.unsafe"


def test_a_file_that_others_may_write_denies(tmp_path: Path) -> None:
    assert _run(_script(tmp_path, "#!/bin/sh\n", mode=0o702)).code == "hook.unsafe"


def test_a_hook_that_changes_while_it_runs_denies(tmp_path: Path) -> None:
    verdict = _run(_script(tmp_path, '#!/bin/sh\necho "#" >> "$0"\nexit 0\n'))
    assert verdict.code == "hook.changed"


def test_a_hook_that_is_put_back_after_the_run_denies(tmp_path: Path) -> None:
    swap = '#!/bin/sh\ncp -p "$0" copy\nmv copy "$0"\n'
    assert _run(_script(tmp_path, swap)).code == "hook.changed"
    gone = _script(tmp_path, '#!/bin/sh\nrm "$0"\n', "a_pre.sh")
    assert _run(gone).code == "hook.changed"


def test_a_file_with_another_hash_than_named_denies(tmp_path: Path) -> None:
    path = _script(tmp_path, "#!/bin/sh\ntouch ran\n")
    assert _run(path, expected="0" * 64).code == "hook.unsafe"
    assert not (tmp_path / "ran").exists()


def test_a_python_validator_runs_on_its_own(tmp_path: Path) -> None:
    source = (
        "import os\n"
        "print('noise')\n"
        "def validate(request):\n"
        "    assert 'GHOST_HOME' not in os.environ\n"
        "    if 'amount' in request['body']: raise ValueError('amount is not allowed')\n"
    )
    verdict = _run(_script(tmp_path, source, "_pre.py", mode=0o600))
    assert (verdict.code, verdict.reason, verdict.exit) == (
        "hook.denied",
        "amount is not allowed",
        1,
    )


def test_a_python_validator_that_returns_allows(tmp_path: Path) -> None:
    path = _script(tmp_path, "def validate(request): pass\n", "_pre.py", mode=0o600)
    assert _run(path).allow


def test_modules_beside_a_validator_do_not_shadow_the_library(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(0)")
    path = _script(tmp_path, "def validate(request): raise ValueError('no')\n", "_pre.py")
    assert not _run(path).allow


@pytest.mark.parametrize("call", ["os._exit(0)", "sys.exit(0)", "sys.exit()"])
def test_a_validator_that_ends_without_a_verdict_denies(tmp_path: Path, call: str) -> None:
    source = f"import os, sys\ndef validate(request): {call}\n"
    assert not _run(_script(tmp_path, source, "_pre.py")).allow


def test_a_schema_file_judges_the_parameters(tmp_path: Path) -> None:
    low = _script(tmp_path, '{"properties":{"amount":{"maximum":9}}}', "_pre.json", mode=0o600)
    verdict = _run(low)
    assert (verdict.by, verdict.code) == ("hook", "schema.mismatch")
    assert verdict.hash
    high = _script(tmp_path, '{"properties":{"amount":{"maximum":10}}}', "a_pre.json", mode=0o600)
    assert _run(high).allow


@pytest.mark.parametrize(
    ("query", "body"), [("amount=50", b'{"amount":1}'), ("", b'{"amount":1,"Amount":50}')]
)
def test_a_schema_file_reads_a_field_in_one_spelling_and_place(
    tmp_path: Path, query: str, body: bytes
) -> None:
    path = _script(tmp_path, '{"properties":{"amount":{"maximum":9}}}', "_pre.json", mode=0o600)
    request = Request("POST", replace(_REQUEST.target, query=query), _JSON, body)
    verdict = _run(path, _document(request=request))
    assert (verdict.by, verdict.code, verdict.status) == ("hook", "params.spelling", 400)


def test_a_schema_file_judges_the_reply(tmp_path: Path) -> None:
    path = _script(tmp_path, '{"required":["id"]}', "_post.json", mode=0o600)
    assert _run(path, _document(Reply(200, _JSON, b'{"id":1}'))).allow
    verdict = _run(path, _document(Reply(200, _JSON, b"{}")))
    assert (verdict.allow, verdict.status) == (False, 502)


def test_a_broken_schema_file_denies(tmp_path: Path) -> None:
    assert _run(_script(tmp_path, "{", "_pre.json")).code == "hook.failed"


def test_a_schema_over_an_encoded_body_denies_with_415(tmp_path: Path) -> None:
    path = _script(tmp_path, "{}", "_pre.json")
    request = Request("POST", _REQUEST.target, (*_JSON, (b"content-encoding", b"gzip")), b"x")
    assert _run(path, _document(request=request)).status == 415


def test_a_rule_file_judges_parameters_and_replies(tmp_path: Path) -> None:
    rules = "- deny: {host: b.example}\n- deny: {when: amount > 5}\n"
    path = _script(tmp_path, rules, "_pre.yaml", mode=0o600)
    assert _run(path).code == "rule.denied"
    assert _run(path, _document(Reply(200, _JSON, b'{"amount":1}'))).allow
    assert _run(_script(tmp_path, "- deny: {host: b.example}\n", "a_pre.yml")).allow
    assert _run(_script(tmp_path, "- deny: {host: a.example}\n", "b_pre.yml")).code == "rule.denied"


@pytest.mark.parametrize("place", ["id", "response.id"])
def test_an_assertion_about_a_reply_must_hold(tmp_path: Path, place: str) -> None:
    path = _script(tmp_path, f"- assert: {place} must exist\n", "_post.yaml", mode=0o600)
    assert _run(path, _document(Reply(200, _JSON, b'{"id":1}'))).allow
    refused = _run(path, _document(Reply(200, _JSON, b'{"no":1}')))
    assert (refused.code, refused.reason) == ("rule.denied", f"does not hold: {place} must exist")


def test_an_assertion_reads_a_reply_that_is_a_list(tmp_path: Path) -> None:
    path = _script(tmp_path, "- assert: response[0].id == 1\n", "_post.yaml", mode=0o600)
    assert _run(path, _document(Reply(200, _JSON, b'[{"id":1}]'))).allow
    assert not _run(path, _document(Reply(200, _JSON, b"[]"))).allow


@pytest.mark.parametrize(
    ("name", "text"), [("_post.json", "{}"), ("_post.yaml", "- assert: a == 1")]
)
def test_a_reply_that_cannot_be_read_is_the_upstream_s_fault(
    tmp_path: Path, name: str, text: str
) -> None:
    path = _script(tmp_path, text, name, mode=0o600)
    for reply in (Reply(200, _JSON, b"{"), Reply(200, (), b"text"), Reply(200, _JSON)):
        assert _run(path, _document(reply)).status == 502


def test_hooks_are_found_by_the_runner(tmp_path: Path) -> None:
    _script(tmp_path, "#!/bin/sh\n", "stripe_pre.sh")
    runner = HookRunner(tmp_path, 1)
    assert [hook.name for hook in runner.find("stripe", "create", "pre")] == ["stripe_pre.sh"]
    assert runner.find("stripe", "create", "post") == []


def test_an_unexpected_failure_shows_its_kind_only(tmp_path: Path) -> None:
    path = _script(tmp_path, "#!/bin/sh\n")
    verdict = _run(path, {"secret": object()})
    assert (verdict.code, verdict.reason) == ("hook.failed", "failed with TypeError")


@pytest.mark.parametrize(
    ("source", "code", "status"),
    [
        ("def validate(request):\n    return (", "hook.failed", 500),
        ("raise SystemExit(0)", "hook.failed", 500),
        ("def validate(request):\n    raise ValueError('(')", "hook.denied", 403),
        ("def validate(request):\n    raise SystemExit(3)", "hook.denied", 403),
    ],
)
def test_a_validator_that_cannot_be_loaded_is_a_failure_and_no_verdict(
    tmp_path: Path, source: str, code: str, status: int
) -> None:
    verdict = _run(_script(tmp_path, source, "_pre.py"))
    assert (verdict.allow, verdict.code, verdict.status) == (False, code, status)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("_pre.sh", "exit 0", "is not executable: chmod 700 _pre.sh"),
        ("_pre.bin", "#!/bin/sh\n", "is not executable: chmod 700 _pre.bin"),
        ("_pre.toml", "", "has no known suffix (.py .json .yaml .yml) and is not executable"),
    ],
)
def test_what_is_not_executable_is_told_with_what_mends_it(
    tmp_path: Path, name: str, text: str, reason: str
) -> None:
    verdict = _run(_script(tmp_path, text, name, mode=0o600))
    assert (verdict.code, verdict.reason) == ("hook.unknown", reason)
