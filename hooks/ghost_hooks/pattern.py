"""Patterns of hosts, paths, methods and names, as scopes, tools and rules spell them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Self

from ghost_core import wildcard
from ghost_core.errors import DeniedError, UsageError
from ghost_hooks.host import canonical_host
from ghost_hooks.path import canonical_path, folded, readings

ANY = "*"
_METHOD = re.compile(r"[A-Z][A-Z-]{0,30}\Z")
_WILD = re.compile(r"\*|\{[A-Za-z0-9_.-]+\}")
_REST = "/**"
_PARAMETERS = re.compile(r";(?:(?!/|%2F).)*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Methods:
    """A set of methods; empty means every one. HEAD counts as GET."""

    names: frozenset[str]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `GET,POST` or `*`; raises UsageError."""
        names = [part.strip().upper() for part in text.split(",")]
        if ANY in names:
            return cls(frozenset())
        for name in names:
            if not is_method(name):
                raise UsageError(
                    f"method {name!r}: expected upper-case letters", code="scope.method"
                )
        return cls(frozenset(effective(name) for name in names))

    def match(self, method: str) -> bool:
        """Tell whether the method is in the set."""
        return not self.names or effective(method) in self.names

    def covers(self, other: Methods) -> bool:
        """Tell whether the other set lies within this one."""
        return not self.names or (bool(other.names) and other.names <= self.names)


def effective(method: str) -> str:
    """Return the method that scopes judge: HEAD is GET without a body (RFC 9110 §9.3.2)."""
    return "GET" if method == "HEAD" else method


def is_method(text: str) -> bool:
    """Tell whether the text is a method that may pass; CONNECT and TRACE never do."""
    return _METHOD.match(text) is not None and text not in {"CONNECT", "TRACE"}


@dataclass(frozen=True, slots=True)
class HostPattern:
    """A host, `*.name` for its subdomains, or `*`."""

    text: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a pattern; raises UsageError if the host in it is not one."""
        if text == ANY:
            return cls(ANY)
        wild, name = ("*.", text[2:]) if text.startswith("*.") else ("", text)
        try:
            return cls(wild + canonical_host(name))
        except DeniedError as error:
            raise UsageError(f"host {text!r}: {error.message}", code="scope.host") from error

    @property
    def wild(self) -> bool:
        """Whether the pattern is more than one host."""
        return self.text.startswith(ANY)

    def allows(self, host: str) -> bool:
        """Match as an allowance: `*.` stands for exactly one label."""
        if not self.wild or self.text == ANY:
            return self.text in {ANY, host}
        label, dot, rest = host.partition(".")
        return bool(label and dot) and rest == self.text[2:]

    def denies(self, host: str) -> bool:
        """Match as a refusal: `*.` stands for any number of labels."""
        if not self.wild or self.text == ANY:
            return self.text in {ANY, host}
        return host.endswith(self.text[1:])

    def covers(self, other: HostPattern) -> bool:
        """Tell whether every host that the other allows is allowed here."""
        if other.wild:
            return self.text in {ANY, other.text}
        return self.allows(other.text)


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A path where `*` and `{name}` stand for characters of one segment, a last `/**` for the rest."""

    text: str
    regex: re.Pattern[str] = field(compare=False, repr=False)
    folded: re.Pattern[str] = field(compare=False, repr=False)
    loose: re.Pattern[str] = field(compare=False, repr=False)
    weight: tuple[int, int, int]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a pattern; raises UsageError for one that no canonical path can match."""
        body, rest = (text[:-3], _REST) if text.endswith(_REST) else (text, "")
        if "**" in body or (body and not body.startswith("/")):
            raise UsageError(
                f"path {text!r}: expected /a/path, with ** only as the last segment",
                code="scope.path",
            )
        wilds = _WILD.findall(body)
        literals = _literals(body, text)
        regex = wildcard.compiled(literals, rest=bool(rest))
        plain = list(map(folded, literals))
        strict = wildcard.compiled(plain, rest=bool(rest))
        loose = wildcard.compiled(plain, rest=bool(rest), any_case=True)
        shown = "".join(a + b for a, b in zip(literals, [*wilds, ""], strict=True)) + rest
        weight = (not rest, sum(map(len, literals)), -len(wilds))
        return cls(shown, regex, strict, loose, weight)

    def match(self, path: str) -> bool:
        """Tell whether a canonical path matches.

        Segment parameters (`;v=1`), which some servers drop, match only where the pattern has them.
        """
        if ";" in path and ";" not in self.text:
            return False
        return self.regex.match(path) is not None

    def match_folded(self, path: str) -> bool:
        """Tell whether a path without escapes matches, as a server reads it that decodes first."""
        return self.folded.match(path) is not None

    def denies(self, path: str) -> bool:
        """Match as a refusal: however a server reads escapes, cases, parameters and a last slash."""
        if self.regex.match(path) is not None:
            return True
        for plain in readings(path):
            bare = _PARAMETERS.sub("", plain).rstrip("/")
            if any(map(self.loose.match, (plain, bare, bare + "/"))):
                return True
        return False

    def same_but(self, other: PathPattern) -> bool:
        """Tell whether two patterns differ by case or a last slash at most."""
        return self.text.rstrip("/").lower() == other.text.rstrip("/").lower()

    def covers(self, other: PathPattern) -> bool:
        """Tell whether every path of the other matches here.

        Wildcards stand for one or more characters, so a wildcard of the other, read as plain text,
        can only be taken by one of ours. A last `/**` of the other also stands for nothing, so ours has to
        match what is before it.
        """
        if not other.text.endswith(_REST):
            return self.match(other.text)
        return self.text.endswith(_REST) and self.match(other.text.removesuffix(_REST) or "/")


def _literals(body: str, text: str) -> list[str]:
    """Return the parts between wildcards in canonical spelling."""
    marked = _WILD.sub("~~", body)
    if "~~" in body or "?" in body or "#" in body:
        raise UsageError(f"path {text!r}: expected no query, # or ~~", code="scope.path")
    try:
        return canonical_path(marked).split("~~") if body else [""]
    except DeniedError as error:
        raise UsageError(f"path {text!r}: {error.message}", code="scope.path") from error


def name_glob(text: str) -> re.Pattern[str]:
    """Return the expression of a name in which `*` stands for any characters."""
    return re.compile(".*".join(map(re.escape, text.split(ANY))) + r"\Z", re.DOTALL)
