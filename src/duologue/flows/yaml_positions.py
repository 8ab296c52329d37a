"""Reads YAML as plain values, with the line of each value.

PyYAML parses the nodes. They are converted to values here, as in YAML 1.2, where `no`, `on` and `12:30` are texts.
Rule: the size of the text, and the depth and number of its values, are limited. A value that is repeated by an alias is
counted each time it occurs.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import yaml

from .problems import Path, ProblemList, quoted

CHARS_MAX = 1_000_000
DEPTH_MAX = 40
VALUES_MAX = 20_000

_ADVICE = {  # for the most frequent mistakes
    "mapping values": "a text with ': ' in it needs quotes",
    "expected ',' or": "between brackets or braces, a text with punctuation needs quotes",
    "'\\t'": "indent with spaces, not tabs",
    "'%'": "a text that begins with % needs quotes",
    "'@'": "a text that begins with @ needs quotes",
    "'`'": "a text that begins with a backtick needs quotes",
    "anchor": "a text that begins with & or * needs quotes",
    "alias": "a text that begins with & or * needs quotes",
}
_TAG = "tag:yaml.org,2002:"
_TAGS = ("str", "int", "float", "bool", "null", "timestamp", "merge", "value", "map", "seq")
_INT = re.compile(r"[-+]?(0|[1-9][\d_]{0,17})")
_FLOAT = re.compile(r"[-+]?(\d{1,18}\.\d{0,18}|\.\d{1,18})([eE][-+]?\d{1,2})?")


class Plain(NamedTuple):
    """A file as plain values, with the line of each value. The value of a key has the line of the key."""

    value: Any
    lines: dict[Path, int]


class _Refused(Exception):
    """The text was refused: it is too large, nested too deeply, or can't be parsed."""

    def __init__(self, line: int, text: str) -> None:
        self.line = line
        super().__init__(text)


def read_yaml(text: str, notes: ProblemList) -> Plain | None:
    """The values of a text; None if it isn't valid YAML. Problems are added to `notes`."""
    if len(text) > CHARS_MAX:
        notes.add_line(0, f"the file is too large; at most {CHARS_MAX:,} characters are allowed")
        return None
    try:
        root = _compose(text)
        if root is None:
            return Plain(None, {(): 1})
        return _Values(notes).read(root)
    except _Refused as error:
        notes.add_line(error.line, str(error))
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        notes.add_line(line, f"not valid YAML: the character U+{error.character:04X} isn't allowed; remove it")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        why = ", ".join(part for part in (error.context, error.problem) if part)
        advice = next((f" ({words})" for part, words in _ADVICE.items() if part in why), "")
        notes.add_line(mark.line + 1 if mark else 1, f"not valid YAML: {why}{advice}")
    return None


class _Loader(yaml.SafeLoader):
    """Composes nodes, and refuses a text that has too many nodes or is nested too deeply."""

    _depth = 0
    _count = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self._depth += 1
        self._count += 1
        if self._depth > DEPTH_MAX or self._count > VALUES_MAX:
            line = self.get_mark().line + 1
            raise _Refused(line, _too_deep() if self._depth > DEPTH_MAX else _too_many())
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _too_deep() -> str:
    return f"the values are nested too deeply; at most {DEPTH_MAX} levels are allowed"


def _too_many() -> str:
    return f"the file has too many values; at most {VALUES_MAX:,} are allowed"


def _compose(text: str) -> Any:
    loader = _Loader(text)
    try:
        return loader.get_single_node()
    except (ValueError, OverflowError):  # PyYAML doesn't check whether an escape is a valid character
        raise _Refused(
            loader.get_mark().line + 1, "not valid YAML: an escape in this line doesn't stand for a character"
        ) from None
    finally:
        loader.dispose()


class _Values:
    """Converts nodes to values. The values are counted here again, because an alias may repeat a whole tree of
    values."""

    def __init__(self, notes: ProblemList) -> None:
        self._notes = notes
        self._count = 0
        self._lines: dict[Path, int] = {}

    def read(self, root: Any) -> Plain:
        return Plain(self._value(root, (), root.start_mark.line + 1), self._lines)

    def _value(self, node: Any, path: Path, line: int) -> Any:
        self._count += 1
        if len(path) > DEPTH_MAX:
            raise _Refused(line, _too_deep())
        if self._count > VALUES_MAX:
            raise _Refused(line, f"{_too_many()}, aliases included")
        self._lines[path] = line
        tag = node.tag.removeprefix(_TAG)
        if tag not in _TAGS:
            self._notes.add_line(line, f"the tag {quoted(node.tag)} isn't supported; remove it")
        if node.id == "sequence":
            return [self._value(item, (*path, at), item.start_mark.line + 1) for at, item in enumerate(node.value)]
        if node.id == "mapping":
            return self._entries(node.value, path)
        return _scalar(self._sound(node.value, line), tag)

    def _sound(self, text: str, line: int) -> str:
        """The text without lone surrogates, which can't be encoded as UTF-8. Each of them is replaced and reported."""
        sound = text.encode("utf-8", "replace").decode("utf-8")
        if sound != text:
            self._notes.add_line(line, f"incomplete character (a lone surrogate escape) in {quoted(sound)}")
        return sound

    def _entries(self, pairs: list[tuple[Any, Any]], path: Path) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        for key, value in pairs:
            line = key.start_mark.line + 1
            if key.id != "scalar":
                self._notes.add_line(line, "a key must be a text")
                continue
            name = self._sound(key.value, line)
            if name in entries:
                first = self._lines[(*path, name)]
                self._notes.add_line(line, f"duplicate key {quoted(name)}; it is first used in line {first}")
            else:
                entries[name] = self._value(value, (*path, name), line)
        return entries


def _scalar(text: str, tag: str) -> str | int | float | bool | None:
    if tag == "null":
        return None
    if tag == "bool" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if tag == "int" and _INT.fullmatch(text):
        return int(text.replace("_", ""))
    if tag == "float" and _FLOAT.fullmatch(text):
        return float(text)
    return text
