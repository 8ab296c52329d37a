"""Says the callers' sentences of tests/callers to the flows of today: `python tools/replay_callers.py [DIALOGUE]`.

Prints how many answers say that something wasn't understood, on the day of the dialogues and today, by flow. With the
name of a dialogue, prints that dialogue with the answers of both days. Rule: this shows a direction; only a judge can
say whether an answer is right.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from duologue.dialogue.effects import HandOver
from duologue.flows.dialogue_session import DialogueSession
from duologue.flows.find_functions import find_functions
from duologue.flows.load import load_flows
from duologue.nlu.local import LocalNlu

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "callers"
TODAY = "2026-11-18T10:00"
NOT_UNDERSTOOD = ("didn't get that", "didn't understand", "Please say yes or no", "I'm not sure I can do that")


def read_dialogues() -> Iterator[dict[str, Any]]:
    """The dialogues, as they were held."""
    for line in (FOLDER / "dialogues.jsonl").read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


async def answers(flow: str, texts: list[str], nlu: LocalNlu) -> list[str]:
    """What the flows of today answer to these sentences. After the end of the call, the answers are empty."""
    file = FOLDER / f"{flow}.yaml"
    talk = DialogueSession(
        load_flows(file), find_functions(file, None), nlu, today=lambda: TODAY, now=lambda: 1_000
    )  # fmt: skip
    found, is_over = [], False
    for text in texts:
        said: list[str] = []
        if not is_over:
            async for item in talk.hear(text):
                said.append(item.reason if isinstance(item, HandOver) else item.text)
                is_over = is_over or getattr(item, "ends", False)
        found.append(" ".join(said))
    return found


def is_lost(answer: str) -> bool:
    """Does this answer say that something wasn't understood?"""
    return any(part in answer for part in NOT_UNDERSTOOD)


def main() -> None:
    """Replay all dialogues, or print one of them."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    options.add_argument("dialogue", nargs="?", help="print this one, with the answers of both days")
    chosen = options.parse_args().dialogue
    nlu, then, now, turns = LocalNlu(), Counter[str](), Counter[str](), Counter[str]()
    for dialogue in read_dialogues():
        if chosen and dialogue["dialogue"] != chosen:
            continue
        held = dialogue["turns"]
        found = asyncio.run(answers(dialogue["flow"], [turn["said"] for turn in held], nlu))
        turns[dialogue["flow"]] += len(held)
        then[dialogue["flow"]] += sum(is_lost(turn["answer"]) for turn in held)
        now[dialogue["flow"]] += sum(map(is_lost, found))
        if chosen:
            for turn, answer in zip(held, found, strict=True):
                sys.stdout.write(
                    f"caller  {turn['said']}\n  then  {turn['answer']} ({turn['mark']})\n   now  {answer}\n"
                )
    for flow in (*sorted(turns), ""):
        numbers = [counter[flow] if flow else counter.total() for counter in (turns, then, now)]
        sys.stdout.write(
            f"{flow or 'all':10} {numbers[0]:5} turns, not understood then {numbers[1]}, now {numbers[2]}\n"
        )


if __name__ == "__main__":
    main()
