"""How fast replies are scrubbed: MB/s of clean streams, µs of a 1 KB reply; one JSON object on stdout."""

from __future__ import annotations

import gzip
import json
import secrets
import sys
import time
from collections.abc import Callable, Iterable

from ghost_core.secret import SecretBytes
from ghost_credentials.reply import ReplyScrubber
from ghost_credentials.scrub import Scrubber

SECRETS = (
    b"sk_live_" + secrets.token_hex(24).encode(),
    b"ghp_" + secrets.token_hex(18).encode(),
    secrets.token_urlsafe(48).encode(),
)
MANY = tuple(b"pw!%d&" % index + secrets.token_hex(16).encode() for index in range(20))
CHUNK = 1 << 16
ROUNDS = 5


def main() -> None:
    scrubber = Scrubber([SecretBytes(secret) for secret in SECRETS])
    reply = document(4)[:1024]
    echo = reply[:500] + SECRETS[0] + reply[500:]
    body = document(20_000)
    many = Scrubber([SecretBytes(secret) for secret in MANY])
    escaped = b'{"t":"Gr\\u00f6\\u00dfe \\\\ \\"100%25\\" &amp; \\n"},' + body.replace(
        b"fox", b"\\u00e9\\/%20&lt;"
    )
    packed, noise = gzip.compress(body), secrets.token_bytes(len(body))
    events = [b'data: {"delta": {"text": "word %d \\u00e9"}}\n\n' % index for index in range(2000)]
    result = {
        "schema": "ghost/bench-scrub/v1",
        "secrets": len(SECRETS),
        "forms": int(repr(scrubber).split("(")[1].split()[0]),
        "stream_mb_per_s": rate(body, lambda: stream(scrubber, cut(body))),
        "escaped_20_secrets_mb_per_s": rate(escaped, lambda: stream(many, cut(escaped))),
        "random_mb_per_s": rate(noise, lambda: stream(scrubber, cut(noise))),
        "gzip_mb_per_s": rate(body, lambda: decoded(scrubber, cut(packed))),
        "event_us": micros(lambda: stream(scrubber, events)) / len(events),
        "reply_1kb_us": micros(lambda: scrubber.clean(reply)),
        "reply_1kb_with_secret_us": micros(lambda: scrubber.clean(echo)),
        "prepare_us": micros(lambda: Scrubber([SecretBytes(secret) for secret in SECRETS])),
    }
    shown = {
        name: round(each, 1) if isinstance(each, float) else each for name, each in result.items()
    }
    sys.stdout.write(json.dumps(shown, indent=2) + "\n")


def document(rows: int) -> bytes:
    """JSON as an API sends it: text, escapes, hex and base64."""
    return json.dumps(
        [
            {
                "id": f"ch_{index}",
                "text": 'The "quick" brown fox \n jumps over é 100% of /dogs/',
                "digest": secrets.token_hex(20),
                "data": secrets.token_urlsafe(45),
                "amount": index * 7,
            }
            for index in range(rows)
        ]
    ).encode()


def cut(data: bytes) -> list[bytes]:
    return [data[at : at + CHUNK] for at in range(0, len(data), CHUNK)]


def stream(scrubber: Scrubber, parts: Iterable[bytes]) -> None:
    found = scrubber.stream()
    for part in parts:
        found.feed(part)
    found.finish()


def decoded(scrubber: Scrubber, parts: Iterable[bytes]) -> None:
    found = ReplyScrubber(lambda: scrubber, b"gzip")
    for part in parts:
        found.feed(part)
    found.finish()


def rate(body: bytes, work: Callable[[], object]) -> float:
    return len(body) / micros(work, repeat=1)


def micros(work: Callable[[], object], *, repeat: int = 20) -> float:
    """The best of some rounds, µs of processor time per call."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time_ns()
        for _ in range(repeat):
            work()
        best = min(best, (time.process_time_ns() - start) / 1000 / repeat)
    return best


if __name__ == "__main__":
    main()
