"""Measures what task dialogues cost: reading short, long and huge replies, and playing whole random dialogues.

Nothing waits for another process, so CPU time is the only cost. Rule: there are replies for every grammar, and a reply
may also fill the other slots of its flow, as in a conversation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from duologue.dialogue.english import Choice, NameList, Question, Slot, SlotKind, read, read_confirmation
from duologue.lab.check.dialogue.domains import SCENES
from duologue.lab.sim.random_dialogues import random_dialogue

from .budget import Budget

BUDGETS: tuple[Budget, ...] = (
    Budget("reply_cpu_ms_mean", "a plain reply read by the grammars, mean of all kinds", 1, "ms"),
    Budget("reply_cpu_ms_slowest", "a plain reply read by the grammars, slowest", 1, "ms"),
    Budget("longest_cpu_ms", "the longest reply that is read (480 characters), slowest kind of slot", 100, "ms"),
    Budget("huge_cpu_ms", "refusing a reply of 100 kB, slowest kind of slot", 10, "ms"),
    Budget("dialogues_per_cpu_s", "random dialogues with every law checked", 100, "a second of CPU", at_least=True),
)
NOTE = (
    "CPU of this process. A dialogue is about twenty events, each checked against the explorer's laws; the scene that "
    "loops forever is omitted."
)
_SCENES = [scene for name, scene in SCENES.items() if name != "loops"]
TODAY = "2026-03-04"
REPLIES: dict[SlotKind, tuple[str, ...]] = {
    SlotKind.DATE: ("tomorrow", "the fifth of may, please", "friday next week"),
    SlotKind.TIME: ("I'd like to come at half past six in the evening, please", "around noon"),
    SlotKind.NUMBER: ("there will be twenty one of us", "a couple"),
    SlotKind.DURATION: ("an hour and a half", "three nights"),
    SlotKind.MONEY: ("fifty bucks", "two euros and ten cents"),
    SlotKind.YES_NO: ("yes please", "I'd rather not"),
    SlotKind.CHOICE: ("the dark blue one", "the last one"),
    SlotKind.NAME: ("uh, New York", "in port louis please"),
    SlotKind.PHONE: ("five five five oh one double two",),
    SlotKind.EMAIL: ("anna dot k at example dot com",),
    SlotKind.CODE: ("it's B as in boat, seven, double nine",),
}
_LONG = ("one ", "half past ", "the 5th of ", "double ", "Paris ", "no ")
_ROUNDS = 40
_NAMES = NameList.of(["Paris", "New York", "Port Louis", "The Hague", "Saint-Denis"])
_SLOTS = tuple(
    Slot(f"{kind}_slot", kind, choices=(Choice("red"), Choice("dark blue", ("navy",))), names=_NAMES)
    for kind in SlotKind
)


def bench_dialogue(dialogues: int, progress: Callable[[str], None] = lambda what: None) -> dict[str, Any]:  # noqa: ARG005
    """Measure everything. `dialogues` is the number of random dialogues per scene."""
    progress("plain replies")
    replies = [_cpu_ms(partial(read, question, said, TODAY), _ROUNDS) for question, said in plain_replies()]
    progress("long replies")
    longest = max(_slowest((text * 500)[:480]) for text in _LONG)
    huge = max(_slowest(text * (100_000 // len(text))) for text in _LONG)
    progress("random dialogues")
    result: dict[str, Any] = {
        "replies": len(replies),
        "reply_cpu_ms_mean": sum(replies) / len(replies),
        "reply_cpu_ms_slowest": max(replies),
        "longest_cpu_ms": longest,
        "huge_cpu_ms": huge,
        "dialogues": dialogues * len(_SCENES),
        "dialogues_per_cpu_s": _dialogues_per_s(dialogues),
    }
    result["within_budget"] = {budget.key: budget.holds(result[budget.key]) for budget in BUDGETS}
    result["note"] = NOTE
    return result


def report(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The result as rows of (what, measured, budget)."""
    return [budget.row(result) for budget in BUDGETS]


def plain_replies() -> Iterator[tuple[Question, str]]:
    """Yield every question with each of its plain replies, as pairs."""
    for slot in _SLOTS:
        others = tuple(other for other in _SLOTS if other is not slot)
        for said in REPLIES.get(slot.kind, ()):
            yield Question(slot, "What would you like?", others=others), said


def _slowest(reply: str) -> float:
    """The CPU milliseconds to read this reply in the slowest case. The reply is read as an answer to the question for
    each kind of slot, and as an answer to a confirmation."""
    questions = [Question(slot, others=_SLOTS) for slot in _SLOTS]
    spent = [_cpu_ms(partial(read, one, reply, TODAY)) for one in questions]
    return max(*spent, _cpu_ms(partial(read_confirmation, "Two people at six?", reply, TODAY)))


def _dialogues_per_s(dialogues: int) -> float:
    began = time.process_time()
    for scene in _SCENES:
        for seed in range(dialogues):
            random_dialogue(scene.domain, seed)
    return dialogues * len(_SCENES) / (time.process_time() - began)


def _cpu_ms(call: Callable[[], object], rounds: int = 1) -> float:
    call()
    began = time.process_time()
    for _ in range(rounds):
        call()
    return (time.process_time() - began) * 1_000 / rounds
