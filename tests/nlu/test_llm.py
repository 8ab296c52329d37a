"""Understanding by a language model: over real HTTP, and whatever the model says."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.core.leaves import ErrorClass
from duologue.nlu import ExpectedSlot, Intent, LlmNlu, MessageScope, Quote, Understanding
from duologue.nlu.llm import ANSWER_CHARS_MAX
from duologue.ports import ToolCall
from duologue.ports.scripted_steps import Fail, Hang
from duologue.runtime.simulated_clock import run_simulated
from tests.brains.chat_server import Script, Wire, answers, says, stalls_after, talking

SCOPE = MessageScope(
    (Intent("book_table", ("a table for two",), "reserve a table"), Intent("cancel", ("call it off",))),
    (ExpectedSlot("people", "how many"), ExpectedSlot("day")),
    "When would you like to come?",
)
MESSAGE = "a table for five on Friday"
GOOD = {
    "guesses": [{"intent": "book_table", "confidence": 0.9}, {"intent": "cancel", "confidence": 0.1}],
    "slots": {"people": "five", "day": "friday"},
}
UNDERSTOOD = (Quote("people", "five"), Quote("day", "friday"))


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the proxy and the key of this machine."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def calls(name: str, arguments: str) -> Script:
    """The model calls a tool."""

    async def script(wire: Wire) -> None:
        await wire.begin()
        for piece in (arguments[:7], arguments[7:]):
            call = {"index": 0, "id": "c1", "function": {"name": name, "arguments": piece}}
            await wire.delta(tool_calls=[call])
        await wire.finish("tool_calls")

    return script


def ask(script: Script, message: str = MESSAGE, **options: Any) -> tuple[Understanding, list[dict[str, Any]]]:
    """What is understood with a server that behaves like this, and the requests that it got."""

    async def run() -> tuple[Understanding, list[dict[str, Any]]]:
        async with talking(script, temperature=0) as (server, brain):
            return await LlmNlu(brain, **options).understand(message, SCOPE), server.bodies

    return asyncio.run(run())


# -- Over the wire


@pytest.mark.req("D-17")
def test_a_call_is_understood() -> None:
    found, (body,) = ask(calls("understood", json.dumps(GOOD)))
    assert (found.intent, found.confidence, found.by) == ("book_table", 0.9, "llm")
    assert [guess.intent for guess in found.guesses] == ["book_table", "cancel"]
    assert found.quotes == UNDERSTOOD
    (tool,) = body["tools"]
    guesses = tool["function"]["parameters"]["properties"]["guesses"]
    assert guesses["items"]["properties"]["intent"]["enum"] == ["book_table", "cancel"]
    assert body["temperature"] == 0


@pytest.mark.parametrize("wrapping", ["{}", "```json\n{}\n```", "<think>{{maybe}} {{so}}</think>\n{}", "Sure! {} Bye."])
def test_json_is_understood_however_it_is_wrapped(wrapping: str) -> None:
    found, (body,) = ask(says(*wrapping.format(json.dumps(GOOD, indent=1)).partition(",")), calls=False)
    assert (found.intent, found.quotes) == ("book_table", UNDERSTOOD)
    assert "tools" not in body


def test_the_request_has_the_possible_intents_and_the_question() -> None:
    _, (body,) = ask(says(json.dumps(GOOD)))
    system, user = body["messages"]
    for said in ('"book_table"', "reserve a table", '"a table for two"', '"people"', "how many", SCOPE.question):
        assert said in system["content"]
    assert user == {"role": "user", "content": MESSAGE}


@pytest.mark.parametrize(
    ("script", "error"),
    [
        (answers(429, {"error": {"message": "slow down"}}), ErrorClass.RATE_LIMIT),
        (answers(401, {"error": {"message": "who are you"}}), ErrorClass.AUTH_FAILURE),
        (answers(400, {"error": {"message": "no tools here"}}), ErrorClass.INVALID_ARGS),
        (answers(500, "oops", "text/plain"), ErrorClass.SERVER_ERROR),
        (answers(200, "<html>hello</html>", "text/html"), ErrorClass.NETWORK_TIMEOUT),
        (says("I think they want a table."), ErrorClass.SERVER_ERROR),
        (says('{"guesses": [{"intent"'), ErrorClass.SERVER_ERROR),
        (calls("understood", '{"guesses": "book_table"}'), ErrorClass.SERVER_ERROR),
        (calls("something_else", "{}"), ErrorClass.SERVER_ERROR),
    ],
    ids=["429", "401", "400", "500", "html", "prose", "half", "no list", "another tool"],
)
def test_a_failure_is_an_answer_with_its_error_class(script: Script, error: ErrorClass) -> None:
    found, _ = ask(script)
    assert (found.error, found.guesses, found.intent) == (error, (), None)


def test_a_silent_server_times_out() -> None:
    found, _ = ask(stalls_after('{"guesses": ['), ms_max=200)
    assert found.error is ErrorClass.NETWORK_TIMEOUT


def test_an_unreachable_server_is_reported() -> None:
    async def run() -> Understanding:
        async with talking() as (server, brain):
            await server.stop()
            return await LlmNlu(brain).understand(MESSAGE, SCOPE)

    assert asyncio.run(run()).error is ErrorClass.NETWORK_TIMEOUT


# -- Any brain


def ask_scripted(
    *parts: Any, message: str = MESSAGE, scope: MessageScope = SCOPE
) -> tuple[Understanding, ScriptedBrain]:
    brain = ScriptedBrain([list(parts)])
    return run_simulated(LlmNlu(brain).understand(message, scope)), brain


def test_a_hanging_brain_times_out_and_is_closed() -> None:
    found, brain = ask_scripted("{", Hang())
    assert found.error is ErrorClass.NETWORK_TIMEOUT
    assert brain.cancelled == [1]


def test_a_failing_brain_raises_no_exception() -> None:
    assert ask_scripted(Fail(ErrorClass.SERVER_ERROR))[0].error is ErrorClass.SERVER_ERROR


def test_a_brain_that_never_ends_is_stopped() -> None:
    found, brain = ask_scripted(*["blah " * 1_000] * (ANSWER_CHARS_MAX // 1_000))
    assert found.error is ErrorClass.SERVER_ERROR
    assert brain.cancelled == [1]


def test_cancelling_the_caller_stops_the_brain() -> None:
    brain = ScriptedBrain([[Hang()]])

    async def main() -> None:
        task = asyncio.create_task(LlmNlu(brain).understand(MESSAGE, SCOPE))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_simulated(main())
    assert brain.cancelled == [1]


@pytest.mark.parametrize(("message", "scope"), [("", SCOPE), (" \n", SCOPE), (MESSAGE, MessageScope(()))])
def test_an_empty_message_or_scope_sends_no_request(message: str, scope: MessageScope) -> None:
    found, brain = ask_scripted(ToolCall("understood", GOOD), message=message, scope=scope)
    assert (found, brain.requests) == (Understanding(by="llm"), [])


def test_a_huge_message_is_cut_before_it_is_sent() -> None:
    _, brain = ask_scripted(ToolCall("understood", GOOD), message="x" * 100_000)
    assert len(brain.requests[0].text) < 5_000
