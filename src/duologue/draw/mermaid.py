"""Writes a diagram as a Mermaid `stateDiagram-v2`, for pages that render Mermaid themselves.

Mermaid's state diagrams have no dashed lines, so the label of an amended move says "(amended)". Rule: ids
are plain words, and special characters in labels are escaped.
"""

from __future__ import annotations

import json
import re

from .graph import REGIONS, Diagram, region_diagram

_INDENT = "    "
_RESERVED = ("as", "class", "classdef", "click", "default", "direction", "end", "hide", "note", "state", "style")
_ODD = re.compile(r"(?!(?<=\w):(?=\w))[^A-Za-z0-9_ ,.()\[\]'/-]")  # a colon inside a word is allowed: timer:beat


def to_mermaid(diagram: Diagram) -> str:
    """The Mermaid text of one region or view. Each reason for a move is a label."""
    head = ["---", f"title: {json.dumps(diagram.title)}", "---", "stateDiagram-v2"]
    return "\n".join([*head, *_body(diagram, "", labelled=True), ""])


def machine_mermaid() -> str:
    """The Mermaid text of the whole machine: all regions, inside one state. Moves have no labels, because there would
    be too many."""
    lines = ["stateDiagram-v2", f'{_INDENT}state "conversation" as conversation {{']
    for number, (name, region) in enumerate(REGIONS.items()):
        if number:
            lines.append(f"{_INDENT * 2}--")
        lines.append(f'{_INDENT * 2}state "{_escaped(name)}" as {_id(name)} {{')
        diagram = region_diagram(region)
        lines += [f"{_INDENT * 2}{line}" for line in _body(diagram, f"{name}_", labelled=False)]
        lines.append(f"{_INDENT * 2}}}")
    return "\n".join([*lines, f"{_INDENT}}}", ""])


def _body(diagram: Diagram, prefix: str, labelled: bool) -> list[str]:
    ids = _ids(diagram, prefix)
    lines = [f'{_INDENT}state "{_escaped(name)}" as {known_as}' for name, known_as in ids.items()]
    lines += [f"{_INDENT}[*] --> {ids[node.name]}" for node in diagram.nodes if node.start]
    for (source, target), labels in _moves(diagram).items():
        label = f" : {'<br/>'.join(labels)}" if labelled and labels else ""
        lines.append(f"{_INDENT}{ids[source]} --> {ids[target]}{label}")
    return lines


def _moves(diagram: Diagram) -> dict[tuple[str, str], list[str]]:
    """For each pair of source and target, the labels of the arrow between them. An amended move has the additional
    label "(amended)"."""
    moves: dict[tuple[str, str], list[str]] = {}
    for edge in diagram.edges:
        labels = moves.setdefault((edge.source, edge.target), [])
        labels += ["(amended)"] if edge.kind == "amended" else []
        labels += [_escaped(label) for label in edge.labels]
    return moves


def _ids(diagram: Diagram, prefix: str) -> dict[str, str]:
    """A unique Mermaid id for each state. The id is `prefix` and the name of the state; characters that Mermaid doesn't
    allow are replaced."""
    ids: dict[str, str] = {}
    for node in diagram.nodes:
        known_as = _id(f"{prefix}{node.name}")
        while known_as in ids.values():
            known_as += "_"
        ids[node.name] = known_as
    return ids


def _id(name: str) -> str:
    word = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if not word[:1].isalpha():
        return f"state_{word}"
    return f"{word}_" if word.lower() in _RESERVED else word


def _escaped(text: str) -> str:
    """The text with its special characters replaced by Mermaid entities of the form `#code;`."""
    return _ODD.sub(lambda found: f"#{ord(found[0])};", " ".join(text.split()))
