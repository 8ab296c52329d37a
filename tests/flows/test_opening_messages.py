"""Messages that ask for a task without naming it."""

from __future__ import annotations

import asyncio

import pytest

from duologue.dialogue.commands import ChitChat, SetSlot, StartFlow
from duologue.dialogue.state import DialogueState
from duologue.flows.load import parse_flows
from duologue.flows.opening_messages import flow_by_values, offered_task, understand_clauses
from duologue.nlu.understanding import Guess, MessageScope, Understanding

SALON = parse_flows(
    """
version: 1
slots:
  service: {type: choice, prompt: "What would you like done?", choices: [perm, highlights]}
  day: {type: date, prompt: "Which day?"}
  size: {type: choice, prompt: "Which size?", choices: [small, large]}
flows:
  book: {description: book an appointment, examples: [I need an appointment], steps: [collect: service, collect: day]}
  move: {description: move an appointment, examples: [move it], steps: [collect: service, collect: day]}
  buy: {description: buy a brush, examples: [I want a brush], steps: [collect: size]}
"""
)
NOTHING = Understanding((), is_in_scope=False, in_scope=0.1, by="minilm")
BOOKS = Understanding((Guess("flow book", 0.4), Guess("flow move", 0.1)), is_in_scope=False, in_scope=0.4, by="minilm")


@pytest.mark.req("D-04")
def test_a_choice_of_one_flow_starts_that_flow() -> None:
    found = flow_by_values(SALON, "a large one please, I lost mine", "2026-03-04", NOTHING)
    assert found[0] == StartFlow("buy")
    assert [(one.slot, one.value) for one in found if isinstance(one, SetSlot)] == [("size", "large")]


def test_a_choice_of_two_flows_needs_a_guess_that_is_clearly_better() -> None:
    text = "highlights. tomorrow."
    assert flow_by_values(SALON, text, "2026-03-04", NOTHING) == ()
    assert flow_by_values(SALON, text, "2026-03-04", BOOKS)[0] == StartFlow("book")


@pytest.mark.parametrize("text", ["what does a perm cost?", "hello there", "on Friday"])
def test_a_question_or_a_day_starts_nothing(text: str) -> None:
    assert flow_by_values(SALON, text, "2026-03-04", BOOKS) == ()


class HearsWord:
    """An NLU that finds one task for each of these words."""

    def __init__(self, **tasks: str) -> None:
        self.tasks = tasks

    async def understand(self, message: str, scope: MessageScope) -> Understanding:
        del scope
        found = [task for word, task in self.tasks.items() if word in message.split()]
        return Understanding((Guess(found[0], 0.8),), True, 0.8, by="minilm") if len(found) == 1 else NOTHING


def clauses(nlu: HearsWord, text: str) -> str | None:
    found = asyncio.run(understand_clauses(nlu, SALON, text, MessageScope(())))
    return found.intent if found is not None else None


@pytest.mark.req("D-04")
def test_the_clause_that_asks_for_a_task_is_enough() -> None:
    nlu = HearsWord(perm="flow book", brush="flow buy", joke="chit_chat")
    assert clauses(nlu, "hello dear, it's Mrs Hill here, I think I need a perm") == "flow book"
    assert clauses(nlu, "hello dear, I need a perm, and sell me a brush") is None  # two tasks
    assert clauses(nlu, "hello dear, tell me a joke") is None
    assert clauses(nlu, "I need a perm") is None  # the message as a whole was tried before


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("text", "guesses", "is_offered"),
    [
        ("my hair needs something before the wedding", (("flow book", 0.2), ("flow move", 0.05)), True),
        ("my hair needs something before the wedding", (("flow book", 0.2), ("flow move", 0.18)), False),
        ("my hair needs something before the wedding", (("chit_chat", 0.2), ("flow book", 0.1)), False),
        ("my hair needs something before the wedding", (("flow book", 0.03),), False),
        ("what do you do with hair before a wedding?", (("flow book", 0.2),), False),
    ],
)
def test_the_task_that_is_most_similar_is_offered(
    text: str, guesses: tuple[tuple[str, float], ...], is_offered: bool
) -> None:
    found = Understanding(tuple(Guess(name, score) for name, score in guesses), False, 0.2, by="minilm")
    offer = (ChitChat("I can book an appointment. Is that what you need?"),) if is_offered else ()
    assert offered_task(SALON, DialogueState(), text, found) == offer
