"""Stored payloads as text: HTTP/1.1-style head and body, read tolerantly and shown without loss."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Message", "parse", "readable"]


@dataclass(frozen=True, slots=True)
class Message:
    """A start line, headers in their order, and a body; `encoding` tells how the text was made."""

    start: str
    headers: tuple[tuple[str, str], ...]
    body: str
    encoding: str


def parse(data: bytes) -> Message:
    """Split head and body at the first empty line; whatever the bytes are, nothing is lost."""
    head, _, body = data.partition(b"\r\n\r\n")
    lines, encoding = readable(head)
    content, of_body = readable(body)
    start, *rest = lines.split("\r\n")
    escaped = "escaped" in (encoding, of_body)
    headers = tuple(_header(line) for line in rest if line)
    return Message(start, headers, content, "escaped" if escaped else "utf-8")


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    return (name, value.strip(" \t")) if colon else ("", line)


def readable(data: bytes) -> tuple[str, str]:
    r"""Return text and `utf-8`, or with every other byte as `\xNN`, each backslash doubled, `escaped`."""
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        doubled = data.replace(b"\\", b"\\\\")
        return doubled.decode("utf-8", "backslashreplace"), "escaped"
