"""Speech tags that the writer of a text may use: `<break time="500ms"/>`, `<speed ratio="0.8">`,
`<volume ratio="1.2">`, `<emotion value="calm">` and `<phoneme ph="nəki">`.

The tags are taken out of the written text, so captions and the history never contain them. A tag such as
`<speed ratio="0.8"/>` applies up to the end of the sentence. Rule: a tag with a value that isn't allowed is left out,
and its words are said as usual.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

BREAK_MS_MAX = 3_000
SPEED_MIN, SPEED_MAX = 0.6, 1.5
VOLUME_MIN, VOLUME_MAX = 0.5, 2.0
_NAMES = "break|speed|volume|emotion|phoneme"
_TAG = re.compile(rf"<(?:(?P<end>/)(?P<closed>{_NAMES})\s*|(?P<name>{_NAMES})(?P<given>\s[^<>]*?)?(?P<alone>/)?)>")
_ATTRIBUTE = re.compile(r"([\w-]+)\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)')")
_PART_OF_TAG = re.compile(r"</?[a-z]{0,7}$")  # it may become a tag
_UNFINISHED = re.compile(rf"<(?:{_NAMES})\b[^<>]*$")
END_TAG = rf"</(?:{_NAMES})\s*>|<break\s[^<>]*>"
"""A tag that may follow the last punctuation mark of a sentence."""
UNFINISHED_TAG = rf"(?:</?[a-z]{{0,7}}|<(?:{_NAMES})\b[^<>]*)"
"""A tag whose end hasn't arrived."""
_WORDS = re.compile(r"[a-zA-Z][a-zA-Z _-]{0,39}")
_TIME = re.compile(r"(\d{1,5}(?:\.\d{1,3})?)(ms|s)")
_IPA = re.compile(r"[^\d\"'<>&{}\[\]]{1,60}")


class WrittenTag(NamedTuple):
    """A tag with the stretch of the written text to which it applies."""

    kind: str
    value: str
    start: int
    end: int


def read_tags(text: str) -> tuple[str, tuple[WrittenTag, ...]]:
    """The text without its speech tags, and the tags. Other markup isn't changed."""
    if "<" not in text:
        return text, ()
    written, found, at = "", list[WrittenTag](), 0
    open_tags = list[tuple[str, int]]()  # the name, and the number in `found`; -1 for a tag that is left out
    for match in _TAG.finditer(text):
        written += text[at : match.start()]
        at = match.end()
        if match["end"]:
            _close(open_tags, match["closed"], found, len(written))
            continue
        name, value = match["name"], _value(match["name"], match["given"] or "")
        number = len(found) if value else -1
        if value:
            kind = "phonemes" if name == "phoneme" else name
            found.append(WrittenTag(kind, value, len(written), len(written)))
        if written[-1:].strip() == "" and text[at : at + 1].isspace():
            at += 1  # the spaces before and after a tag are one space
        if name != "break" and not (name == "phoneme" and match["alone"]):
            open_tags.append((name, number))
    written += text[at:]
    while open_tags:
        _close(open_tags, open_tags[-1][0], found, len(written))
    said = (tag for tag in found if tag.kind == "break" or written[tag.start : tag.end].strip())
    return written, tuple(sorted(said, key=lambda tag: (tag.start, -tag.end)))


def without_tags(text: str) -> str:
    """The text as it is shown."""
    return read_tags(text)[0]


def is_in_tag(text: str) -> bool:
    """Does this text end within a tag?"""
    return _UNFINISHED.search(text) is not None


def bare(text: str) -> str:
    """A piece of a text without speech tags. A tag that is cut off at the end of the piece is removed too."""
    return _PART_OF_TAG.sub("", _UNFINISHED.sub("", _TAG.sub("", text))) if "<" in text else text


def without_spaces_in_tags(text: str) -> str:
    """The text with another character instead of each space in a tag. It has the same length, so it shows where the
    text may be cut."""
    if "<" not in text:
        return text
    for pattern in (_TAG, _UNFINISHED):
        text = pattern.sub(lambda match: re.sub(r"\s", "_", match.group()), text)
    return text


def has_tags(text: str) -> bool:
    """Does this text contain a speech tag?"""
    return "<" in text and _TAG.search(text) is not None


def _close(open_tags: list[tuple[str, int]], name: str, found: list[WrittenTag], end: int) -> None:
    """End the newest open tag with this name, and all tags that were opened within it."""
    if name not in (one for one, _ in open_tags):
        return
    while open_tags:
        closed, number = open_tags.pop()
        if number >= 0:
            found[number] = found[number]._replace(end=end)
        if closed == name:
            return


def _value(name: str, given: str) -> str:
    """The value of a tag in the form that voices get; empty if it isn't allowed."""
    attribute, read = _READ[name]
    values = {
        match[1].lower(): (match[2] if match[2] is not None else match[3]) for match in _ATTRIBUTE.finditer(given)
    }
    return read(values.get(attribute, "").strip())


def _time(value: str) -> str:
    match = _TIME.fullmatch(value)
    if match is None:
        return ""
    ms = round(float(match[1]) * (1 if match[2] == "ms" else 1000))
    return str(min(ms, BREAK_MS_MAX)) if ms > 0 else ""


def _factor(lowest: float, highest: float) -> Callable[[str], str]:
    def read(value: str) -> str:
        try:
            factor = float(value)
        except ValueError:
            return ""
        return f"{min(max(factor, lowest), highest):g}" if factor > 0 else ""

    return read


def _name(value: str) -> str:
    return value if _WORDS.fullmatch(value) else ""


def is_ipa(value: object) -> bool:
    """Could this be a pronunciation in IPA?"""
    return isinstance(value, str) and _IPA.fullmatch(value) is not None


def _ipa(value: str) -> str:
    return value if is_ipa(value) else ""


_READ: dict[str, tuple[str, Callable[[str], str]]] = {
    "break": ("time", _time),
    "speed": ("ratio", _factor(SPEED_MIN, SPEED_MAX)),
    "volume": ("ratio", _factor(VOLUME_MIN, VOLUME_MAX)),
    "emotion": ("value", _name),
    "phoneme": ("ph", _ipa),
}
