"""Builds HTML that is always escaped correctly: every text that isn't of the type `Html` is escaped.

Rule: only this file writes angle brackets into a page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any

_VOID = ("meta", "br")
_DRAWN = ("rect", "line", "circle", "path", "use")  # SVG elements without content


class Html(str):
    """Text that is already markup, and so must not be escaped again."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: Any) -> Html:
    """An HTML or SVG element. The argument `class_` becomes the attribute class, and `data_at` becomes data-at. An
    attribute whose value is None or False is omitted."""
    head = name + "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{head}>")
    if name in _DRAWN and not children:
        return Html(f"<{head}/>")
    return Html(f"<{head}>{join(children)}</{name}>")


def join(parts: Iterable[str], by: str = "") -> Html:
    """The parts, joined to one text. A part that isn't `Html` is escaped."""
    return Html(by.join(part if isinstance(part, Html) else escape(part) for part in parts))


def raw(name: str, text: str, /, **attributes: Any) -> Html:
    """A style or script element. Its content isn't escaped, so it must be trusted."""
    assert f"</{name}" not in text
    return tag(name, Html(text), **attributes)


def data(name: str, value: Any) -> Html:
    """A script element that contains data as JSON, for the script of the page."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return raw("script", text, type="application/json", id=name)


def _attribute(key: str, value: Any) -> str:
    key = key.rstrip("_").replace("_", "-")
    return f" {key}" if value is True else f' {key}="{escape(str(value))}"'
