"""Functions of flows that refuse, fail, hang or return nonsense."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from duologue import Agent, Context, FlowBrain
from duologue.dialogue.state import Phase
from duologue.flows.dialogue_session import DialogueSession
from duologue.flows.registry import AskFirst, MissingFunctions, Need, Registry
from duologue.nlu.local import LocalNlu
from duologue.nlu.understanding import MessageScope, Understanding
from duologue.observe import signals as sg
from duologue.ports.context import CallInfo
from duologue.testing import Call
from tests.flows.table_session import DOMAIN, ask, functions, play, said, talk_of


@pytest.mark.req("D-06")
@pytest.mark.parametrize(
    ("validator", "expected"),
    [
        (lambda value: False, "doesn't work"),
        (lambda value: "We have only three chairs.", "We have only three chairs."),
        (lambda people: people < 4 or "Too many.", "Too many."),
    ],
    ids=["false", "a reason", "a name of its own"],
)
def test_a_refused_value_is_not_written_and_asked_for_again(validator: Callable[..., Any], expected: str) -> None:
    async def scene(talk: DialogueSession) -> None:
        heard = await ask(talk)
        assert expected in " ".join(heard)
        assert heard[-1] == "How many?"
        assert talk.state.slots == {}
        assert talk.state.waiting_for == "people"

    play(scene, fits=validator)


def test_a_value_error_refuses_too() -> None:
    def fits(value: int) -> None:
        raise ValueError("Never on a Monday.")

    async def scene(talk: DialogueSession) -> None:
        assert "Never on a Monday." in await ask(talk)

    play(scene, fits=fits)


def test_a_normalised_value_is_written() -> None:
    async def scene(talk: DialogueSession) -> None:
        await ask(talk)
        assert talk.state.slots["people"] == 40

    play(scene, rounded=lambda value: value * 10)


@pytest.mark.req("D-11")
@pytest.mark.parametrize("name", ["fits", "rounded"])
def test_a_validator_that_breaks_is_an_error_that_can_be_retried(name: str) -> None:
    calls: list[int] = []

    def broken(value: int) -> Any:
        calls.append(value)
        if len(calls) == 1:
            raise RuntimeError("the database is away")
        return value if name == "rounded" else True

    async def scene(talk: DialogueSession) -> None:
        assert "retry" in " ".join(await ask(talk))
        assert talk.state.phase is Phase.ERROR
        assert talk.state.trouble is not None
        assert (talk.state.trouble.type, talk.state.trouble.recovery) == ("RuntimeError", Phase.VALIDATING_SLOT)
        assert await said(talk, "retry") == ["Table 7."]

    play(scene, **{name: broken})


async def hanging() -> None:
    await asyncio.Event().wait()


def test_a_failed_function_is_logged_by_name_without_what_was_said(caplog: pytest.LogCaptureFixture) -> None:
    def reserve() -> None:
        raise LookupError("four people on Friday")

    async def scene(talk: DialogueSession) -> None:
        await ask(talk)

    play(scene, reserve=reserve)
    assert [one.getMessage() for one in caplog.records if one.levelname == "WARNING"] == [
        "action reserve failed: LookupError"
    ]


@pytest.mark.graveyard(24)
@pytest.mark.req("D-11", "D-08")
@pytest.mark.parametrize(
    ("reserve", "kind"),
    [
        (lambda: 1 / 0, "ZeroDivisionError"),
        (lambda: "yes", "TypeError"),
        (lambda: {1: 2}, "TypeError"),
        (lambda: {"number": {1, 2}}, "TypeError"),
        (hanging, "TimeoutError"),
    ],
    ids=["raises", "returns a text", "returns odd keys", "returns no JSON", "hangs"],
)
def test_an_action_that_fails_never_falls_through(reserve: Callable[..., Any], kind: str) -> None:
    async def scene(talk: DialogueSession) -> None:
        heard = await ask(talk)
        assert not any("Table" in text for text in heard)
        assert talk.state.phase is Phase.ERROR
        assert talk.state.trouble is not None
        assert talk.state.trouble.type == kind
        assert "leave it" in " ".join(await said(talk, "cancel"))
        assert talk.state.phase is Phase.IDLE

    play(scene, reserve=reserve)


@pytest.mark.req("D-14")
def test_a_retry_has_the_same_key_and_another_booking_another_one() -> None:
    keys: list[str] = []

    def reserve(key: str) -> dict[str, int]:
        keys.append(key)
        if len(keys) == 1:
            raise TimeoutError
        return {"number": len(keys)}

    async def scene(talk: DialogueSession) -> None:
        await ask(talk)
        assert await said(talk, "try again") == ["Table 2."]
        await ask(talk)
        assert keys[0] == keys[1] != keys[2]

    play(scene, reserve=reserve)


@pytest.mark.req("D-08")
def test_an_action_may_need_another_slot_first() -> None:
    async def scene(talk: DialogueSession) -> None:
        assert await ask(talk) == ["When?"]
        assert await said(talk, "tomorrow") == ["Table 7."]
        assert talk.state.slots["day"] == "2026-03-05"

    play(scene, reserve=lambda day=None: {"number": 7} if day else Need("day"))


@pytest.mark.req("D-08", "D-09")
@pytest.mark.parametrize(("answer", "expected"), [("yes", ["Table 7."]), ("no", ["All right, let's leave it."])])
def test_an_action_may_ask_for_a_yes_first(answer: str, expected: list[str]) -> None:
    def reserve(confirmed: bool) -> Any:
        return {"number": 7} if confirmed else AskFirst("That costs ten euros. Shall I?")

    async def scene(talk: DialogueSession) -> None:
        assert await ask(talk) == ["That costs ten euros. Shall I?"]
        assert talk.state.phase is Phase.CONFIRMING
        assert await said(talk, answer) == expected

    play(scene, reserve=reserve)


def test_an_action_that_asks_for_what_it_has_is_an_error_and_not_a_loop() -> None:
    async def scene(talk: DialogueSession) -> None:
        await ask(talk)
        assert talk.state.trouble is not None
        assert talk.state.trouble.type == "ActionLoops"

    play(scene, reserve=lambda: Need("people"))


def test_missing_functions_are_reported_at_once() -> None:
    with pytest.raises(MissingFunctions, match="function 'reserve' isn't registered; did you mean 'reserves'"):
        talk_of({"fits": print, "rounded": print, "reserves": print})


@dataclass
class Guest:
    people: int = 0
    caller: str = ""


def test_validators_and_actions_get_the_context_of_their_own_call() -> None:
    def fits(value: int, context: Context[Guest]) -> bool:
        context.data.caller = context.caller
        return True

    def reserve(people: int, context: Context[Guest]) -> dict[str, int]:
        context.data.people = people
        return {"number": 7}

    brain = FlowBrain(DOMAIN, Registry(functions(fits=fits, reserve=reserve)), LocalNlu(words_only=True))
    agent = Agent(brain, data=Guest)
    for people, word in ((4, "four"), (5, "five")):
        with Call(agent, info=CallInfo(caller=f"+49{people}")) as call:
            call.user("book a table").settles()
            call.user(word).expect_heard("Table 7.")
            assert call.context.data == Guest(people, f"+49{people}")


def test_an_nlu_that_raises_is_reported_with_its_class_and_the_call_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        async def understand(self, text: str, scope: MessageScope) -> Understanding:
            raise KeyError("a secret word")

    brain = FlowBrain(DOMAIN, Registry(functions()), Broken())
    with Call(Agent(brain)) as call:
        call.user("something that only an NLU could read").settles()
        assert {(one.where, one.error) for one in call.signals if isinstance(one, sg.Raised)} == {("nlu", "KeyError")}
        call.user("help").settles()
        assert len(call.heard) == 2
    warned = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert any("nlu" in line and "KeyError" in line for line in warned)
    assert "secret" not in " ".join(warned)
