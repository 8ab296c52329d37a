"""Rewrite replies as STT would: `python tools/roughen_replies.py FILE.jsonl OUT.jsonl [--hesitations] [--seed 5]`.

Removes capitals and punctuation; with `--hesitations` it also inserts one to three hesitations such as "uh" into
each reply. Rule: the meaning of a reply stays the same, so its expected values stay valid.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from pathlib import Path

HESITATIONS = ("uh", "um", "er", "hmm", "well", "oh")
_STOPS = re.compile(r"[.,!?;]+(\s|$)")


def plain(reply: str) -> str:
    """The reply without capitals and punctuation."""
    return _STOPS.sub(" ", reply).strip().lower()


def hesitant(reply: str, chance: random.Random) -> str:
    """The reply with hesitations at random places."""
    words = reply.split()
    for _ in range(chance.randint(1, 3)):
        words.insert(chance.randint(0, len(words)), chance.choice(HESITATIONS))
    return " ".join(words)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file", type=Path, help="the replies, one JSON object per line")
    options.add_argument("out", type=Path, help="the file to write")
    options.add_argument("--hesitations", action="store_true", help="insert hesitations")
    options.add_argument("--seed", type=int, default=5, help="the seed of the hesitations")
    given = options.parse_args()
    chance = random.Random(given.seed)
    lines = []
    for line in given.file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        reply = plain(row["reply"])
        lines.append(json.dumps({**row, "reply": hesitant(reply, chance) if given.hesitations else reply}))
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
