"""A job that asks: a yes that came before its question was heard or shown answers nothing, whatever the model does.

The model in these tests is as hasty as a model can be: as soon as it may, it answers every job with "yes". Rule: the
job gets that answer only if the user said something after the question was asked.
"""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types import ElicitRequestFormParams

from duologue.core.leaves import Outcome
from duologue.core.settings import profile
from duologue.ports import Request, ToolCall
from duologue.ports.history import CallOutput, News
from duologue.runtime.agent import Phrases
from duologue.testing import AskPerson, ScriptedBrain, scripted_tool
from duologue.workers.mcp_content import answer_elicitation
from tests.runtime.runtime_fakes import Script, Stage, play

QUESTION = "Shall I send 50 euros to Anna?"
PLAIN = "Please say whether I shall send 50 euros to Anna."  # without a question mark
TOO_EARLY = "the user spoke before the question was heard: ask it again"
PROFILES = ["confirm", "words", "immediate"]
MODES = ["tool", "delegate", "dispatch"]


def asked_jobs(request: Request) -> list[int]:
    """The jobs that have asked something, according to what this request tells."""
    items = [item for item in request.history if isinstance(item, CallOutput | News)]
    return sorted({item.call for item in items if item.outcome is Outcome.NEEDS_INPUT})


def is_refused(request: Request) -> bool:
    return any(TOO_EARLY in item.output for item in request.outputs)


class HastyModel:
    """Answers each job as soon as it may. After a refusal, and at first if `asks`, it asks the user instead."""

    def __init__(self, says: str = QUESTION, asks: bool = False) -> None:
        self.says, self.asks = says, asks
        self.answers = "yes"

    def __call__(self, request: Request) -> Any:
        jobs = asked_jobs(request)
        may_answer = any(tool.name == "answer_job" for tool in request.tools)
        if not jobs:
            return "All right." if request.outputs or request.news else ToolCall("send")
        if not may_answer:
            return "It is done."
        first_told = any(item.outcome is Outcome.NEEDS_INPUT for item in (*request.outputs, *request.news))
        if is_refused(request) or (self.asks and first_told):
            return self.says
        return ToolCall("answer_job", {"job": jobs[-1], "answer": self.answers})


def bank(script: Script, model: Any, name: str = "confirm", mode: str = "tool", **agent: Any) -> tuple[Stage, Any]:
    worker = agent.pop("worker", None) or scripted_tool("send", AskPerson(QUESTION), "sent", mode=mode)
    stage = play(script, ScriptedBrain(model), profile=profile(name, greets=False), tools=[worker], **agent)
    return stage, worker


@pytest.mark.req("H-14")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("after_ms", [0, 1, 60, 300, 900])
def test_a_yes_before_the_question_of_a_job_was_heard_answers_nothing(
    after_ms: int, asks: bool, name: str, mode: str
) -> None:
    """Also if it comes in the same request as the question."""

    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        await stage.sleep(after_ms)
        stage.conversation.type("yes", sees_captions=False)
        await stage.sleep(20_000)

    stage, worker = bank(scene, HastyModel(asks=asks), name, mode)
    assert worker.answers == []
    assert stage.heard[-1] == QUESTION


@pytest.mark.req("H-14")
@pytest.mark.parametrize("mode", MODES)
def test_a_model_cannot_answer_a_job_by_itself(mode: str) -> None:
    """Nothing was said since the question came up: the order isn't its confirmation."""

    async def scene(stage: Stage) -> None:
        await stage.say("yes send money to Anna")
        await stage.sleep(20_000)

    stage, worker = bank(scene, HastyModel(), mode=mode)
    assert worker.answers == []
    assert [TOO_EARLY in item.output for item in stage.outputs if "error" in item.output] == [True]


@pytest.mark.req("H-14")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("says", [QUESTION, PLAIN])
@pytest.mark.parametrize("way", ["typed", "said"])
@pytest.mark.parametrize("asks", [False, True])
def test_after_the_question_was_heard_a_yes_is_the_answer(asks: bool, way: str, says: str, mode: str) -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        stage.conversation.type("yes", sees_captions=False)
        await stage.until(lambda: says in stage.heard)
        await stage.rest()
        if way == "typed":
            stage.conversation.type("yes")
        else:
            await stage.say("yes")
        await stage.sleep(20_000)

    _, worker = bank(scene, HastyModel(says, asks), mode=mode)
    assert worker.answers == ["yes"]


@pytest.mark.req("H-14")
@pytest.mark.parametrize(("shown_for_ms", "answers"), [(100, []), (600, ["yes"])])
def test_on_a_screen_the_question_of_a_job_must_have_been_shown_for_a_moment(
    shown_for_ms: int, answers: list[str]
) -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        await stage.until(lambda: QUESTION in stage.heard)
        await stage.sleep(shown_for_ms)
        stage.conversation.type("yes")
        await stage.sleep(20_000)

    assert bank(scene, HastyModel(asks=True), voice=None)[1].answers == answers


@pytest.mark.req("H-14")
def test_a_detour_through_another_tool_does_not_make_an_early_yes_late() -> None:
    """After the refusal, the model calls another tool, and answers the job in the reply that follows from that."""
    other = scripted_tool("look_up", "nothing found")

    class Detour(HastyModel):
        tried = 0

        def __call__(self, request: Request) -> Any:
            if is_refused(request):
                return ToolCall("look_up")
            if any("nothing found" in item.output for item in request.outputs):
                self.tried += 1
                return ToolCall("answer_job", {"job": 1, "answer": "yes"}) if self.tried < 3 else QUESTION
            return super().__call__(request)

    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        await stage.sleep(60)
        stage.conversation.type("yes", sees_captions=False)
        await stage.sleep(20_000)

    worker = scripted_tool("send", AskPerson(QUESTION), "sent")
    model = Detour()
    play(scene, ScriptedBrain(model), profile=profile("confirm", greets=False), tools=[worker, other])
    assert model.tried >= 3
    assert worker.answers == []


@pytest.mark.req("H-14")
def test_the_yes_to_one_question_of_a_job_is_no_answer_to_its_next_one() -> None:
    worker = scripted_tool("send", AskPerson(QUESTION), AskPerson("Shall I send 5,000 euros to Eve?"), "sent")

    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        await stage.until(lambda: QUESTION in stage.heard)
        await stage.rest()
        await stage.say("yes")
        await stage.sleep(20_000)
        assert worker.answers == ["yes"]
        await stage.say("yes")
        await stage.sleep(20_000)
        assert worker.answers == ["yes", "yes"], "once the second question was asked, it can be answered"

    bank(scene, HastyModel(), worker=worker)


@pytest.mark.req("H-14")
def test_a_yes_to_the_question_of_one_job_is_no_answer_to_that_of_another() -> None:
    first = scripted_tool("send", AskPerson(QUESTION), "sent", mode="dispatch")
    second = scripted_tool("buy", AskPerson("Shall I buy the house?"), "bought", mode="dispatch")

    def model(request: Request) -> Any:
        jobs = asked_jobs(request)
        if not jobs:
            return "One moment." if request.outputs else ToolCall("send")
        if request.text == "yes":
            return [ToolCall("buy")]
        if request.text == "do both" or (2 in jobs and not is_refused(request) and request.news):
            return [ToolCall("answer_job", {"job": job, "answer": "yes"}) for job in (2, 1)]
        return QUESTION

    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        await stage.until(lambda: QUESTION in stage.heard)
        await stage.rest()
        await stage.say("yes")  # after the first question; the second comes up now
        await stage.sleep(20_000)
        assert (first.answers, second.answers) == (["yes"], [])

    play(scene, ScriptedBrain(model), profile=profile("confirm", greets=False), tools=[first, second])


@pytest.mark.req("H-14")
@pytest.mark.parametrize("waits", [False, True])
def test_what_an_mcp_server_asks_is_not_confirmed_by_an_earlier_yes(waits: bool) -> None:
    given: list[Any] = []

    class Errand:
        tool = scripted_tool("send").tool

        async def run(self, arguments: dict[str, Any], job: Any) -> object:
            schema = {"type": "object", "properties": {"confirmation": {"type": "string"}}}
            params = ElicitRequestFormParams(message=QUESTION, requested_schema=schema)
            answer = await answer_elicitation(params, job)
            given.append(answer.content)
            return "sent"

    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        stage.conversation.type("yes", sees_captions=False)
        if waits:
            await stage.until(lambda: QUESTION in stage.heard)
            await stage.rest()
            stage.conversation.type("yes")
        await stage.sleep(20_000)

    bank(scene, HastyModel(), worker=Errand())
    assert given == ([{"confirmation": "yes"}] if waits else [])


@pytest.mark.req("H-14")
def test_a_yes_to_a_question_that_the_agent_asks_by_itself_answers_no_job() -> None:
    """A press cut the job's question off, and the agent offered to go on. (It makes no check-ins while a job runs.)"""
    worker = scripted_tool("send", AskPerson(QUESTION), "sent", mode="dispatch")

    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        await stage.until(lambda: stage.line.heard_ms >= 600)
        stage.conversation.press()
        await stage.sleep(200)
        stage.conversation.release()
        await stage.until(lambda: any("continue" in text or "go on" in text for text in stage.heard))
        await stage.sleep(1_500)
        await stage.say("yes")
        await stage.until(lambda: stage.heard[-1] == QUESTION)
        assert worker.answers == []
        await stage.sleep(3_000)
        await stage.say("yes")
        await stage.sleep(5_000)
        assert worker.answers == ["yes"]

    settings = profile("confirm", greets=False)
    play(scene, ScriptedBrain(HastyModel(asks=True)), profile=settings, tools=[worker], phrases=Phrases())
