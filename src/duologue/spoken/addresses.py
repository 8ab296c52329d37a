"""Web and e-mail addresses as people say them: "example dot com".

Rule: of a long address, only the host (such as example.com) is said. The words for the symbols come from the language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from .rules import RewriteRule

PATH_CHARS_MAX = 24  # a longer path isn't said
_EMAIL = r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}>?"
_URL = r"(?:https?://|www\.)[^\s<>)\]\"'”]*[^\s<>)\]\"'”.,;:!?*_]>?"
_HOST = r"(?<![\w.@/-])(?:[a-z0-9][\w-]*\.)+(?:com|org|net|io|dev|ai|app|de|es|eu|edu|gov|fr|it|uk|info)(?![\w.-]*\w)"
_PART = re.compile(r"[.@/_+-]|[^.@/_+-]+")
_SHORT = re.compile(r"[b-df-hj-np-tv-xz]{2,3}")  # no vowel: its letters are said


def address_rules(words: Mapping[str, str]) -> tuple[RewriteRule, ...]:
    """The rules for addresses. `words` holds the word that is said for each of the symbols . @ / - _ and +."""

    def say(address: str) -> str:
        said = [words.get(part) or _name(part) for part in _PART.findall(address)]
        return " ".join(said)

    def say_url(match: re.Match[str]) -> str:
        address = re.sub(r"^https?://", "", match.group().strip("<>"))
        host, _, path = address.removeprefix("www.").partition("/")
        path = re.split(r"[?#]", path)[0].strip("/")
        return say(f"{host}/{path}" if path and len(path) <= PATH_CHARS_MAX else host.split("?")[0])

    return (
        RewriteRule("[hw]", _URL, say_url),
        RewriteRule(r"[\w+-]", _EMAIL, lambda match: say(match.group().strip("<>"))),
        RewriteRule("[a-z0-9]", _HOST, lambda match: say(match.group())),
    )


def _name(part: str) -> str:
    return " ".join(part.upper()) if _SHORT.fullmatch(part) else part
