"""An HTML page as a browser would read it, and the demand that nothing in it acts."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import override

_LOADING = {
    "src",
    "srcset",
    "action",
    "formaction",
    "data",
    "poster",
    "ping",
    "background",
    "xmlns",
}
_VOID = {"meta", "br"}


class Page(HTMLParser):
    """What a browser would see of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    @override
    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    def attributes(self) -> list[tuple[str, str | None]]:
        return [item for _, attrs in self.tags for item in attrs.items()]

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


def is_inert(text: str) -> Page:
    parsed = Page(text)
    assert not parsed.open
    assert not {tag for tag, _ in parsed.tags} & {
        "script",
        "iframe",
        "object",
        "embed",
        "link",
        "img",
    }
    for name, value in parsed.attributes():
        assert not name.startswith("on")
        assert name not in _LOADING
        assert name != "style"
        assert name != "href" or (value or "").startswith("#")
    return parsed
