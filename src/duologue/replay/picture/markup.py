"""Markup that is safe by construction: whatever is not markup already is escaped when it goes in.

Rule: no other file of this package writes an angle bracket into a page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any

_VOID = ("meta", "br")
_DRAWN = ("rect", "line", "circle", "path", "use")  # elements of SVG without content


class Html(str):
    """Text that is markup."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: Any) -> Html:
    """An element. `class_` is written class, `data_at` is data-at; None and False leave one out."""
    head = name + "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{head}>")
    if name in _DRAWN and not children:
        return Html(f"<{head}/>")
    return Html(f"<{head}>{join(children)}</{name}>")


def join(parts: Iterable[str], by: str = "") -> Html:
    """The parts one after the other, each escaped unless it is markup."""
    return Html(by.join(part if isinstance(part, Html) else escape(part) for part in parts))


def raw(name: str, text: str, /, **attributes: Any) -> Html:
    """A style or a script of our own."""
    assert f"</{name}" not in text
    return tag(name, Html(text), **attributes)


def data(name: str, value: Any) -> Html:
    """Values for the script, which no browser runs or reads as markup."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return raw("script", text, type="application/json", id=name)


def _attribute(key: str, value: Any) -> str:
    key = key.rstrip("_").replace("_", "-")
    return f" {key}" if value is True else f' {key}="{escape(str(value))}"'
