"""A flow that books a table, and a session that runs it with given functions."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from duologue.dialogue.effects import Respond
from duologue.flows import parse_flows
from duologue.flows.dialogue_session import DialogueSession
from duologue.flows.registry import Registry
from duologue.nlu.local import LocalNlu
from duologue.runtime.simulated_clock import run_simulated

FLOWS = """
version: 1
slots:
  people: {type: number, prompt: "How many?", validator: fits, normaliser: rounded}
  day: {type: date, prompt: "When?"}
flows:
  book:
    description: book a table
    examples: [book a table, a table please, I want a table]
    steps:
      - collect: people
      - action: reserve
        outputs: [number]
    completed: "Table {number}."
"""
DOMAIN = parse_flows(FLOWS)
Functions = dict[str, Callable[..., Any]]


class Clock:
    def __init__(self) -> None:
        self.ms = 0

    def __call__(self) -> int:
        self.ms += 1
        return self.ms


def functions(**more: Any) -> Functions:
    return {"fits": lambda value: True, "rounded": lambda value: value, "reserve": lambda: {"number": 7}, **more}


def talk_of(given: Functions, **more: Any) -> DialogueSession:
    nlu = more.pop("nlu", None) or LocalNlu(words_only=True)
    return DialogueSession(DOMAIN, Registry(given), nlu, today=lambda: "2026-03-04", now=Clock(), **more)


async def said(talk: DialogueSession, text: str) -> list[str]:
    return [item.text async for item in talk.hear(text) if isinstance(item, Respond)]


def play(scene: Callable[[DialogueSession], Coroutine[Any, Any, None]], **given: Any) -> None:
    async def main() -> None:
        await scene(talk_of(functions(**given)))

    run_simulated(main())


async def ask(talk: DialogueSession) -> list[str]:
    await said(talk, "book a table")
    return await said(talk, "four")
