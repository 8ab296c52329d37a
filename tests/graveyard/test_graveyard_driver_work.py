"""Work that went wrong elsewhere, through the real driver: calls, jobs, cancels and their one output.

Graveyard rows 11, 12, 13 and 21. Rule: every story ends with `ends_well`, which also counts outputs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.core import effects as fx
from duologue.core.leaves import Ask, ErrorClass, Outcome
from duologue.observe import signals as sg
from duologue.ports import AgentSaid, CallOutput, Job, News, Part, Request, Tool, ToolCall
from duologue.testing import AskPerson, Delay, Fail, Hang, Partly, Progress, ScriptedWorker, scripted_tool
from tests.graveyard.staged_call import PROFILES, Staged

PREAMBLE = "Let me look that up for you now."
RESULT = "There are three."
every_profile = pytest.mark.parametrize("profile", PROFILES)


def looks_up(*steps: Any, cancellable: bool = False, mode: str = "tool") -> ScriptedWorker:
    return scripted_tool("look_up", *steps, "three", cancellable=cancellable, mode=mode)


def barge_in(call: Staged, text: str = "no wait a double one") -> None:
    """Say this over the agent; the profile's own test is passed with the first two words."""
    call.begins_speaking().partial_text("no wait").waits(300).stops_speaking().waits(120).final_text(text)


def outcomes(call: Staged) -> list[tuple[int, Outcome]]:
    return [(item.call, item.outcome) for item in call.history if isinstance(item, CallOutput)]


def news(call: Staged) -> list[tuple[int, Outcome]]:
    return [(item.call, item.outcome) for item in call.history if isinstance(item, News)]


# -- 11: calls that stay in progress


@pytest.mark.graveyard(11)
@every_profile
@pytest.mark.parametrize("heard_ms", [1, 400])
def test_a_cancellable_call_that_is_talked_over_gets_one_output_and_is_gone(profile: str, heard_ms: int) -> None:
    """pipecat#5779: the call is cancelled with the sentence before it, and the history says for ever
    that it still runs."""
    worker = looks_up(Delay(5_000), cancellable=True)
    brain = ScriptedBrain([[PREAMBLE, ToolCall("look_up")], RESULT])
    with Staged(brain, worker, profile=profile) as call:
        call.says("is there a room")
        call.plays(heard_ms)
        barge_in(call)
        assert worker.cancelled == 1
        assert call.conversation.machine_state.jobs == ()
        call.settles().waits(6_000)
        assert outcomes(call) == [(1, Outcome.CANCELLED)]
        assert call.asked == ["is there a room", "no wait a double one"]
        assert [ended.outcome for ended in call.told(sg.WorkEnded)] == [Outcome.CANCELLED]
        assert call.heard[-1] == RESULT
        call.settles()
        call.ends_well()


class Defiant(ScriptedWorker):
    """Works on after it was cancelled, reports progress, and comes back with a result."""

    async def run(self, arguments: dict[str, Any], job: Job) -> object:
        self.calls.append(arguments)
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            self.cancelled += 1
            job.progress("almost there")
            job.detach()
            await asyncio.sleep(0.3)
            job.progress("done after all")
        return "three"


@pytest.mark.graveyard(11)
def test_news_of_a_cancelled_call_opens_nothing() -> None:
    """pipecat#3661: the interruption overtakes the message that the function is in progress."""
    worker = Defiant(Tool("look_up", cancellable=True))
    brain = ScriptedBrain([[PREAMBLE, ToolCall("look_up")], RESULT])
    with Staged(brain, worker) as call:
        call.says("is there a room")
        call.plays(200)
        barge_in(call)
        call.settles().waits(2_000)
        assert worker.cancelled == 1
        assert outcomes(call) == [(1, Outcome.CANCELLED)]
        assert news(call) == []
        assert call.conversation.machine_state.jobs == ()
        assert len(call.asked) == 2
        call.ends_well()


@pytest.mark.graveyard(11)
@every_profile
def test_a_call_that_was_talked_over_does_not_block_its_second_try(profile: str) -> None:
    """pipecat#4165: an orphan of the interrupted call counts as running, so the flow never goes on."""
    worker = looks_up(Delay(500), cancellable=True)
    brain = ScriptedBrain([[PREAMBLE, ToolCall("look_up")], [ToolCall("look_up")], RESULT])
    with Staged(brain, worker, profile=profile) as call:
        call.says("is there a room")
        call.plays(200)
        barge_in(call)
        call.settles()
        assert outcomes(call) == [(1, Outcome.CANCELLED), (2, Outcome.DONE)]
        assert len(call.asked) == 3
        assert call.heard[-1] == RESULT
        call.ends_well()


class Stubborn(ScriptedBrain):
    """Its first reply can't be cancelled: it then makes a call, says something, and fails."""

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        self.requests.append(request)
        if len(self.requests) > 1:
            yield RESULT
            return
        yield PREAMBLE + " "
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            self.cancelled.append(request.reply)
        yield ToolCall("look_up")
        yield "This is an old story. "
        await asyncio.sleep(0.5)
        raise OSError("the connection of a binned generation")


@pytest.mark.graveyard(11)
@every_profile
def test_a_call_of_a_reply_that_was_interrupted_is_never_run(profile: str) -> None:
    """pipecat#3548 and #4997: a call of a binned generation leaves an entry that is never cleared."""
    worker = looks_up()
    with Staged(Stubborn(), worker, profile=profile) as call:
        call.says("is there a room")
        call.plays(400)
        barge_in(call)
        call.settles().waits(1_000)
        assert len(call.brain.cancelled) == 1
        assert worker.calls == []
        assert outcomes(call) == []
        assert [item.calls for item in call.history if isinstance(item, AgentSaid) and item.calls] == []
        assert call.heard[-1] == RESULT
        assert call.told(sg.Failed) == []
        assert not any("old story" in text for text in call.heard)
        call.ends_well()


# -- 12: a lookup that a barge-in must not cancel


@pytest.mark.graveyard(12)
@every_profile
@pytest.mark.parametrize("after_ms", [0, 1, 10])
def test_a_barge_in_just_after_a_lookup_began_lets_it_finish(profile: str, after_ms: int) -> None:
    """pipecat#4657: ten milliseconds after it began, a lookup is cancelled and the booking is lost."""
    worker = looks_up(Delay(2_000))
    brain = ScriptedBrain([[PREAMBLE, Delay(700), ToolCall("look_up"), "One moment."], RESULT])
    with Staged(brain, worker, profile=profile) as call:
        call.says("is there a room")
        call.until(lambda: bool(worker.calls)).waits(after_ms)
        barge_in(call)
        assert len(call.asked) == 1, "what is said waits for the lookup"
        call.settles()
        assert worker.cancelled == 0
        assert call.outputs == [(1, "three")]
        assert call.asked == ["is there a room", "no wait a double one"]
        assert call.heard[-1] == RESULT
        call.ends_well()


@pytest.mark.graveyard(12)
@every_profile
def test_one_more_sentence_during_a_lookup_is_answered_with_its_result(profile: str) -> None:
    """pipecat#4657: the caller only adds a sentence, and is told that they are not on file."""
    worker = looks_up(Delay(3_000))
    with Staged(ScriptedBrain([[ToolCall("look_up")], RESULT]), worker, profile=profile) as call:
        call.says("is there a room")
        call.waits(10).says("a double one please")
        assert len(call.asked) == 1
        call.settles()
        assert call.asked[1:] == ["a double one please"]
        assert worker.cancelled == 0
        assert call.outputs == [(1, "three")]
        assert call.brain.cancelled == []
        assert call.heard[-1] == RESULT
        call.ends_well()


# -- 13: "are you still there?" over the agent's own lookup


@pytest.mark.graveyard(13)
@pytest.mark.parametrize("profile", ["words", "confirm"])
def test_a_lookup_that_the_agent_announced_is_not_dead_air(profile: str) -> None:
    """livekit/agents#6904: the end of a filler sentence arms the away timer in the middle of a tool."""
    worker = looks_up(Delay(90_000), Progress("half"), Delay(1_000), mode="delegate")
    with Staged(ScriptedBrain([[PREAMBLE, ToolCall("look_up")], RESULT]), worker, profile=profile) as call:
        call.says("is there a room")
        call.waits(90_500)
        assert [effect.ask for effect in call.effects(fx.StartReply)][-1] is Ask.ANSWER
        assert "Are you still there?" not in call.heard
        call.settles()
        assert call.heard[-2:] == [PREAMBLE, RESULT]
        assert len(call.asked) == 2
        call.ends_well()


@pytest.mark.graveyard(13)
@pytest.mark.parametrize("profile", ["words", "confirm"])
def test_after_a_job_beside_the_talk_dead_air_is_timed_again_every_time(profile: str) -> None:
    """livekit/agents#6883: who waits in silence for a long tool is marked away once and never again."""
    worker = looks_up(Delay(90_000), mode="dispatch")
    brain = ScriptedBrain([[ToolCall("look_up")], "I have started it.", RESULT])
    with Staged(brain, worker, profile=profile) as call:
        call.says("is there a room")
        call.waits(89_000)
        assert "Are you still there?" not in call.heard
        call.waits(2_000).settles()
        assert call.heard[-2:] == ["I have started it.", RESULT]
        assert news(call) == [(1, Outcome.DONE)]
        for number in (1, 2):
            call.waits(call.settings.dead_air_ms).settles()
            assert call.heard.count("Are you still there?") == number
        assert len(call.asked) == 3
        call.ends_well()


# -- 21: a voice front end of a worker


@pytest.mark.graveyard(21)
@pytest.mark.parametrize("after_ms", [29_999, 30_000, 30_001])
def test_a_result_at_the_very_deadline_is_one_output(after_ms: int) -> None:
    """bkrabach/amplifier-voice: result and timeout each write an output for the same call."""
    worker = looks_up(Partly("two of them"), Delay(after_ms))
    with Staged(ScriptedBrain([[ToolCall("look_up")], RESULT]), worker) as call:
        call.says("is there a room")
        call.settles().waits(2_000)
        assert len(call.outputs) == 1
        done = outcomes(call) == [(1, Outcome.DONE)]
        assert done or (outcomes(call) == [(1, Outcome.TIMED_OUT)] and "two of them" in call.outputs[0][1])
        assert after_ms == 30_000 or done is (after_ms < 30_000)
        assert len(call.asked) == 2
        assert call.heard == [RESULT]
        call.settles()
        call.ends_well()


@pytest.mark.graveyard(21)
@pytest.mark.parametrize("offset_ms", [-1, 0, 1])
def test_a_cancel_as_the_job_ends_is_one_output(offset_ms: int) -> None:
    """bkrabach/amplifier-voice: cancel and result race, and both write."""
    worker = looks_up(Delay(2_000), mode="delegate")
    with Staged(ScriptedBrain([[ToolCall("look_up")], RESULT]), worker) as call:
        call.says("is there a room")
        began_at = call.when(fx.RunCall)[0]
        call.waits(began_at + 2_000 + offset_ms - call.now_ms)
        call.does(lambda: call.conversation.cancel(1)).does(lambda: call.conversation.cancel(1))
        call.settles().waits(1_000)
        assert len(call.outputs) == 1
        assert outcomes(call)[0][1] in ((Outcome.CANCELLED,) if offset_ms < 0 else (Outcome.DONE, Outcome.CANCELLED))
        assert len(call.asked) == (1 if outcomes(call)[0][1] is Outcome.CANCELLED else 2)
        call.ends_well()


@pytest.mark.graveyard(21)
def test_a_call_that_the_brain_repeats_by_its_id_runs_once() -> None:
    """bkrabach/amplifier-voice: two outputs for one call id, which the service then refuses. A stream
    that says the same call twice must not book twice."""
    worker = looks_up()
    twice = [PREAMBLE, ToolCall("look_up", {"room": 1}, id="call_7"), ToolCall("look_up", {"room": 1}, id="call_7")]
    with Staged(ScriptedBrain([twice, RESULT]), worker) as call:
        call.says("is there a room")
        call.settles()
        ids = [made.id for item in call.history if isinstance(item, AgentSaid) for _, made in item.calls]
        assert ids == ["call_7"]
        assert len(worker.calls) == 1
        assert len(call.outputs) == 1
        call.ends_well()


@pytest.mark.graveyard(21)
@every_profile
def test_a_result_waits_until_the_active_reply_was_heard(profile: str) -> None:
    """bkrabach/amplifier-voice: a response is requested while one is active, and the request fails."""
    worker = looks_up(Delay(4_000), mode="dispatch")
    story = "Once upon a time there was a very long and winding road to the sea."
    brain = ScriptedBrain([[ToolCall("look_up")], "Started.", story, RESULT], first_ms=200)
    with Staged(brain, worker, profile=profile) as call:
        call.says("is there a room")
        call.waits(1_000).says("tell me a story")
        call.until(lambda: bool(news(call)))
        assert call.line.log[-1].what in ("play", "finish")
        assert len(call.asked) == 3
        call.settles()
        finished = [record.event.at for record in call.records if type(record.event).__name__ == "PlaybackFinished"]
        assert call.when(fx.StartReply)[-1] == finished[-2] + call.settings.beat_ms
        assert call.heard[-2:] == [story, RESULT]
        assert call.asked[2:] == ["tell me a story", ""]
        call.ends_well()


@pytest.mark.graveyard(21)
@every_profile
def test_a_result_that_comes_while_the_person_speaks_goes_into_their_request(profile: str) -> None:
    """bkrabach/amplifier-voice, of the same kind: the floor is the person's; one request tells all."""
    worker = looks_up(Delay(2_600), mode="dispatch")
    brain = ScriptedBrain([[ToolCall("look_up")], "Started.", RESULT])
    with Staged(brain, worker, profile=profile) as call:
        call.says("is there a room")
        call.settles().begins_speaking().waits(400).partial_text("and also")
        call.until(lambda: bool(news(call)))
        assert len(call.asked) == 2
        call.waits(500).stops_speaking().waits(120).final_text("and also breakfast").settles()
        assert call.asked[2:] == ["and also breakfast"]
        assert News(1, "three", tool="look_up") in call.brain.requests[2].history
        assert call.heard[-1] == RESULT
        call.ends_well()


@pytest.mark.graveyard(21)
@every_profile
@pytest.mark.parametrize("mode", ["tool", "delegate", "dispatch"])
def test_a_cancel_arrives_while_the_job_runs(profile: str, mode: str) -> None:
    """bkrabach/amplifier-voice: the loop waits for the job, so the cancel is read when it is done."""
    worker = looks_up(Progress("on it"), Hang(), mode=mode)
    brain = ScriptedBrain([[PREAMBLE, ToolCall("look_up")], "Started."])
    with Staged(brain, worker, profile=profile) as call:
        call.says("is there a room")
        call.waits(20_000).does(lambda: call.conversation.cancel(1))
        assert worker.cancelled == 1, "in the same millisecond"
        asked = len(call.asked)
        call.waits(3_000)
        ended = (outcomes(call) + news(call))[-1]
        assert ended == (1, Outcome.CANCELLED)
        assert len(call.asked) == asked, "a cancel asks nothing"
        call.settles()
        call.ends_well()


@pytest.mark.graveyard(21)
def test_a_cancel_of_the_call_of_a_reply_that_broke_off_asks_nothing() -> None:
    """bkrabach/amplifier-voice, of the same kind: the stream of the reply breaks after its call, then the
    person cancels. Asking again would only start the same job again."""
    worker = looks_up(Delay(20_000), mode="delegate")
    with Staged(ScriptedBrain([[ToolCall("look_up"), Delay(50), Fail()]]), worker) as call:
        call.says("is there a room")
        call.waits(2_000).does(lambda: call.conversation.cancel(1)).waits(2_000)
        assert outcomes(call) == [(1, Outcome.CANCELLED)]
        assert call.asked == ["is there a room"]
        call.settles()
        call.ends_well()


@pytest.mark.graveyard(21)
def test_the_brain_can_cancel_a_job_that_runs_beside_the_talk() -> None:
    """bkrabach/amplifier-voice: "never mind" is understood, and the job goes on."""
    worker = looks_up(Hang(), mode="dispatch")
    brain = ScriptedBrain([[ToolCall("look_up")], "Started.", [ToolCall("cancel_job", {"job": 1})], "It is off."])
    with Staged(brain, worker) as call:
        call.says("is there a room").user("never mind").settles()
        assert worker.cancelled == 1
        assert news(call) == [(1, Outcome.CANCELLED)]
        assert outcomes(call) == [(1, Outcome.STARTED), (2, Outcome.DONE)]
        assert call.heard == ["Started.", "It is off."]
        call.ends_well()


@pytest.mark.graveyard(21)
@pytest.mark.parametrize("mode", ["tool", "delegate", "dispatch"])
def test_a_job_that_asks_back_can_be_answered_whatever_its_mode(mode: str) -> None:
    """bkrabach/amplifier-voice, of the same kind: what the job waits for can't reach it, so it stays open
    and dead air is never timed again."""
    worker = scripted_tool("look_up", AskPerson("Which floor?"), mode=mode)
    script = [[ToolCall("look_up")], "Which floor?", [ToolCall("answer_job", {"job": 1, "answer": "the third"})]]
    with Staged(ScriptedBrain([*script, "Fine.", RESULT]), worker) as call:
        call.says("is there a room").settles()
        offered = [tool.name for tool in call.brain.requests[-1].tools]
        assert {"answer_job", "cancel_job"} <= set(offered)
        call.user("the third").settles().waits(1_000).settles()
        assert worker.answers == ["the third"]
        assert news(call)[-1] == (1, Outcome.DONE)
        assert call.conversation.machine_state.jobs == ()
        call.ends_well()


@pytest.mark.graveyard(21)
@pytest.mark.parametrize("mode", ["tool", "delegate"])
@pytest.mark.parametrize("stream_ms", [0, 500], ids=["reply-over", "reply-streams"])
def test_a_cancel_arrives_while_the_line_is_down(mode: str, stream_ms: int) -> None:
    """bkrabach/amplifier-voice, of the same kind: a cancel must not depend on the session. The line goes
    100 ms after the call was made, when the reply is over, or while its stream is still open."""
    worker = looks_up(Delay(20_000), mode=mode)
    with Staged(ScriptedBrain([[ToolCall("look_up"), Delay(stream_ms)]]), worker) as call:
        call.says("is there a room")
        call.waits(100).does(call.line.drop).does(call.line.block).waits(500).does(lambda: call.conversation.cancel(1))
        assert worker.cancelled == 1
        call.waits(1_000).does(call.line.unblock).waits(8_000).settles()
        assert outcomes(call) == [(1, Outcome.CANCELLED)]
        assert call.asked == ["is there a room"]
        call.ends_well()


@pytest.mark.graveyard(21)
@every_profile
@pytest.mark.parametrize("mode", ["tool", "delegate", "dispatch"])
@pytest.mark.parametrize("down_ms", [1_500, 4_500])
def test_a_result_that_comes_while_the_line_is_down_is_told_when_it_is_back(
    profile: str, mode: str, down_ms: int
) -> None:
    """bkrabach/amplifier-voice: the socket is closed when the job ends, and its result is dropped."""
    worker = looks_up(Delay(3_000), mode=mode)
    replies: list[Any] = [[ToolCall("look_up")], *(["Started."] if mode == "dispatch" else []), RESULT]
    with Staged(ScriptedBrain(replies), worker, profile=profile) as call:
        call.says("is there a room")
        call.waits(2_000).does(call.line.drop).does(call.line.block)
        told = len(call.line.log)
        call.waits(down_ms)
        assert [act.what for act in call.line.log[told:]] == [], "nothing is said on a dead line"
        call.does(call.line.unblock).waits(4_000).settles()
        ended = (outcomes(call) if mode != "dispatch" else news(call))[-1]
        assert ended == (1, Outcome.DONE)
        assert call.heard[-1] == RESULT
        assert call.heard.count(RESULT) == 1
        assert len(worker.calls) == 1
        assert call.told(sg.Lost) == []
        call.ends_well()


@pytest.mark.graveyard(21)
@pytest.mark.parametrize("way", ["retry", "dismiss"])
def test_news_that_could_not_be_told_is_told_after_the_fault(way: str) -> None:
    """bkrabach/amplifier-voice: the brain fails as it is to tell the result, and the result is gone."""
    worker = looks_up(Delay(2_000), mode="dispatch")
    brain = ScriptedBrain([[ToolCall("look_up")], "Started.", Fail(ErrorClass.UNKNOWN), RESULT])
    with Staged(brain, worker) as call:
        call.says("is there a room")
        call.until(lambda: bool(call.told(sg.Failed)))
        assert RESULT not in call.heard
        call.does(call.conversation.retry if way == "retry" else call.conversation.dismiss).settles()
        assert call.heard == ["Started.", RESULT]
        assert [item for item in call.brain.requests[-1].history if isinstance(item, News)] == [
            News(1, "three", tool="look_up")
        ]
        assert news(call) == [(1, Outcome.DONE)]
        call.ends_well()


@pytest.mark.graveyard(21)
def test_a_call_too_many_is_refused_with_its_one_output() -> None:
    """bkrabach/amplifier-voice, of the same kind: no call is left without an output, not even refused."""
    worker = looks_up(Delay(1_000))
    calls = [ToolCall("look_up", {"room": number}, id=f"c{number}") for number in range(4)]
    with Staged(ScriptedBrain([[PREAMBLE, *calls], RESULT]), worker, settings={"jobs_max": 2}) as call:
        call.says("is there a room")
        call.settles()
        assert {number for number, _ in outcomes(call)} == {1, 2, 3, 4}
        assert [outcome for _, outcome in outcomes(call)].count(Outcome.REFUSED) == 2
        assert len(worker.calls) == 2
        assert len(call.asked) == 2
        call.ends_well()
