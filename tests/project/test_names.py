"""One name, one meaning: no two public classes of the product share a name."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "duologue"
SHARED = {
    "Voice": "a region of the machine (`Voice.PLAYING`), and the port that speaks; rows read best with the short name",
}


def test_no_two_classes_share_a_name() -> None:
    places = defaultdict(list)
    for path in sorted(SRC.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(SRC)))
    assert {name for name, found in places.items() if len(found) > 1} == set(SHARED)
