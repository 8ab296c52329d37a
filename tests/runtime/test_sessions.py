"""Sessions and lines: pauses, wobbles, reconnects, renewals, and the context for the next session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from duologue.core import effects as fx
from duologue.core.leaves import ErrorClass, FaultSource
from duologue.core.settings import profile
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.ports import (
    Closed,
    ToolCall,
    UserSaid,
    Wobbled,
)
from duologue.ports.line import LineEvent
from duologue.testing import Delay, ScriptedBrain, ScriptedSession, scripted_tool
from tests.runtime.runtime_fakes import Stage, play

TWO = "Here is the first sentence. And here comes the second one, which is longer."
CALM = profile("confirm", dead_air_ms=0)  # no check-ins while a test waits


def effects(stage: Stage, kind: type[fx.Effect]) -> list[int]:
    return [record.event.at for record in stage.records for effect in record.effects if type(effect) is kind]


# -- Pauses


@pytest.mark.req("C-REQ-008", "C-PER-003", "C-AC-005")
def test_a_pause_in_mid_speech_goes_on_from_the_very_millisecond() -> None:
    brain = ScriptedBrain([TWO])

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(1_234)
        stage.conversation.suspend("diagnostics")
        at = stage.line.heard_ms
        assert stage.state == "suspended"
        assert not stage.line.is_sounding
        await stage.sleep(20_000)
        assert stage.line.heard_ms == at
        before = stage.now_ms
        stage.conversation.resume()
        await stage.until(lambda: stage.state == "speaking")
        assert stage.now_ms - before <= 1_000
        assert stage.line.heard_ms - at <= stage.now_ms - before
        await stage.rest()
        assert stage.heard == [TWO]
        assert len(brain.requests) == 1
        assert max(act.voice for act in stage.line.log) == 1

    play(scene, brain)


@pytest.mark.req("C-REQ-008", "C-AC-005")
def test_a_pause_while_the_brain_thinks_keeps_its_answer_and_its_time() -> None:
    brain = ScriptedBrain([[Delay(5_000), "Good day."]])

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        stage.conversation.suspend()
        await stage.sleep(25_000)
        assert not any(act.what == "play" for act in stage.line.log)
        stage.conversation.resume()
        await stage.rest()
        assert stage.heard == ["Good day."]
        assert len(brain.requests) == 1
        assert stage.told(sg.Failed) == []

    play(scene, brain)


@pytest.mark.req("M-07.lasts")
def test_a_pause_lasts_until_it_is_resumed() -> None:
    session = ScriptedSession()

    async def scene(stage: Stage) -> None:
        stage.conversation.suspend()
        await stage.sleep(600_000)
        assert stage.conversation.phase == "paused"
        stage.conversation.resume()
        await stage.rest()
        assert session.opens == 1
        assert stage.state == "listening"

    play(scene, ScriptedBrain(), session=lambda: session)


@pytest.mark.req("M-07.limit", "M-07.lasts")
def test_a_pause_longer_than_its_limit_ends_the_conversation_and_never_listens_by_itself() -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.suspend()
        await stage.sleep(29_900)
        assert stage.conversation.phase == "paused"
        async with asyncio.timeout(2):
            await stage.conversation.wait()
        assert stage.state == "idle"
        assert [notice.code for notice in stage.told(sg.Noticed)] == ["pause_over"]

    play(scene, ScriptedBrain(), profile=profile("confirm", suspend_ms_max=30_000))


@pytest.mark.req("C-REQ-008", "M-18")
def test_what_is_said_during_a_pause_is_answered_after_it() -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.suspend()
        await stage.say("hello there")
        await stage.sleep(2_000)
        assert stage.heard == []
        stage.conversation.resume()
        await stage.rest()
        assert stage.heard == ["Good day."]

    play(scene, ScriptedBrain(["Good day."]))


# -- The line


@pytest.mark.req("L-15")
@pytest.mark.parametrize("wobble_ms", [100, 1_990])
def test_a_wobble_of_up_to_two_seconds_only_pauses(wobble_ms: int) -> None:
    session = ScriptedSession()

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(800)
        stage.line.wobble()
        at = stage.line.heard_ms
        await stage.sleep(wobble_ms)
        assert stage.line.heard_ms == at
        stage.line.heal()
        await stage.rest()
        assert stage.heard == [TWO]
        assert session.opens == 1

    play(scene, ScriptedBrain([TWO]), session=lambda: session)


@pytest.mark.req("L-15", "L-14", "M-12")
def test_a_longer_wobble_becomes_a_reconnect() -> None:
    session = ScriptedSession()

    async def scene(stage: Stage) -> None:
        stage.line.wobble()
        await stage.sleep(2_010)
        assert stage.conversation.phase == "reconnecting"
        await stage.rest()
        assert session.opens == 2
        assert [recovered.source for recovered in stage.told(sg.Recovered)] == ["session"]

    play(scene, ScriptedBrain(), session=lambda: session)


@pytest.mark.req("L-14")
def test_attempts_follow_after_one_three_and_ten_seconds() -> None:
    opened: list[int] = []

    class Session(ScriptedSession):
        async def open(self, context: Any, tell: Any) -> None:
            opened.append(round(asyncio.get_running_loop().time() * 1000))
            await super().open(context, tell)

    session = Session(failures=[None, OSError(), OSError(), None])

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        lost_at = stage.now_ms
        stage.line.drop()
        await stage.rest()
        waits = [at - lost_at for at in opened[1:]]
        assert waits == [1_000, 4_000, 14_000]
        assert stage.state == "listening"
        context = session.contexts[-1]
        assert context is not None
        assert "User: hello there" in context.summary
        assert "Agent: Good day." in context.summary
        assert context.notes == ("notes.md",)

    brain = ScriptedBrain(["Good day."])
    play(scene, brain, session=lambda: session, profile=CALM, notes=lambda: ("notes.md",))


@pytest.mark.req("L-14", "M-02", "M-08.again")
def test_a_line_that_stays_away_is_a_fault_after_forty_five_seconds_and_a_retry_gets_it_back() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        lost_at = stage.now_ms
        stage.line.block()
        stage.line.drop()
        await stage.until(lambda: bool(stage.told(sg.Failed)))
        assert stage.now_ms - lost_at <= 45_010
        assert stage.told(sg.Failed)[0].part is FaultSource.LINK
        assert stage.said == ["hello there"]
        stage.line.unblock()
        stage.conversation.recover()
        await stage.until(lambda: stage.state == "listening", 5)
        await stage.say("still there")
        await stage.rest()
        assert stage.heard[-1] == "I see."

    play(scene, ScriptedBrain(["Good day."]))


@pytest.mark.req("M-12", "M-18")
def test_a_question_whose_answer_was_not_heard_is_asked_again_once_after_a_reconnect() -> None:
    brain = ScriptedBrain([[Delay(1_000), "Too late."], "Good day."])

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        stage.line.drop()
        await stage.rest()
        assert stage.heard == ["Good day."]
        assert [request.text for request in brain.requests] == ["hello there", "hello there"]
        assert stage.lost == []

    play(scene, brain)


@pytest.mark.req("M-18")
def test_what_is_said_while_the_line_is_away_is_answered_when_it_is_back() -> None:
    async def scene(stage: Stage) -> None:
        stage.line.block()
        stage.line.drop()
        await stage.say("are you there")
        await stage.sleep(3_000)
        stage.line.unblock()
        await stage.rest()
        assert stage.heard == ["Good day."]
        assert stage.said == ["are you there"]

    play(scene, ScriptedBrain(["Good day."]))


@pytest.mark.req("M-04", "L-14")
def test_a_lost_line_cancels_no_work() -> None:
    worker = scripted_tool("work", Delay(6_000), "the result")

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.sleep(500)
        stage.line.drop()
        await stage.rest()
        assert worker.cancelled == 0
        assert [output.output for output in stage.outputs] == ["the result"]
        assert stage.heard == ["Done."]

    play(scene, ScriptedBrain([ToolCall("work"), "Done."]), tools=[worker])


@pytest.mark.req("L-14")
def test_a_reconnect_can_be_asked_for_and_given_up() -> None:
    async def scene(stage: Stage) -> None:
        stage.line.block()
        stage.conversation.reconnect()
        await stage.sleep(1_500)
        assert stage.conversation.phase == "reconnecting"
        await stage.conversation.end("never mind")
        assert stage.state == "idle"

    play(scene, ScriptedBrain())


class RememberingLine(ScriptedLine):
    """Remembers the callback of each connection."""

    def __init__(self) -> None:
        super().__init__()
        self.callbacks: list[Callable[[LineEvent], None]] = []

    async def open(self, notify: Callable[[LineEvent], None]) -> None:
        self.callbacks.append(notify)
        await super().open(notify)


@pytest.mark.req("C-GUD-004")
def test_events_of_an_older_session_are_ignored() -> None:
    session, line = ScriptedSession(), RememberingLine()

    async def scene(stage: Stage) -> None:
        old = session.tell
        old_line = line.callbacks[-1]
        stage.line.drop()
        await stage.rest()
        old(Closed(hung_up=True))
        old_line(Closed())
        old(Wobbled())
        await stage.sleep(100)
        assert stage.state == "listening"

    play(scene, ScriptedBrain(), session=lambda: session, profile=CALM, line=line)


# -- The session's limit


@pytest.mark.req("L-16.times", "L-16.session", "M-07.renewed")
def test_an_idle_session_is_renewed_at_its_limit_without_a_trace() -> None:
    session = ScriptedSession(renew_ms=300)

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        await stage.sleep(900_000 - stage.now_ms + 1_000)
        assert effects(stage, fx.SaveContext)[0] == 870_000
        assert effects(stage, fx.RenewSession) == [900_000]
        assert session.renewals == 1
        assert session.opens == 1
        assert stage.state == "listening"
        await stage.say("still there")
        await stage.rest()
        assert stage.heard[-1] == "I see."

    play(scene, ScriptedBrain(["Good day."]), session=lambda: session, profile=CALM)


@pytest.mark.req("L-16", "M-07.renewed", "C-AC-005")
def test_a_session_is_renewed_in_mid_speech_and_the_speech_goes_on() -> None:
    session = ScriptedSession(renew_ms=300)
    brain = ScriptedBrain([TWO])

    async def scene(stage: Stage) -> None:
        await stage.sleep(898_000)
        await stage.say("hello there")
        await stage.until(lambda: session.renewals == 1)
        assert stage.state == "speaking"
        assert stage.line.is_sounding
        await stage.rest()
        assert stage.heard == [TWO]
        assert not effects(stage, fx.HoldPlayback)
        assert len(brain.requests) == 1

    play(scene, brain, session=lambda: session, profile=CALM)


@pytest.mark.req("L-16.summary", "L-16.session")
@pytest.mark.parametrize("summary_ms", [0, 2_000])
def test_the_summary_that_the_brain_made_before_the_limit_is_what_the_new_session_gets(summary_ms: int) -> None:
    session = ScriptedSession()

    class Brain(ScriptedBrain):
        async def summarise(self, text: str, chars_max: int) -> str:
            assert "hello there" in text
            await asyncio.sleep(summary_ms / 1000)
            return "They said hello."

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        await stage.sleep(880_000 - stage.now_ms)
        assert stage.conversation.context["summary"] == "They said hello."
        await stage.sleep(25_000)
        assert session.contexts[-1] is not None
        assert session.contexts[-1].summary == "They said hello."

    play(scene, Brain(["Good day."]), session=lambda: session, profile=CALM)


@pytest.mark.req("L-16", "L-14", "M-07.renewed")
def test_a_renewal_that_fails_becomes_a_reconnect() -> None:
    session = ScriptedSession(renew_failures=[OSError()])

    async def scene(stage: Stage) -> None:
        await stage.sleep(900_100)
        assert stage.conversation.phase == "reconnecting"
        await stage.rest()
        assert session.opens == 2
        assert stage.told(sg.Failed) == []

    play(scene, ScriptedBrain(), session=lambda: session, profile=CALM)


def test_a_brain_without_a_session_is_not_asked_for_a_summary() -> None:
    asked: list[str] = []

    class Brain(ScriptedBrain):
        async def summarise(self, text: str, chars_max: int) -> str:
            asked.append(text)
            return "They said hello."

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        await stage.sleep(901_000)
        assert effects(stage, fx.SaveContext)
        assert "hello there" in stage.conversation.context["summary"]

    play(scene, Brain(["Good day."]), profile=CALM)
    assert asked == []


@pytest.mark.req("L-16")
def test_a_brain_whose_summary_fails_costs_nothing() -> None:
    session = ScriptedSession()

    class Brain(ScriptedBrain):
        async def summarise(self, text: str, chars_max: int) -> str:
            raise RuntimeError("no")

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        await stage.sleep(901_000)
        context = session.contexts[-1]
        assert context is not None
        assert "hello there" in context.summary

    play(scene, Brain(["Good day."]), session=lambda: session, profile=CALM)


@pytest.mark.req("L-16.summary", "L-16.files", "L-16.session")
def test_the_last_ten_turns_and_the_active_files_are_saved_and_reach_the_new_session() -> None:
    session = ScriptedSession()

    async def scene(stage: Stage) -> None:
        await stage.say("my name is Ada")
        await stage.rest()
        for number in range(2, 12):
            await stage.say(f"question number {number}")
            await stage.rest()
        await stage.sleep(870_000 - stage.now_ms - 1)
        assert stage.conversation.context["active_files"] == []
        await stage.sleep(2)
        assert stage.conversation.context["active_files"] == ["plan.md"]
        await stage.sleep(30_000)
        context = session.contexts[-1]
        assert context is not None
        assert context.notes == ("plan.md",)
        turns = [item.text for item in context.recent if isinstance(item, UserSaid)]
        assert turns == [f"question number {number}" for number in range(2, 12)]
        assert all(turn in context.summary for turn in turns)
        assert "my name is Ada" in context.summary, "what the ten turns don't hold is in the summary"

    play(scene, ScriptedBrain(), session=lambda: session, profile=CALM, notes=lambda: ("plan.md",))


@pytest.mark.req("L-14", "L-16")
def test_notes_that_can_not_be_had_do_not_cost_the_rest_of_the_context() -> None:
    session = ScriptedSession()

    def broken() -> tuple[str, ...]:
        raise RuntimeError("no files today")

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        stage.line.drop()
        await stage.rest()
        context = session.contexts[-1]
        assert context is not None
        assert "hello there" in context.summary

    play(scene, ScriptedBrain(["Good day."]), session=lambda: session, notes=broken)


@pytest.mark.req("L-12", "C-CON-002")
def test_a_line_that_can_not_be_opened_is_tried_again_after_the_fault() -> None:
    async def scene(stage: Stage) -> None:
        stage.line.open_failures = [OSError("no route")]
        await stage.conversation.start()
        assert stage.state == "listening"
        assert [fault.error for fault in stage.told(sg.Failed)] == [ErrorClass.NETWORK_TIMEOUT]

    play(scene, ScriptedBrain(), start=False)


@pytest.mark.req("L-14")
def test_a_new_session_knows_the_half_heard_answer() -> None:
    session = ScriptedSession()

    async def scene(stage: Stage) -> None:
        await stage.say("tell me")
        await stage.sleep(1_500)
        stage.conversation.reconnect()
        await stage.sleep(3_000)
        (context,) = [context for context in session.contexts if context is not None]
        assert "Agent: It is a rather" in context.summary

    play(scene, ScriptedBrain(otherwise="It is a rather long story that lasts a while."), session=lambda: session)
