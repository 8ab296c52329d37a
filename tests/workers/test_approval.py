"""A tool with `confirm` runs only after the user's own yes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest

from duologue import Agent
from duologue.brains.scripted import ScriptedBrain
from duologue.core.leaves import ErrorClass
from duologue.ports import Request, ServiceError, ToolCall
from duologue.ports.history import CallOutput
from duologue.testing import Call
from duologue.workers import as_worker, tool
from duologue.workers.approval import ASKED_CHARS_MAX, FOR_THE_MODEL, check_question
from tests.runtime.runtime_fakes import Stage, play
from tests.workers.worker_fakes import NotedJob

QUESTION = "Shall I send 50 euros to Anna?"
CALL = ToolCall("send", {"amount": 50, "to": "Anna"})


def bank(
    mode: Any = "tool", confirm: str = "Shall I send {amount} euros to {to}?"
) -> tuple[Any, list[tuple[int, str]]]:
    """A tool that sends money, and the list of what it has sent."""
    sent: list[tuple[int, str]] = []

    @tool(confirm=confirm, mode=mode)
    def send(amount: int, to: str = "Anna") -> str:
        """Send money."""
        sent.append((amount, to))
        return "sent"

    return send, sent


def brain(call: ToolCall = CALL) -> ScriptedBrain:
    """Makes this tool call when money is mentioned, and reads each output aloud."""

    def reply(request: Request) -> Any:
        last = request.history[-1] if request.history else None
        if isinstance(last, CallOutput):
            return f"I got: {last.output}"
        return call if "money" in request.text else "Yes?"

    return ScriptedBrain(reply)


def outputs(call: Call) -> list[str]:
    return [item.output for item in call.conversation.history if isinstance(item, CallOutput)]


@pytest.mark.req("H-14")
@pytest.mark.parametrize("mode", ["tool", "delegate", "dispatch"])
def test_the_user_is_asked_before_the_tool_runs_and_a_yes_runs_it(mode: str) -> None:
    send, sent = bank(mode)
    with Call(Agent(brain(), tools=[send])) as call:
        call.user("send money").until(lambda: call.conversation.engine.program.listens)
        assert call.heard[-1] == QUESTION
        assert sent == []
        call.user("yes please")
        call.until(lambda: sent == [(50, "Anna")]).expect_nothing_lost()


@pytest.mark.req("H-14")
@pytest.mark.parametrize(
    ("answers", "why"),
    [
        (["no"], "and said no"),
        (["the weather is nice", "well", "who knows"], "no usable answer in 3 tries"),
    ],
)
def test_without_a_yes_the_tool_does_not_run_and_the_model_is_told_why(answers: list[str], why: str) -> None:
    send, sent = bank()
    with Call(Agent(brain(), tools=[send])) as call:
        call.user("send money")
        for answer in answers:
            call.until(lambda: call.conversation.engine.program.listens).user(answer)
        call.until(lambda: bool(outputs(call)))
        assert sent == []
        assert outputs(call)[0].startswith("The tool did not run: the user was asked 'Shall I send 50 euros to Anna?'")
        assert why in outputs(call)[0]


@pytest.mark.req("H-14")
def test_hanging_up_at_the_question_runs_nothing() -> None:
    send, sent = bank()
    with Call(Agent(brain(), tools=[send])) as call:
        call.user("send money").until(lambda: call.conversation.engine.program.listens)
        call.hangs_up().waits(120_000)
    assert sent == []


@pytest.mark.req("H-14")
def test_a_silent_user_has_agreed_to_nothing() -> None:
    send, sent = bank()
    with Call(Agent(brain(), tools=[send])) as call:
        call.user("send money").waits(900_000)
    assert sent == []


@pytest.mark.req("H-14")
@pytest.mark.parametrize(("confidence", "runs"), [(0.2, False), (0.9, True)])
def test_a_yes_that_may_be_a_noise_is_asked_about_again(confidence: float, runs: bool) -> None:
    send, sent = bank()

    async def scene(stage: Stage) -> None:
        await stage.say("send money")
        await stage.until(lambda: stage.conversation.engine.program.listens)
        await stage.say("yes", confidence=confidence)
        await stage.until(lambda: bool(sent) or stage.conversation.engine.program.listens)
        assert sent == ([(50, "Anna")] if runs else [])
        if not runs:
            assert stage.heard[-1] == "Is that a yes or a no?"
            await stage.say("yes")
            await stage.until(lambda: bool(sent))

    play(scene, brain(), tools=[send])
    assert sent == [(50, "Anna")]


def test_arguments_that_were_omitted_are_asked_about_with_their_defaults() -> None:
    send, sent = bank()
    with Call(Agent(brain(ToolCall("send", {"amount": 50})), tools=[send])) as call:
        call.user("send money").until(lambda: call.conversation.engine.program.listens)
        assert call.heard[-1] == QUESTION
        call.user("yes").until(lambda: sent == [(50, "Anna")])


def test_wrong_arguments_are_refused_before_the_user_is_asked() -> None:
    send, sent = bank()
    with Call(Agent(brain(ToolCall("send", {"amount": "much"})), tools=[send])) as call:
        call.user("send money").until(lambda: bool(outputs(call)))
        assert "wrong arguments" in outputs(call)[0]
        assert not any("Shall I" in said for said in call.heard)
    assert sent == []


def test_two_tools_ask_one_after_the_other_and_each_yes_counts_for_one() -> None:
    send, sent = bank()

    def reply(request: Request) -> Any:
        if "money" in request.text and not outputs(call):
            return [CALL, ToolCall("send", {"amount": 7, "to": "Ben"})]
        return "Done."

    with Call(Agent(ScriptedBrain(reply), tools=[send])) as call:
        call.user("send money").until(lambda: call.conversation.engine.program.listens)
        call.user("yes").until(lambda: call.conversation.engine.program.listens)
        assert (sent, call.heard[-1]) == ([(50, "Anna")], "Shall I send 7 euros to Ben?")
        call.user("no").until(lambda: len(outputs(call)) == 2)
        assert sent == [(50, "Anna")]


@pytest.mark.parametrize(
    ("confirm", "why"),
    [
        ("Shall I send {much} euros?", "has the field 'much', but the tool's parameters are: amount, to"),
        ("Shall I send {} euros?", "has the field ''"),
        ("Shall I send {0} euros?", "has the field '0'"),
        ("Shall I send it to {to.name}?", "has the field 'to.name'"),
        ("Shall I send {amount:{width}}?", "has the field 'width'"),
        ("Shall I send {amount?", "write {{ for a brace"),
        ("  ", "is empty"),
        ("", "is empty"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_when_the_tool_is_declared(confirm: str, why: str) -> None:
    with pytest.raises(TypeError, match=r"`confirm` of the tool send") as refused:
        bank(confirm=confirm)
    assert why in str(refused.value)


def test_a_question_may_format_its_values_and_have_braces() -> None:
    check_question("Send {amount:>3d} {{euros}}?", ["amount"], "send")


def test_the_model_is_told_that_the_user_is_asked() -> None:
    assert as_worker(bank()[0]).tool.description == f"Send money. {FOR_THE_MODEL}"


def refused(arguments: dict[str, Any], confirm: str) -> ServiceError:
    """The error of a tool call with these arguments in a conversation whose user always says yes."""
    send, sent = bank(confirm=confirm)
    job: Any = NotedJob()
    job.context = object()
    with pytest.raises(ServiceError) as error:
        asyncio.run(as_worker(send).run(arguments, job))
    assert sent == []
    return error.value


def test_arguments_that_are_too_long_to_be_asked_about_are_refused() -> None:
    error = refused({"amount": 1, "to": "x" * ASKED_CHARS_MAX}, "Shall I send it to {to}?")
    assert error.error is ErrorClass.INVALID_ARGS
    assert "too long to be said" in str(error)


def test_a_format_that_does_not_fit_the_value_runs_nothing() -> None:
    assert "don't fit the question" in str(refused({"amount": 1, "to": "Anna"}, "Shall I send it to {to:d}?"))


def test_without_a_conversation_the_tool_does_not_run() -> None:
    send, sent = bank()
    with pytest.raises(ServiceError, match="only in a conversation"):
        asyncio.run(as_worker(send).run({"amount": 50}, NotedJob()))
    assert sent == []


def loaded_after(code: str) -> str:
    listing = "import sys; print(sorted(name for name in sys.modules if name.startswith('duologue.dialogue')))"
    done = subprocess.run([sys.executable, "-c", f"{code}; {listing}"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("code", ["import duologue", "from duologue import tool"])
def test_tools_load_no_language_packs(code: str) -> None:
    assert loaded_after(code) == "[]"
