"""YAML files with the line of every value, read by the rules of YAML 1.2: `no`, `on` and `12:30` are text.

Rule: a problem is noted with its line, and a file that isn't YAML or is too large is never used.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from duologue.core.errors import DuologueError

from .scenario_steps import Note, YamlNode

NODES_MAX = 10_000  # a few YAML aliases can expand to millions of nodes
_ADVICE = {  # for the most frequent mistakes
    "mapping values": "a text with ': ' in it needs quotes",
    "expected ',' or": "between brackets or braces, a text with punctuation needs quotes",
    "'\\t'": "indent with spaces",
}
_TAG = "tag:yaml.org,2002:"
_INT = re.compile(r"[-+]?\d[\d_]{0,17}")
_FLOAT = re.compile(r"[-+]?(\d+\.\d*|\.\d+)([eE][-+]?\d{1,3})?")


def article(what: str) -> str:
    """This word with "a" or "an" before it."""
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"


def read_yaml(file: Path, note: Note, what: str, keys: str, needs: str) -> YamlNode | None:
    """Read the file as nodes with their lines. If the file can't be read or isn't a mapping, notes the problem and
    returns None. `what`, `keys` and `needs` are used in messages: the kind of file, some of its keys, and the keys that
    it must have."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        note(0, error.strerror or "can't be read")
        return None
    except UnicodeDecodeError:
        note(0, "not a text file in UTF-8")
        return None
    try:
        root = _compose(text, note, what)
    except RecursionError:
        note(1, "nested too deeply")
        return None
    if root is not None and root.is_missing:
        note(1, f"the file is empty: {article(what)} needs {needs}")
    elif root is not None and root.entries is None:
        note(root.line, f"{article(what)} is a mapping of {keys} and so on, not {root.shown}")
    return root if root is not None and root.entries is not None else None


def _compose(text: str, note: Note, what: str) -> YamlNode | None:
    """Parse the text with PyYAML, but convert its values by the rules of YAML 1.2. If the text isn't YAML, notes the
    problem and returns None."""
    try:
        import yaml
    except ModuleNotFoundError:
        raise DuologueError(f"{what} files need PyYAML: pip install 'duologue[testing]'") from None
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.reader.ReaderError as error:
        note(text.count("\n", 0, error.position) + 1, f"not YAML: {error.reason}")
        return None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        why = ", ".join(part for part in (error.context, error.problem) if part)
        advice = next((f" ({text})" for part, text in _ADVICE.items() if part in why), "")
        note(mark.line + 1 if mark else 1, f"not YAML: {why}{advice}")
        return None
    return _Nodes(note).read(root) if root is not None else YamlNode(1)


class _Nodes:
    """Converts PyYAML's nodes to YamlNodes, and notes everything that isn't allowed in such files."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self._count = 0

    def read(self, node: Any, line: int = 0) -> YamlNode:
        self._count += 1
        line = line or node.start_mark.line + 1
        if self._count == NODES_MAX:
            self._note(line, f"too large: more than {NODES_MAX} values")
        if self._count >= NODES_MAX:
            return YamlNode(line)
        tag = node.tag.removeprefix(_TAG)
        if node.tag == tag or "/" in tag:
            self._note(line, f"the tag {node.tag} is not supported")
        if node.id == "sequence":
            return YamlNode(line, items=tuple(self.read(item) for item in node.value))
        if node.id == "mapping":
            return YamlNode(line, entries=self._read_entries(node.value))
        return YamlNode(line, node.value, _value(node.value, tag))

    def _read_entries(self, pairs: list[tuple[Any, Any]]) -> dict[str, YamlNode]:
        entries: dict[str, YamlNode] = {}
        for key, value in pairs:
            line = key.start_mark.line + 1
            if key.id != "scalar":
                self._note(line, "a key must be text")
            elif key.value in entries:
                self._note(line, f"duplicate key {key.value!r}; first in line {entries[key.value].line}")
            else:
                entries[key.value] = self.read(value, line)
        return entries


def _value(text: str, tag: str) -> object:
    """The value of a scalar by the rules of YAML 1.2: `no`, `on` and `12:30` are text."""
    if tag == "null":
        return None
    if tag == "bool" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if tag == "int" and _INT.fullmatch(text):
        return int(text.replace("_", ""))
    if tag == "float" and _FLOAT.fullmatch(text):
        return float(text)
    return text
