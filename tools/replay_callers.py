"""Says the callers' sentences of tests/callers to the flows of today: `python tools/replay_callers.py [DIALOGUE]`.

Prints how many answers say that something wasn't understood, on the day of the dialogues and today, by flow. With the
name of a dialogue, prints that dialogue with the answers of both days. With `--in-step`, a sentence is said only if the
agent asks what it asked before that sentence; otherwise the next sentence that fits is said, and after the last one the
dialogue ends. Rule: this shows a direction; only a judge can say whether an answer is right.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from duologue.dialogue.effects import HandOver
from duologue.flows.dialogue_session import DialogueSession
from duologue.flows.find_functions import find_functions
from duologue.flows.load import load_flows
from duologue.nlu.local import LocalNlu

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "callers"
TODAY = "2026-11-18T10:00"
ALIKE_MIN = 0.75  # how similar two questions are that ask the same, with other values in them
AHEAD_MAX = 6
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


def _question(answer: str) -> str:
    """The question at the end of an answer."""
    return re.split(r"(?<=[.?!])\s+", answer.strip())[-1].casefold()


def _is_same(asked: Iterable[str], before: str) -> bool:
    """Is one of these the question that was asked before the sentence?"""
    return any(one == before or SequenceMatcher(None, one, before).ratio() >= ALIKE_MIN for one in asked)


async def in_step(flow: str, turns: list[dict[str, Any]], nlu: LocalNlu) -> list[str]:
    """The answers of today to the sentences that still answer the open question."""
    file = FOLDER / f"{flow}.yaml"
    talk = DialogueSession(
        load_flows(file), find_functions(file, None), nlu, today=lambda: TODAY, now=lambda: 1_000
    )  # fmt: skip
    before = ["", *(_question(turn["answer"]) for turn in turns)]
    asked, plain, found, at = {""}, dict[str, str](), list[str](), 0
    while at < len(turns):
        said, is_over = list[str](), False
        async for item in talk.hear(turns[at]["said"]):
            said.append(item.reason if isinstance(item, HandOver) else item.text)
            is_over = is_over or getattr(item, "ends", False)
        found.append(" ".join(said))
        slot, question = talk.state.waiting_for, _question(found[-1])
        if slot is not None and not talk.state.among:
            plain[slot] = question
        asked = {question, plain.get(slot, question) if slot is not None else question}
        ahead = range(at + 1, min(at + 1 + AHEAD_MAX, len(turns)))
        at = next((one for one in ahead if not talk.state.stack or _is_same(asked, before[one])), len(turns))
        if is_over:
            break
    return found


def is_lost(answer: str) -> bool:
    """Does this answer say that something wasn't understood?"""
    return any(part in answer for part in NOT_UNDERSTOOD)


def main() -> None:
    """Replay all dialogues, or print one of them."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    options.add_argument("dialogue", nargs="?", help="print this one, with the answers of both days")
    options.add_argument("--in-step", action="store_true", help="say only what still answers the open question")
    given = options.parse_args()
    chosen = given.dialogue
    nlu, then, now, turns = LocalNlu(), Counter[str](), Counter[str](), Counter[str]()
    for dialogue in read_dialogues():
        if chosen and dialogue["dialogue"] != chosen:
            continue
        held = dialogue["turns"]
        if given.in_step:
            found = asyncio.run(in_step(dialogue["flow"], held, nlu))
            turns[dialogue["flow"]] += len(found)
            now[dialogue["flow"]] += sum(map(is_lost, found))
            continue
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
        then_too = "" if given.in_step else f" then {numbers[1]}, now"
        sys.stdout.write(f"{flow or 'all':10} {numbers[0]:5} turns, not understood{then_too} {numbers[2]}\n")


if __name__ == "__main__":
    main()
