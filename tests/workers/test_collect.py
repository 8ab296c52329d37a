"""Tasks that ask for one value, in a call."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, assert_type

import pytest

from duologue.observe.diagnostics import watch
from duologue.ports.context import Context
from duologue.runtime.agent import Agent
from duologue.testing import Call
from duologue.workers.collect import (
    CollectAddress,
    CollectCardNumber,
    CollectConfirmation,
    CollectDate,
    CollectDigits,
    CollectEmail,
    CollectName,
    CollectPhone,
    NotCollected,
)


def today() -> datetime:
    return datetime(2026, 3, 2, 10, 0)


def collect(task: Any, *replies: str, language: str = "en") -> Any:
    """What the task returns if the person gives these replies to an agent of this language."""
    with Call(Agent(lambda request: "Hm.", language=language)) as call:

        async def begin() -> asyncio.Future[Any]:
            return asyncio.ensure_future(call.context.run(task))

        running = call.run(begin())
        for reply in replies:
            call.until(lambda: call.conversation.engine.program.listens)
            call.user(reply)

        async def result() -> Any:
            async with asyncio.timeout(60):
                return await running

        try:
            return call.run(result())
        finally:
            assert call.heard[0] == task.in_language(language).question


@pytest.mark.parametrize(
    ("task", "replies", "value"),
    [
        (CollectName(), ["Grace Hopper"], "Grace Hopper"),
        (CollectEmail(), ["ada at example dot com", "yes"], "ada@example.com"),
        (CollectPhone(), ["0 3 0 1 2 3 4 5 6 7", "yes that's right"], "0301234567"),
        (CollectAddress(), ["12 Main Street in Springfield", "yes"], "12 Main Street in Springfield"),
        (CollectDate(today=today), ["on March 6th"], date(2026, 3, 6)),
        (CollectDate(today=today), ["next Friday", "the 13th"], date(2026, 3, 13)),
        (CollectDate(today=today), ["next Friday", "the first one"], date(2026, 3, 6)),
        (CollectDate(today=today), ["next Friday", "hm", "tomorrow"], date(2026, 3, 3)),
        (CollectConfirmation("Shall I book it?"), ["yes please"], True),
        (CollectDigits(length=4), ["4711"], "4711"),
        (CollectDigits(), ["one two three"], "123"),
        (CollectDigits(length=4), ["12", "1 2 3 4"], "1234"),
        (CollectConfirmation("Shall I book it?"), ["no"], False),
    ],
    ids=lambda given: type(given).__name__,
)
def test_a_task_returns_the_value_of_its_type(task: Any, replies: list[str], value: object) -> None:
    assert collect(task, *replies) == value


@pytest.mark.parametrize(
    ("language", "task", "replies", "value"),
    [
        ("de", CollectName(), ["mein Name ist Anna Meier"], "Anna Meier"),
        ("de", CollectEmail(), ["anna Punkt k ät example Punkt com", "ja, genau"], "anna.k@example.com"),
        ("de", CollectPhone(), ["null drei null eins zwei drei vier", "nein", "0 3 0 5 6 7 8", "ja"], "0305678"),
        ("de", CollectDate(today=today), ["am sechsten März"], date(2026, 3, 6)),
        ("de", CollectDigits(length=3), ["eins zwei drei"], "123"),
        ("de-AT", CollectConfirmation("Soll ich buchen?"), ["nein danke"], False),
        ("es", CollectName(), ["me llamo Ana García"], "Ana García"),
        ("es", CollectAddress(), ["calle Mayor 12", "sí, correcto"], "calle Mayor 12"),
        ("es", CollectDate(today=today), ["el 6 de marzo"], date(2026, 3, 6)),
        ("es", CollectConfirmation("¿Lo reservo?"), ["claro que sí"], True),
        ("en", CollectConfirmation("Soll ich buchen?", language="de"), ["jawohl"], True),
    ],
)
def test_replies_are_read_in_the_agents_language_or_in_the_tasks_own(
    language: str, task: Any, replies: list[str], value: object
) -> None:
    assert collect(task, *replies, language=language) == value


def test_an_empty_confirm_confirms_nothing() -> None:
    assert collect(CollectEmail(confirm=""), "ada at example dot com") == "ada@example.com"


def test_a_language_without_a_pack_is_read_in_english() -> None:
    assert collect(CollectConfirmation("D'accord ?"), "yes", language="fr") is True


def test_a_value_that_isnt_confirmed_is_asked_for_again() -> None:
    assert collect(CollectEmail(), "bob at example dot com", "no", "rob at example dot com", "yes") == "rob@example.com"


def test_a_task_gives_up_after_its_tries() -> None:
    with pytest.raises(NotCollected, match="3 tries"):
        collect(CollectDate(today=today), "purple", "purple", "purple")


@pytest.mark.parametrize("is_typed", [False, True])
def test_a_card_number_is_checked_and_leaves_no_trace(tmp_path: Path, is_typed: bool) -> None:
    log = (tmp_path / "log.jsonl").open("w")
    with log, Call(lambda request: "Hm.", journal=tmp_path / "call.jsonl") as call:
        watch(call.conversation, log)
        say = call.types if is_typed else call.user

        async def begin() -> asyncio.Future[Any]:
            return asyncio.ensure_future(call.context.run(CollectCardNumber()))

        running = call.run(begin())
        call.until(lambda: call.conversation.engine.program.listens)
        say("4111 1111 1111 1112").expect_heard("isn't a valid card number")
        say("4111 1111 1111 1111").expect_heard("ends in 1 1 1 1")
        call.user("yes")

        async def result() -> Any:
            async with asyncio.timeout(60):
                return await running

        assert call.run(result()) == "4111111111111111"
        traces = repr((call.history, call.signals, call.records, call.conversation.engine.transcript.dump()))
        assert "4111" not in traces
    files = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert len(files) == 4, "the journal, its words, its ear journal and the log"
    assert [name for name, text in files.items() if "4111" in text] == []


@dataclass(frozen=True)
class Visitor:
    name: str
    day: date
    may_call: bool


class CollectVisitor:
    """A task of one's own, made of others. A type checker knows what each of them returns."""

    async def run(self, context: Context[Any]) -> Visitor:
        name = await context.run(CollectName())
        assert_type(name, str)
        assert_type(await context.run(CollectAddress("Where do you live?", confirm="")), str)
        day = await context.run(CollectDate("When?", today=today))
        assert_type(day, date)
        may_call = await context.run(CollectConfirmation("May we call you?"))
        assert_type(may_call, bool)
        return Visitor(name, day, may_call)


def test_a_task_of_ones_own_returns_a_value_of_its_own_type() -> None:
    with Call(lambda request: "Hm.") as call:

        async def begin() -> asyncio.Future[Visitor]:
            return asyncio.ensure_future(call.context.run(CollectVisitor()))

        running = call.run(begin())
        for reply in ("Grace Hopper", "12 Main Street", "tomorrow", "yes please"):
            call.until(lambda: call.conversation.engine.program.listens)
            call.user(reply)
        call.until(running.done)
        visitor = running.result()
    assert_type(visitor, Visitor)
    assert visitor == Visitor("Grace Hopper", date(2026, 3, 3), True)
    assert call.heard == ["What is your name?", "Where do you live?", "When?", "May we call you?"]
