"""CONTRIBUTING.md lists every folder of the source, once, with a line on what it holds."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "duologue"


def folders() -> set[str]:
    """Every folder with a Python module, and the panel."""
    found = {str(path.parent.relative_to(SOURCE)) for path in SOURCE.rglob("*.py")} - {"."}
    return found | {"server/web"}


def listed() -> list[str]:
    """The folders of the tree, with their whole path."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tree = re.search(r"^src/duologue/\n(.*?)^tests/", text, re.DOTALL | re.MULTILINE)
    assert tree
    found: list[str] = []
    above: list[tuple[int, str]] = []
    for line in tree.group(1).splitlines():
        entry = re.fullmatch(r"( +)([\w]+)/ +(\S.*)", line)
        assert entry, f"not a folder with a description: {line!r}"
        depth = len(entry.group(1))
        above = [(indent, name) for indent, name in above if indent < depth]
        above.append((depth, entry.group(2)))
        found.append("/".join(name for _, name in above))
    return found


def test_every_folder_is_listed_once_and_none_is_missing() -> None:
    assert sorted(listed()) == sorted(folders())


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert (
        set(re.findall(r"`make ([a-z-]+)`", text)) | set(re.findall(r"^make ([a-z-]+)", text, re.MULTILINE)) <= targets
    )
