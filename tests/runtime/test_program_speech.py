"""What the program says and asks by itself in a call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from duologue import Agent, Context, FlowBrain, Hooks, LocalNlu, Phrases, Request, ToolCall
from duologue.core.settings import profile
from duologue.flows import parse_flows
from duologue.flows.registry import Registry
from duologue.ports.context import NotPossible
from duologue.testing import Call, ScriptedBrain
from tests.runtime.runtime_fakes import Stage, play


@dataclass
class Order:
    name: str = ""
    items: list[str] = field(default_factory=list)


def echo(request: Request) -> str:
    return f"You said {request.text}."


def calling(tool: str, then: str = "Done.") -> Any:
    """A brain that calls this tool once, and then says `then`."""

    async def brain(request: Request) -> AsyncIterator[Any]:
        if request.outputs:
            yield f"{then} {request.outputs[-1].output}"
        elif request.text:
            yield ToolCall(tool, {})

    return brain


def test_what_the_program_says_is_heard_when_the_floor_is_free_and_its_words_are_returned() -> None:
    with Call(echo) as call:
        said: list[str] = []

        async def say() -> None:
            said.append(await call.context.say("Your taxi is here."))

        call.user("hello there").settles()
        call.run(say())
        assert said == ["Your taxi is here."]
        assert call.heard[-1] == "Your taxi is here."
        call.expect_nothing_lost()


def test_a_tool_says_something_while_it_runs_and_its_answer_follows() -> None:
    async def look_up(context: Context[Any]) -> str:
        """Look something up."""
        heard = await context.say("Let me check.")
        await asyncio.sleep(1)
        return f"after {heard!r}"

    with Call(Agent(calling("look_up"), tools=[look_up])) as call:
        call.user("how much is it").expect_heard("Let me check.").expect_heard("Done. after 'Let me check.'")
        call.expect_nothing_lost()


def test_words_of_the_program_that_were_interrupted_are_returned_as_far_as_they_were_heard() -> None:
    with Call(echo) as call:
        call.user("hello there").settles()
        waiting = call.run(_started(call, "One two three four five six seven eight nine ten eleven twelve."))
        call.hears_agent(1200).says("stop that please").settles()
        heard = call.run(_value(waiting))
        assert heard.startswith("One two")
        assert "twelve" not in heard
        call.expect_heard("You said stop that please.")


async def _started(call: Call, text: str) -> asyncio.Future[str]:
    return asyncio.ensure_future(call.context.say(text))  # type: ignore[arg-type]


async def _value(future: asyncio.Future[str]) -> str:
    return await future


def test_a_question_of_the_program_is_answered_to_the_program_and_not_to_the_brain() -> None:
    async def order(context: Context[Order]) -> str:
        """Take an order."""
        context.data.name = await context.ask("What is your name?")
        return f"for {context.data.name}"

    with Call(Agent(calling("order"), tools=[order], data=Order)) as call:
        call.user("I want to order").expect_heard("What is your name?")
        call.user("Grace Hopper").expect_heard("Done. for Grace Hopper")
        assert call.context.data.name == "Grace Hopper"
        call.expect_nothing_lost()


def test_a_question_outside_a_tool_leaves_the_next_turn_to_the_brain() -> None:
    with Call(echo) as call:
        answers: list[str] = []

        async def ask() -> None:
            answers.append(await call.context.ask("Are you well?"))

        asking = call.run(_task(ask()))
        call.expect_heard("Are you well?")
        call.user("very well thanks").settles()
        call.run(_value(asking))
        assert answers == ["very well thanks"]
        call.expect_never_heard("You said very well")
        call.user("and now you").expect_heard("You said and now you.")


async def _task(work: Any) -> asyncio.Future[Any]:
    return asyncio.ensure_future(work)


def test_a_question_without_an_answer_in_time_gives_an_empty_text() -> None:
    with Call(echo) as call:
        assert call.run(call.context.ask("Still there?", limit_s=3)) == ""
        call.user("yes I am").expect_heard("You said yes I am.")


def test_a_secret_answer_is_hidden_in_the_history_and_in_captions() -> None:
    with Call(echo) as call:
        asking = call.run(_task(call.context.ask("Your card number?", secret=True)))
        call.expect_heard("Your card number?")
        call.user("4111 1111 1111 1111").settles()
        assert call.run(_value(asking)) == "4111 1111 1111 1111"
        assert "4111" not in repr(call.history)
        assert "4111" not in repr(call.signals)
        assert "4111" not in repr(call.conversation.engine.transcript.dump())


def test_nothing_can_be_said_in_a_call_that_is_over() -> None:
    with Call(echo) as call:
        call.hangs_up()
        with pytest.raises(NotPossible, match="over"):
            call.run(_started(call, "hello"))


def test_a_text_without_a_word_is_refused() -> None:
    with Call(echo) as call, pytest.raises(ValueError, match="nothing to say"):
        call.run(_started(call, " ... "))


def test_a_greeting_comes_before_words_of_a_start_hook() -> None:
    async def on_start(context: Context[Any]) -> None:
        context.say("By the way, we close at five.")

    agent = Agent(echo, phrases=Phrases(greeting="Hello!"), hooks=Hooks(on_start=on_start))
    with Call(agent) as call:
        call.settles()
        assert call.heard == ["Hello!", "By the way, we close at five."]


@pytest.mark.req("H-14")
@pytest.mark.parametrize("heard_ms", [300, 2_600])
def test_an_answer_to_the_program_counts_only_if_its_question_was_heard(heard_ms: int) -> None:
    question = "Shall I now send all of that money to your sister?"
    with Call(echo) as call:
        asking = call.run(_task(call.context.ask(question)))
        call.hears_agent(for_ms=heard_ms)
        call.types("yes").waits(6_000)
        is_asked = heard_ms > 2_000
        assert asking.done() is is_asked
        if not is_asked:
            assert call.heard[-1] == question, "it is asked again"
            call.types("yes").waits(2_000)
        assert asking.result() == "yes"
        call.expect_nothing_lost()


@pytest.mark.req("H-14")
@pytest.mark.parametrize(("confirms", "asked"), [(False, 1), (True, 2)])
def test_after_are_you_still_there_only_a_yes_or_no_is_asked_for_again(confirms: bool, asked: int) -> None:
    """A name is a name whatever was asked last; a yes may be for "Are you still there?"."""
    answers: list[str] = []

    async def scene(stage: Stage) -> None:
        async def program() -> None:
            answers.append(await stage.conversation.engine.context.ask("Is Anna your name?", confirms=confirms))

        asking = asyncio.ensure_future(program())
        await stage.until(lambda: "Are you still there?" in stage.heard)
        await stage.sleep(1_500)
        await stage.say("yes")
        await stage.sleep(5_000)
        if confirms:
            assert answers == []
            await stage.say("yes")
            await stage.sleep(5_000)
        await asking
        assert stage.heard.count("Is Anna your name?") == asked

    settings = profile("confirm", greets=False, dead_air_ms=8_000)
    play(scene, ScriptedBrain("I see."), profile=settings, phrases=Phrases())
    assert answers == ["yes"]


# -- Code that makes an answer can't wait for the end of this answer


@pytest.mark.parametrize("what", ["say", "ask"])
def test_a_brain_that_waits_for_its_own_words_is_told_so_at_once(what: str) -> None:
    async def brain(request: Request, context: Context[Any]) -> AsyncIterator[str]:
        if request.text == "hello there":
            await (context.say("One moment.") if what == "say" else context.ask("Your name?"))
        yield "All right."

    with Call(brain) as call:
        call.says("hello there").until(lambda: call.conversation.engine.failures, limit_ms=3_000)
        (failed, *_) = call.conversation.engine.failures
        assert isinstance(failed.failure, NotPossible)
        assert f"can't wait for `{what}`" in str(failed.failure)
        assert "Your name?" not in call.heard


def test_a_brain_may_say_something_more_without_waiting_and_in_a_task_of_its_own() -> None:
    heard: list[str] = []

    async def remind(context: Context[Any]) -> None:
        heard.append(await context.say("And bring your card."))

    async def brain(request: Request, context: Context[Any]) -> AsyncIterator[str]:
        reminding.append(asyncio.ensure_future(remind(context)))
        context.say("We close at six.")  # type: ignore[unused-coroutine]
        yield "Come today."

    reminding: list[asyncio.Future[None]] = []
    with Call(brain) as call:
        call.user("when may I come").until(lambda: heard).settles()
        assert heard == ["And bring your card."]
        assert " ".join(call.heard) == "Come today. We close at six. And bring your card."


BUY = """
version: 1
flows:
  buy:
    description: buy
    examples: [I want to buy]
    steps:
      - action: pay
"""


@pytest.mark.parametrize("what", ["say", "ask"])
def test_an_action_of_a_flow_that_waits_for_words_fails_at_once(what: str) -> None:
    async def pay(context: Context[Any]) -> None:
        await (context.say("Paying now.") if what == "say" else context.ask("Cash?"))

    flows = parse_flows(BUY)
    with Call(Agent(FlowBrain(flows, Registry([pay]), LocalNlu(words_only=True)))) as call:
        call.says("I want to buy").until(lambda: call.conversation.engine.failures, limit_ms=3_000)
        (failed, *_) = call.conversation.engine.failures
        assert (failed.where, type(failed.failure)) == ("action pay", NotPossible)


def asks_for_a_name(**settings: Any) -> Agent:
    async def book(context: Context[Any]) -> str:
        """Book."""
        return await context.ask("What is your name?")

    chosen = profile("words", greets=False, **settings)
    return Agent(calling("book", then="Booked for"), tools=[book], profile=chosen)


def test_a_silent_person_is_asked_again_by_a_tool_as_often_as_the_agent_would_check_in() -> None:
    with Call(asks_for_a_name()) as call:
        call.user("book a table please").waits(9_000)
        assert call.heard == ["What is your name?"]
        call.waits(60_000)
        assert call.heard == ["What is your name?"] * 3
        call.user("Ada Lovelace").expect_heard("Booked for Ada Lovelace").expect_nothing_lost()


def test_a_person_who_answers_or_coughs_in_time_is_not_asked_again() -> None:
    with Call(asks_for_a_name()) as call:
        call.user("book a table please").waits(8_000).coughs().waits(8_000)
        assert call.heard == ["What is your name?"]
        call.user("Ada Lovelace").expect_heard("Booked for Ada Lovelace")


def test_an_answer_over_the_question_that_is_asked_again_counts() -> None:
    with Call(asks_for_a_name()) as call:
        call.user("book a table please").waits(11_200)
        call.interrupts("Ada Lovelace", after_ms=800).expect_heard("Booked for Ada Lovelace").expect_nothing_lost()


def test_an_agent_that_never_checks_in_asks_once() -> None:
    with Call(asks_for_a_name(dead_air_ms=0, hangs_up=False)) as call:
        call.user("book a table please").waits(200_000)
        assert call.heard == ["What is your name?"]
