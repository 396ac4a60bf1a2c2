"""Plain values: requests, replies, verdicts."""

from __future__ import annotations

from ghost_hooks.request import Reply, Request, Verdict, header
from ghost_hooks.target import Target


def test_repeated_headers_are_joined_whatever_their_case() -> None:
    headers = ((b"Accept", b"a"), (b"accept", b"b"), (b"other", b"c"))
    assert header(headers, b"accept") == "a, b"
    assert header(headers, b"missing") == ""


def test_an_entry_names_only_what_there_is() -> None:
    assert Verdict.yes("scope", "stripe").entry() == {
        "by": "scope",
        "rule": "stripe",
        "verdict": "allow",
        "ms": 0,
    }


def test_an_entry_of_a_hook_has_hash_and_exit_status() -> None:
    verdict = Verdict("hook", "a.sh", allow=False, reason="no", hash="ab", exit=0, ms=3)
    assert verdict.entry() == {
        "by": "hook",
        "rule": "a.sh",
        "verdict": "deny",
        "ms": 3,
        "hash": "ab",
        "exit": 0,
        "reason": "no",
    }


def test_a_reason_is_one_short_line_without_controls() -> None:
    reason = Verdict.no("hook", "x", "a\r\nb\x00\u2028" + "c" * 999, code="hook.denied").entry()[
        "reason"
    ]
    assert str(reason).startswith("a b c")
    assert len(str(reason)) == 300


def test_a_flag_does_not_stop_a_call() -> None:
    flag = Verdict.no("hook", "x", "late", code="hook.denied").flagged()
    assert flag.allow
    assert flag.verdict == "flag"


def test_bodies_do_not_show_in_a_representation() -> None:
    request = Request("POST", Target("https", "a.example", 443), body=b"secret-body")
    assert "secret-body" not in repr(request)
    assert "secret-body" not in repr(Reply(200, body=b"secret-body"))
