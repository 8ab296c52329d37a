"""The driver: its inbox, its clock and its deadlines, also when a part raises."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from duologue.core import events as ev
from duologue.core.leaves import Link, Timer
from duologue.core.settings import profile
from duologue.core.step_record import StepRecord
from duologue.observe import signals as sg
from duologue.runtime.driver import INBOX_MAX, Driver, InboxFull
from duologue.runtime.simulated_clock import run_simulated
from duologue.testing import ScriptedBrain
from tests.runtime.runtime_fakes import Stage, play


class Noted:
    """A driver whose steps are written down."""

    def __init__(self, **settings: Any) -> None:
        self.records: list[StepRecord] = []
        self.trouble: list[tuple[str, BaseException]] = []
        self.on_step: Any = lambda record: None
        self.driver = Driver(profile("confirm", **settings), self.perform, self.note)

    def perform(self, record: StepRecord) -> None:
        self.records.append(record)
        self.on_step(record)

    def note(self, where: str, failure: BaseException) -> None:
        self.trouble.append((where, failure))

    @property
    def kinds(self) -> list[str]:
        return [type(record.event).__name__ for record in self.records]

    def begin(self) -> None:
        self.driver.post(ev.StartRequested)
        self.driver.post(ev.SessionReady)


def test_the_state_can_not_be_assigned() -> None:
    async def scene() -> None:
        noted = Noted()
        noted.begin()
        before = noted.driver.state
        with pytest.raises(AttributeError):
            noted.driver.state = before  # type: ignore[misc]
        assert noted.driver.state is before

    run_simulated(scene())


def test_what_is_posted_is_taken_before_post_returns() -> None:
    async def scene() -> None:
        noted = Noted()
        noted.begin()
        assert noted.driver.state.link is Link.UP

    run_simulated(scene())


@pytest.mark.req("C-AC-007")
def test_what_is_posted_within_a_step_waits_its_turn_and_keeps_its_order() -> None:
    async def scene() -> None:
        noted = Noted()
        depth: list[int] = []

        def post_more(record: StepRecord) -> None:
            depth.append(1)
            assert len(depth) == 1, "a step was taken inside a step"
            if type(record.event) is ev.StartRequested:
                noted.driver.post(ev.SessionReady)
                noted.driver.post(ev.SpeechStarted)
                noted.driver.post(ev.SpeechStopped)
            depth.pop()

        noted.on_step = post_more
        noted.driver.post(ev.StartRequested)
        assert noted.kinds == ["StartRequested", "SessionReady", "SpeechStarted", "SpeechStopped"]
        numbers = [record.event.seq for record in noted.records if hasattr(record.event, "seq")]
        assert numbers == sorted(set(numbers))

    run_simulated(scene())


def test_the_current_ids_are_those_of_the_moment_at_which_an_event_is_taken() -> None:
    async def scene() -> None:
        noted = Noted()

        def post_more(record: StepRecord) -> None:
            if type(record.event) is ev.StartRequested:
                noted.driver.post(ev.SessionReady)  # session 1 exists only from this step on

        noted.on_step = post_more
        noted.driver.post(ev.StartRequested)
        assert noted.driver.state.link is Link.UP

    run_simulated(scene())


def test_more_than_a_full_inbox_within_one_step_is_refused() -> None:
    async def scene() -> None:
        noted = Noted()

        def flood(record: StepRecord) -> None:
            if type(record.event) is ev.StartRequested:
                for _ in range(INBOX_MAX):
                    noted.driver.post(ev.SpeechStarted)
                with pytest.raises(InboxFull, match="SpeechStopped"):
                    noted.driver.post(ev.SpeechStopped)

        noted.on_step = flood
        noted.driver.post(ev.StartRequested)
        assert len(noted.records) == INBOX_MAX + 1

    run_simulated(scene())


@pytest.mark.req("L-23")
def test_every_deadline_fires_at_its_millisecond() -> None:
    async def scene() -> None:
        noted = Noted(dead_air_ms=777)
        noted.begin()
        await asyncio.sleep(0.776)
        assert "TimerFired" not in noted.kinds
        await asyncio.sleep(0.002)
        fired = [record.event for record in noted.records if type(record.event) is ev.TimerFired]
        assert [(event.timer, event.at, event.due) for event in fired] == [(Timer.DEAD_AIR, 777, 777)]

    run_simulated(scene())


def test_an_event_never_gets_a_time_before_the_one_before_it() -> None:
    async def scene() -> None:
        noted = Noted()
        noted.begin()
        await asyncio.sleep(1)
        noted.driver.post(ev.SpeechStarted, at=5)  # the time is the driver's to say
        times = [record.event.at for record in noted.records]
        assert times == sorted(times)
        assert times[-1] == 1_000

    run_simulated(scene())


def test_a_clock_that_is_set_back_does_not_stop_the_conversation() -> None:
    async def scene() -> None:
        noted = Noted()
        noted.begin()
        await asyncio.sleep(1)
        noted.driver.post(ev.SpeechStarted)
        loop = asyncio.get_running_loop()
        set_back = loop.time() - 0.5
        loop.time = lambda: set_back  # type: ignore[method-assign]
        noted.driver.post(ev.SpeechStopped)
        assert not noted.trouble
        assert noted.records[-1].event.at == 1_000

    run_simulated(scene())


def test_an_event_with_an_impossible_field_is_reported_and_the_next_one_is_taken() -> None:
    async def scene() -> None:
        noted = Noted()
        noted.begin()
        noted.driver.post(ev.PlaybackProgressed, heard_ms=-1)
        noted.driver.post(ev.WordsHeard, turn=9, words=1, substantial=1)
        noted.driver.post(ev.SpeechStarted)
        assert [where for where, _ in noted.trouble] == ["PlaybackProgressed", "WordsHeard"]
        assert noted.kinds[-1] == "SpeechStarted"

    run_simulated(scene())


def test_after_close_nothing_moves_and_no_alarm_is_left() -> None:
    async def scene() -> None:
        noted = Noted()
        noted.begin()
        noted.driver.close()
        noted.driver.post(ev.SpeechStarted)
        await asyncio.sleep(60)
        assert noted.kinds == ["StartRequested", "SessionReady"]

    run_simulated(scene())


def test_a_performer_that_raises_leaves_the_deadlines_running() -> None:
    async def scene() -> None:
        noted = Noted(dead_air_ms=1_000)

        def raise_once(record: StepRecord) -> None:
            if type(record.event) is ev.SessionReady:
                raise RuntimeError("a part broke")

        noted.on_step = raise_once
        noted.driver.post(ev.StartRequested)
        with suppress(RuntimeError):  # whether the poster learns of it is open; that time goes on is not
            noted.driver.post(ev.SessionReady)
        await asyncio.sleep(2)
        assert "TimerFired" in noted.kinds, "the deadlines of this state were never set"

    run_simulated(scene())


def test_a_performer_that_raises_in_a_deadline_does_not_stop_the_clock() -> None:
    async def scene() -> None:
        noted = Noted(dead_air_ms=1_000)
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        broken = [True]

        def raise_once(record: StepRecord) -> None:
            if type(record.event) is ev.TimerFired and broken:
                broken.clear()
                raise RuntimeError("a part broke")

        noted.on_step = raise_once
        noted.begin()
        await asyncio.sleep(60)
        assert noted.kinds.count("TimerFired") > 1, "after one failure no deadline ever fired again"

    run_simulated(scene())


def test_what_waits_behind_a_step_that_raises_is_still_taken() -> None:
    async def scene() -> None:
        noted = Noted()

        def post_and_raise(record: StepRecord) -> None:
            if type(record.event) is ev.StartRequested:
                noted.driver.post(ev.SessionReady)
                raise RuntimeError("a part broke")

        noted.on_step = post_and_raise
        with suppress(RuntimeError):
            noted.driver.post(ev.StartRequested)
        await asyncio.sleep(0.1)
        assert noted.driver.state.link is Link.UP

    run_simulated(scene())


def certain() -> ScriptedBrain:
    return ScriptedBrain(lambda request: "Certainly.")


def test_handlers_that_answer_each_other_for_ever_are_stopped_and_reported() -> None:
    async def scene(stage: Stage) -> None:
        conversation = stage.conversation

        def answer(moved: sg.Transitioned) -> None:
            {"listening": conversation.suspend, "paused": conversation.resume}.get(moved.target, lambda: None)()

        off = conversation.on_state_changed(answer)
        conversation.suspend()
        off()
        assert any("posts without end" in signal.what for signal in stage.told(sg.Problem))
        conversation.resume()
        await stage.rest()

    play(scene, certain())
