"""Split a file of replies into two halves by dialogue: one to develop rules with, one to check them.

    python tools/halve_replies.py replies.dev.jsonl build/

Rule: a dialogue is never in both halves, and the split is the same every time.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

SEED = 7


def halve(rows: list[str]) -> tuple[list[str], list[str]]:
    """The rows of one half of the dialogues, and the other rows."""
    dialogue_of = [json.loads(row)["id"].rsplit(".", 1)[0] for row in rows]
    dialogues = sorted(set(dialogue_of))
    random.Random(SEED).shuffle(dialogues)
    first = set(dialogues[: len(dialogues) // 2])
    written = [row for row, dialogue in zip(rows, dialogue_of, strict=True) if dialogue in first]
    checked = [row for row, dialogue in zip(rows, dialogue_of, strict=True) if dialogue not in first]
    return written, checked


def main() -> None:
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    halves = halve(source.read_text(encoding="utf-8").splitlines())
    for name, rows in zip(("written", "checked"), halves, strict=True):
        (folder / f"replies.{name}.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
