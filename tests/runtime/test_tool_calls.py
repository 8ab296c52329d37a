"""Tool calls and jobs: every call gets exactly one output, whatever its worker does."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest

from duologue.core.leaves import Outcome
from duologue.core.settings import profile
from duologue.observe import signals as sg
from duologue.ports import Request, ToolCall
from duologue.ports.history import AgentSaid, CallOutput, UserSaid
from duologue.testing import AskPerson, Delay, Hang, Partly, Progress, ScriptedBrain, scripted_tool
from duologue.workers.function_tools import tool
from tests.runtime.runtime_fakes import Stage, others, play


class Worker:
    """A tool whose work a test writes down."""

    def __init__(self, work: Any, name: str = "work", mode: str = "tool") -> None:
        self.tool = scripted_tool(name, mode=mode).tool
        self.work = work

    async def run(self, arguments: dict[str, Any], job: Any) -> object:
        return await self.work(arguments, job)


def told(*texts: str) -> Any:
    """A brain that makes one call and then says this."""
    return ScriptedBrain([ToolCall("work"), *texts])


async def ask(stage: Stage) -> None:
    await stage.say("please do it")
    await stage.rest()


def output(stage: Stage) -> str:
    assert_each_call_has_one_output(stage)
    assert len(stage.outputs) == 1
    return stage.outputs[0].output


def assert_each_call_has_one_output(stage: Stage) -> None:
    made = [number for item in stage.conversation.history if isinstance(item, AgentSaid) for number, _ in item.calls]
    given = Counter(item.call for item in stage.outputs)
    assert dict(given) == dict.fromkeys(made, 1)


@pytest.mark.req("L-07", "L-18")
@pytest.mark.parametrize(
    ("call", "said"),
    [
        (ToolCall("no_such_tool"), "no_such_tool"),
        (ToolCall("work", "this is no JSON"), "not JSON"),
        (ToolCall("work", "[1, 2]"), "object"),
        (ToolCall("work", 5), "object"),  # type: ignore[arg-type]
        (ToolCall("work", None), "object"),  # type: ignore[arg-type]
        (ToolCall("", {}), "unknown tool"),
    ],
    ids=str,
)
def test_the_brain_gets_the_reason_why_a_call_can_not_run(call: ToolCall, said: str) -> None:
    async def scene(stage: Stage) -> None:
        await ask(stage)
        assert said in json.loads(output(stage))["error"]
        assert worker.calls == []
        assert stage.heard == ["I could not do it."]
        assert stage.told(sg.Failed) == []

    worker = scripted_tool("work")
    play(scene, ScriptedBrain([call, "I could not do it."]), tools=[worker])


@pytest.mark.req("L-07")
@pytest.mark.parametrize("arguments", ["", "{}", {}, '{"a": 1}'])
def test_arguments_come_as_an_object_or_as_its_text(arguments: Any) -> None:
    async def scene(stage: Stage) -> None:
        await ask(stage)
        assert output(stage) == "done"
        assert worker.calls[0] in ({}, {"a": 1})

    worker = scripted_tool("work")
    play(scene, ScriptedBrain([ToolCall("work", arguments), "Done."]), tools=[worker])


@pytest.mark.req("L-18", "L-12")
@pytest.mark.parametrize("failure", [ValueError("no seats left"), KeyError("seat"), asyncio.CancelledError()])
def test_what_a_worker_raises_goes_to_the_brain_and_never_to_the_person_as_a_fault(failure: BaseException) -> None:
    async def work(arguments: dict[str, Any], job: Any) -> object:
        raise failure

    async def scene(stage: Stage) -> None:
        await ask(stage)
        assert "Tool failed" in json.loads(output(stage))["error"]
        assert stage.heard == ["It did not work."]
        assert stage.told(sg.Failed) == []

    play(scene, told("It did not work."), tools=[Worker(work)])


@pytest.mark.req("L-12")
@pytest.mark.parametrize("kind", ["function", "worker"])
def test_an_exception_reaches_the_model_as_its_class_and_a_short_message(kind: str) -> None:
    """Not with its other lines, which may hold paths, queries and keys."""
    said = "no seats left " * 50 + "\nTraceback: /srv/app/secret.py, key sk-123"

    async def fail(*_: Any) -> str:
        raise LookupError(said)

    @tool(name="work")
    async def function() -> str:
        return await fail()

    async def scene(stage: Stage) -> None:
        await ask(stage)
        error = json.loads(output(stage))["error"]
        assert error.startswith("Tool failed: LookupError: no seats left no seats left")
        assert "sk-123" not in error
        assert len(error) <= 240

    play(scene, told("It did not work."), tools=[function if kind == "function" else Worker(fail)])


@pytest.mark.req("C-SEC-001")
def test_what_a_tool_says_in_its_failure_stays_out_of_the_log() -> None:
    """`Problem` may be logged; the message of a failed tool may hold words and secrets."""

    @tool(name="work")
    async def work() -> str:
        raise ValueError("no account for Mrs Miller, key sk-123")

    async def scene(stage: Stage) -> None:
        await ask(stage)
        assert "Mrs Miller" in output(stage)
        assert not any("Miller" in problem or "sk-123" in problem for problem in stage.problems), stage.problems

    play(scene, told("It did not work."), tools=[work])


@pytest.mark.req("L-07", "L-11")
def test_a_worker_that_hangs_is_stopped_after_thirty_seconds_and_its_part_is_handed_over() -> None:
    worker = scripted_tool("work", Partly("three of five"), Hang())

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.until(lambda: bool(stage.outputs), 60)
        work_ms = stage.told(sg.WorkEnded)[0].duration_ms
        assert work_ms == 30_000
        assert json.loads(output(stage))["partial_result"] == "three of five"
        assert worker.cancelled == 1
        await stage.rest()
        assert stage.heard == ["Only a part."]

    play(scene, told("Only a part."), tools=[worker])


@pytest.mark.req("L-11", "M-16")
@pytest.mark.parametrize("part", [5, None, ["a", "list"], b"bytes", object()], ids=lambda part: type(part).__name__)
def test_a_partial_result_that_is_not_text_does_not_cost_the_output(part: Any) -> None:
    async def work(arguments: dict[str, Any], job: Any) -> object:
        job.partial(part)
        await asyncio.sleep(100)
        return "never"

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.sleep(31_000)
        assert_each_call_has_one_output(stage)
        await stage.rest()
        assert stage.heard == ["It took too long."]

    play(scene, told("It took too long."), tools=[Worker(work)])


@pytest.mark.req("L-11")
@pytest.mark.parametrize("summary", [None, "A short summary.", "x" * 9_000, 5, Hang()], ids=lambda s: str(s)[:20])
def test_a_result_of_a_million_characters_is_shortened(summary: Any) -> None:
    class Brain(ScriptedBrain):
        async def summarise(self, text: str, chars_max: int) -> str:
            assert len(text) == 1_000_000
            if isinstance(summary, Hang):
                await asyncio.sleep(1_000)
            return summary

    async def work(arguments: dict[str, Any], job: Any) -> object:
        return "word " * 200_000

    async def scene(stage: Stage) -> None:
        await ask(stage)
        assert 0 < len(output(stage)) <= 4_000
        assert stage.outputs[0].outcome is Outcome.DONE
        if summary == "A short summary.":
            assert output(stage) == summary
        elif not isinstance(summary, str):
            assert "1000000" in output(stage)

    brain = (Brain if summary is not None else ScriptedBrain)([ToolCall("work"), "Here it is."])
    play(scene, brain, tools=[Worker(work)])


@pytest.mark.req("L-11", "L-07")
def test_a_result_that_came_in_time_is_not_lost_because_shortening_it_takes_too_long() -> None:
    class Brain(ScriptedBrain):
        async def summarise(self, text: str, chars_max: int) -> str:
            await asyncio.sleep(1_000)
            return ""

    async def work(arguments: dict[str, Any], job: Any) -> object:
        await asyncio.sleep(28)
        return "word " * 2_000

    async def scene(stage: Stage) -> None:
        await ask(stage)
        assert "word word" in output(stage)

    play(scene, Brain([ToolCall("work"), "Here it is."]), tools=[Worker(work)])


@dataclass
class Seat:
    row: int
    on: date


@pytest.mark.req("L-07")
@pytest.mark.parametrize(
    "result",
    [
        None,
        {"a": 1},
        [1, 2],
        5,
        Seat(3, date(2026, 1, 2)),
        {1: 2},
        {("a", "b"): 1},
        {"when": date(2026, 1, 2)},
        {3, 4},
        object(),
        float("nan"),
    ],
    ids=lambda value: type(value).__name__ + str(value)[:12],
)
def test_a_result_that_is_not_text_still_reaches_the_brain(result: Any) -> None:
    """Work that was done must not be told as failed: the brain would do it again."""

    async def work(arguments: dict[str, Any], job: Any) -> object:
        return result

    async def scene(stage: Stage) -> None:
        await ask(stage)
        assert output(stage)
        assert stage.outputs[0].outcome is Outcome.DONE

    play(scene, told("Done."), tools=[Worker(work)])


@pytest.mark.req("L-07")
def test_a_result_that_contains_itself_still_reaches_the_brain() -> None:
    async def work(arguments: dict[str, Any], job: Any) -> object:
        circle: list[Any] = [1]
        circle.append(circle)
        return circle

    async def scene(stage: Stage) -> None:
        await ask(stage)
        assert stage.outputs[0].outcome is Outcome.DONE

    play(scene, told("Done."), tools=[Worker(work)])


@pytest.mark.req("L-09", "M-20")
def test_reports_of_a_worker_after_its_end_are_ignored() -> None:
    jobs: list[Any] = []

    async def work(arguments: dict[str, Any], job: Any) -> object:
        jobs.append(job)
        return "done"

    async def scene(stage: Stage) -> None:
        await ask(stage)
        jobs[0].progress("still here", 0.5)
        jobs[0].partial("more")
        jobs[0].detach()
        stage.conversation.notify_worker(1, "still here")
        stage.conversation.notify_worker(77, "who?")
        asking = asyncio.ensure_future(jobs[0].ask("are you there?"))
        await stage.sleep(1_000)
        assert stage.told(sg.WorkProgressed) == []
        assert stage.told(sg.WorkAsked) == []
        assert output(stage) == "done"
        assert stage.heard == ["Done."]
        asking.cancel()

    play(scene, told("Done."), tools=[Worker(work)])


@pytest.mark.req("L-10.stages")
@pytest.mark.parametrize("mode", ["tool", "delegate"])
def test_a_wait_is_told_at_five_fifteen_and_thirty_seconds(mode: str) -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.until(lambda: bool(stage.outputs), 60)
        waits = stage.told(sg.Waiting)
        assert [(wait.stage, wait.at - waits[0].at) for wait in waits] == [(0, 0), (1, 5_000), (2, 15_000), (3, 30_000)]
        assert stage.conversation.engine.tool_calls.waits() == []

    slow = profile("confirm", tool_ms_max=40_000)
    play(scene, told("Done."), tools=[scripted_tool("work", Delay(35_000), "done", mode=mode)], profile=slow)


@pytest.mark.req("L-10.detail")
def test_progress_is_part_of_the_feedback_as_soon_as_it_is_known() -> None:
    steps = (Progress("a tenth"), Delay(17_000), Progress("half"), Delay(1_000), Progress(""), Delay(2_000), "done")

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.until(lambda: bool(stage.outputs), 60)
        waits = stage.told(sg.Waiting)
        told_after = [(wait.at - waits[0].at, wait.stage, wait.detail) for wait in waits]
        assert told_after[1:] == [(5_000, 1, "a tenth"), (15_000, 2, "a tenth"), (17_000, 2, "half")]

    play(scene, told("Done."), tools=[scripted_tool("work", *steps, mode="delegate")])


@pytest.mark.req("L-10.stages")
def test_a_job_beside_the_conversation_is_not_waited_for() -> None:
    worker = scripted_tool("work", Progress("half"), Delay(40_000), "done", mode="dispatch")

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.until(lambda: bool(stage.news), 90)
        assert stage.told(sg.WorkProgressed)
        assert stage.told(sg.Waiting) == []

    play(scene, told("I am on it.", "It is done."), tools=[worker], profile=profile("confirm", dead_air_ms=0))


@pytest.mark.req("L-09", "L-10")
def test_a_delegated_job_shows_how_it_stands() -> None:
    worker = scripted_tool(
        "work", Delay(3_000), Progress("a quarter", 0.25), Delay(37_000), "the result", mode="delegate"
    )

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.sleep(500)
        assert stage.conversation.phase == "working"
        await stage.until(lambda: bool(stage.outputs), 60)
        waits = [(w.stage, w.label) for w in stage.told(sg.Waiting)]
        labels = ["Working on it", "Still working", "Making progress", "Taking longer than expected"]
        assert waits == list(enumerate(labels))
        assert stage.told(sg.Waiting)[2].detail == "a quarter"
        assert [(p.text, p.fraction) for p in stage.told(sg.WorkProgressed)] == [("a quarter", 0.25)]
        await stage.rest()
        assert stage.heard == ["Here it is."]

    play(scene, told("Here it is."), tools=[worker])


@pytest.mark.req("L-09")
def test_a_job_without_a_sign_of_life_for_a_minute_is_warned_of_and_stopped_after_five() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.until(lambda: bool(stage.outputs), 400)
        assert stage.told(sg.WorkSilent)
        assert stage.told(sg.WorkEnded)[0].duration_ms == 300_000

    play(scene, told("It took too long."), tools=[scripted_tool("work", Hang(), mode="delegate")])


@pytest.mark.req("L-08", "M-03")
def test_what_is_said_while_a_tool_runs_is_answered_with_its_result_in_one_request() -> None:
    brain = ScriptedBrain(
        lambda r: ToolCall("work") if r.text == "please do it" and not r.history[1:] else "Both done."
    )
    worker = scripted_tool("work", Delay(5_000), "the result")

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.say("and one more thing")
        await stage.rest()
        assert worker.cancelled == 0
        assert len(brain.requests) == 2
        assert "and one more thing" in brain.requests[1].text
        assert any(isinstance(item, CallOutput) for item in brain.requests[1].history)
        assert stage.heard == ["Both done."]

    play(scene, brain, tools=[worker])


def answering(*replies: Any) -> ScriptedBrain:
    """Calls the tool, then answers its questions with what the person says."""
    rest = list(replies)

    def reply(request: Request) -> Any:
        if request.text.startswith("the answer is") and isinstance(request.history[-1], UserSaid):
            return ToolCall("answer_job", {"job": 1, "answer": request.text.removeprefix("the answer is ")})
        return rest.pop(0) if rest else "I see."

    return ScriptedBrain(reply)


@pytest.mark.req("H-14")
@pytest.mark.parametrize(("waits", "answered"), [(False, False), (True, True)])
def test_a_job_gets_an_answer_only_to_a_question_that_was_heard(waits: bool, answered: bool) -> None:
    worker = scripted_tool("work", AskPerson("Window or aisle?"), "booked", mode="delegate")

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.until(lambda: bool(stage.told(sg.WorkAsked)))
        if waits:
            await stage.rest()
        stage.conversation.type("the answer is the aisle")
        await stage.rest()
        refused = [output.output for output in stage.outputs if "before the question was heard" in output.output]
        assert bool(refused) is not answered
        assert worker.answers == (["the aisle"] if answered else [])

    play(scene, answering(ToolCall("work"), "Would you like the window, or the aisle."), tools=[worker])


@pytest.mark.req("L-09", "M-16")
def test_a_job_that_asks_gets_the_persons_answer_and_goes_on() -> None:
    worker = scripted_tool("work", AskPerson("Window or aisle?"), "booked", mode="delegate")

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.rest()
        assert [asked.question for asked in stage.told(sg.WorkAsked)] == ["Window or aisle?"]
        assert json.loads(stage.outputs[0].output) == {
            "status": "needs_input",
            "job": 1,
            "question": "Window or aisle?",
        }
        assert stage.heard == ["Window or aisle?"]
        await stage.say("the answer is window")
        await stage.rest()
        assert worker.answers == ["window"]
        assert [(news.call, news.outcome, news.text) for news in stage.news] == [(1, Outcome.DONE, "booked")]
        assert_each_call_has_one_output(stage)

    play(scene, answering(ToolCall("work"), "Window or aisle?"), tools=[worker])


def test_words_of_low_confidence_answer_no_question_of_a_job_and_cancel_none() -> None:
    worker = scripted_tool("work", AskPerson("Shall I pay?"), "paid", mode="delegate")

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.rest()
        await stage.say("the answer is yes", confidence=0.2)
        await stage.rest()
        assert worker.answers == []
        assert "low confidence" in stage.outputs[-1].output
        await stage.say("the answer is yes")
        await stage.rest()
        assert worker.answers == ["yes"]
        assert_each_call_has_one_output(stage)

    play(scene, answering(ToolCall("work"), "Shall I pay?", "Did you say yes?"), tools=[worker])


@pytest.mark.req("L-09")
def test_a_job_may_ask_twice() -> None:
    worker = scripted_tool("work", AskPerson("First?"), AskPerson("Second?"), "booked", mode="delegate")

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.rest()
        await stage.say("the answer is one")
        await stage.rest()
        await stage.say("the answer is two")
        await stage.rest()
        assert worker.answers == ["one", "two"]
        assert stage.news[-1].text == "booked"
        assert_each_call_has_one_output(stage)

    play(scene, answering(ToolCall("work")), tools=[worker])


@pytest.mark.req("L-09", "C-AC-008")
def test_a_job_that_asks_two_things_at_once_gets_both_answers() -> None:
    async def work(arguments: dict[str, Any], job: Any) -> object:
        return " and ".join(await asyncio.gather(job.ask("First?"), job.ask("Second?")))

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.rest()
        for answer in ("one", "two"):
            try:
                stage.conversation.answer(1, answer)
            except Exception as failure:  # noqa: BLE001 - told below
                pytest.fail(f"{answer} was refused: {failure}")
            await stage.sleep(100)
        await stage.rest()
        assert [news.text for news in stage.news if news.outcome is Outcome.DONE] == ["one and two"]

    play(scene, answering(ToolCall("work")), tools=[Worker(work, mode="delegate")])


@pytest.mark.req("L-07")
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"job": 1},
        {"job": "1", "answer": "x"},
        {"job": 99, "answer": "x"},
        {"answer": "x"},
        {"job": True, "answer": "x"},
    ],
    ids=str,
)
def test_an_answer_to_a_job_that_does_not_fit_is_refused_and_the_job_still_waits(arguments: dict[str, Any]) -> None:
    worker = scripted_tool("work", AskPerson("Window or aisle?"), "booked", mode="delegate")
    script = [ToolCall("work"), "Window or aisle?", ToolCall("answer_job", arguments), "That did not fit."]

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.rest()
        await stage.say("window")
        await stage.rest()
        assert "error" in json.loads(stage.outputs[1].output), stage.outputs[1]
        assert worker.answers == []

    play(scene, ScriptedBrain(script), tools=[worker])


@pytest.mark.req("L-09", "M-16")
def test_a_dispatched_job_can_be_cancelled_by_the_brain() -> None:
    worker = scripted_tool("work", Hang(), mode="dispatch")
    script = [ToolCall("work"), "It runs.", ToolCall("cancel_job", {"job": 1}), "Cancelled."]

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.rest()
        assert stage.heard == ["It runs."]
        await stage.say("cancel it")
        await stage.rest()
        assert worker.cancelled == 1
        assert stage.heard[-1] == "Cancelled."
        assert [news.outcome for news in stage.news] == [Outcome.CANCELLED]
        assert_each_call_has_one_output(stage)
        assert not [name for name in others() if name.startswith("call")]

    play(scene, ScriptedBrain(script), tools=[worker])


@pytest.mark.req("L-09", "M-16")
def test_the_user_can_cancel_a_job_that_the_answer_waits_for() -> None:
    worker = scripted_tool("work", Partly("half"), Hang(), mode="delegate")
    brain = told("This must not be said.")

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.sleep(1_000)
        stage.conversation.cancel(1)
        await stage.sleep(100)
        assert stage.conversation.phase == "listening"
        assert stage.outputs[0].outcome is Outcome.CANCELLED
        assert json.loads(output(stage)) == {"status": "cancelled", "partial_result": "half"}
        assert worker.cancelled == 1
        await stage.sleep(5_000)
        assert len(brain.requests) == 1
        stage.conversation.cancel(1)
        stage.conversation.cancel(99)

    play(scene, brain, tools=[worker])


@pytest.mark.req("L-09", "M-17")
def test_the_result_of_a_dispatched_job_is_spoken_and_there_is_no_check_in_meanwhile() -> None:
    worker = scripted_tool("work", Delay(60_000), "the result", mode="dispatch")

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.rest()
        await stage.until(lambda: stage.heard[-1:] == ["It is done."], 120)
        assert stage.heard == ["It runs.", "It is done."]

    play(scene, ScriptedBrain([ToolCall("work"), "It runs.", "It is done."]), tools=[worker])


@pytest.mark.req("L-07", "M-20")
def test_a_flood_of_calls_is_bounded_and_each_gets_its_output() -> None:
    async def scene(stage: Stage) -> None:
        await ask(stage)
        assert_each_call_has_one_output(stage)
        outcomes = Counter(item.outcome for item in stage.outputs)
        assert outcomes == {Outcome.DONE: 8, Outcome.REFUSED: 12}
        numbers = [item.call for item in stage.outputs]
        assert sorted(numbers) == list(range(1, 21))

    calls = [ToolCall("work") for _ in range(20)]
    play(scene, ScriptedBrain([calls, "All done."]), tools=[scripted_tool("work", Delay(1_000))])


@pytest.mark.req("M-04")
def test_ending_in_mid_tool_gives_the_call_its_output() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.sleep(500)
        await stage.conversation.end("enough")
        assert stage.outputs[0].outcome is Outcome.CANCELLED
        assert output(stage)
        assert stage.lost == ["please do it"]

    play(scene, told("never"), tools=[scripted_tool("work", Hang())])


@pytest.mark.req("L-07")
def test_a_tool_that_takes_longer_than_thought_may_go_on_beside_the_conversation() -> None:
    async def work(arguments: dict[str, Any], job: Any) -> object:
        await asyncio.sleep(1)
        job.detach()
        await asyncio.sleep(60)
        return "the result"

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.rest()
        assert stage.outputs[0].outcome is Outcome.STARTED
        await stage.until(lambda: bool(stage.news), 100)
        assert stage.news[0].text == "the result"

    play(scene, told("It runs."), tools=[Worker(work)])
