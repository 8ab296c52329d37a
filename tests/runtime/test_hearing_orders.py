"""Unusual orders of reports and commands: no word is lost, and nothing is interrupted by mistake.

The person is scripted as in `test_hearing_sound`. Rule: every order here can happen with ears that keep their contract.
"""

from __future__ import annotations

import pytest

from duologue.core import events as ev
from duologue.core.leaves import Link, User
from duologue.core.settings import profile
from duologue.ports import Final, Firm, Partial, SpeechBegan, SpeechEnded, TurnOver
from duologue.ports.ears import Frame, Heard
from duologue.ports.line import Healed, Wobbled
from duologue.testing import Delay, ScriptedBrain
from tests.runtime.runtime_fakes import Stage, play
from tests.runtime.test_hearing_sound import (
    END_MS,
    SPEECH,
    Person,
    act,
    asked,
    line_acts,
    overheard,
    speaker,
    while_speaking,
)

# -- A voice that goes on beyond the end of its turn


@pytest.mark.req("L-03", "M-15")
@pytest.mark.parametrize("by", ["send", "type", "limit"])
def test_what_is_said_over_three_turns_in_one_breath_is_in_each_of_them_once(by: str) -> None:
    words = [f"word{number}" for number in range(70)]

    async def scene(stage: Stage) -> None:
        stage.ears.tell(SpeechBegan(1))
        for place in range(1, len(words) + 1):
            await stage.sleep(1_000 if by == "limit" else 100)
            stage.ears.tell(Partial(" ".join(words[:place]), 0.9, 1))
            if place in (20, 40) and by != "limit":
                await stage.sleep(10)
                stage.conversation.send() if by == "send" else stage.conversation.type("this, too")
        stage.ears.tell(SpeechEnded(1))
        await stage.sleep(100)
        stage.ears.tell(Final(" ".join([*words[:69], "mended"]), 0.9, 1))
        await stage.sleep(1_000)
        spoken = [word for text in stage.said for word in text.split() if word.startswith(("word", "mended"))]
        assert spoken == [*words[:69], "mended"]
        assert len(stage.said) == 3

    settings = profile("confirm", greets=False, talk_ms_max=30_000)
    play(scene, ScriptedBrain(lambda request: [Delay(60_000), "Too late."]), profile=settings)


@pytest.mark.req("M-15")
def test_late_text_of_a_voice_that_went_on_goes_to_the_turn_in_which_it_went_on() -> None:
    """Typed over before anything of it was read: what it says is of the turn that it went on in, not of a later one."""

    async def scene(stage: Stage, person: Person) -> None:
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(300)
        stage.conversation.type("this, too")
        await stage.sleep(300)
        went_on = stage.conversation.machine_state.turn
        stage.ears.tell(SpeechEnded(1))
        await stage.sleep(1_000)
        stage.ears.tell(SpeechBegan(2))
        await stage.sleep(300)
        stage.ears.tell(Partial("and tomorrow", 0.9, 2))
        await stage.sleep(10)
        stage.ears.tell(Final("hello doctor", 0.9, 1))
        stage.ears.tell(SpeechEnded(2))
        stage.ears.tell(Final("and tomorrow", 0.9, 2))
        await stage.rest()
        said = {item.turn: item.text for item in stage.conversation.history if hasattr(item, "turn")}
        assert said[went_on] == "hello doctor"
        assert said[went_on + 1] == "and tomorrow"

    act(scene)


# -- Two sounds over the agent's voice


@pytest.mark.req("M-14", "V-02", "V-08")
@pytest.mark.parametrize("has_frames", [True, False])
def test_words_that_are_read_when_the_next_sound_has_begun_still_interrupt(has_frames: bool) -> None:
    async def scene(stage: Stage, person: Person) -> None:
        await while_speaking(stage, person)
        await person.begins()
        await (person.voices(256) if has_frames else stage.sleep(256))
        await (person.pauses(END_MS) if has_frames else stage.sleep(END_MS))
        person.tells(SpeechEnded(1, END_MS))
        await (person.pauses(96) if has_frames else stage.sleep(96))
        await person.begins()  # a breath
        await (person.voices(32, 0.6) if has_frames else stage.sleep(32))
        person.tells(Final("stop it", 0.9, 1))
        await stage.sleep(0)
        assert line_acts(stage) == ["hold", "clear"]
        await (person.pauses(END_MS) if has_frames else stage.sleep(END_MS))
        person.tells(SpeechEnded(2, END_MS), Final("", 0.0, 2))
        await person.until(lambda: len(asked(stage)) == 2)
        assert asked(stage)[-1] == "stop it"

    act(scene, speaker())


@pytest.mark.req("M-09", "M-14")
@pytest.mark.parametrize("confidence", [0.35, 0.9])
def test_a_word_that_was_read_into_a_cough_stops_no_speech_when_the_next_sound_has_begun(confidence: float) -> None:
    async def scene(stage: Stage, person: Person) -> None:
        await while_speaking(stage, person)
        await person.begins()
        await person.voices(96, probability=0.7)
        await person.pauses(END_MS)
        person.tells(SpeechEnded(1, END_MS))
        await person.begins()
        await person.voices(32, probability=0.7)
        person.tells(Final("But.", confidence, 1))
        await person.pauses(256)
        person.tells(SpeechEnded(2, 256), Final("", 0.0, 2))
        await stage.rest()
        assert "clear" not in line_acts(stage)
        assert stage.heard == [SPEECH]
        assert overheard(stage) == ["But."]

    act(scene, speaker())


@pytest.mark.req("M-14")
def test_a_voice_over_firm_speech_neither_holds_it_nor_posts_an_event_for_each_frame() -> None:
    async def scene(stage: Stage, person: Person) -> None:
        await while_speaking(stage, person, 300)
        await person.begins()
        await person.voices(1_600)
        verdicts = [record for record in stage.records if isinstance(record.event, ev.OverlapJudged)]
        assert verdicts == []
        assert line_acts(stage) == []

    act(scene, ScriptedBrain({"tell me": [Firm(SPEECH)]}, otherwise="Fine."))


# -- While no audio arrives, no time counts


@pytest.mark.req("M-14", "C-REQ-008", "L-15")
@pytest.mark.parametrize("by", ["a pause", "a wobble"])
def test_a_short_sound_does_not_become_an_interruption_because_the_line_was_away(by: str) -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.type("tell me")
        await stage.until(lambda: stage.line.heard_ms >= 700)
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(100)
        go_away(stage, by)
        await stage.sleep(1_500)  # whether the sound continues is not heard
        come_back(stage, by)
        await stage.sleep(100)
        stage.ears.tell(SpeechEnded(1))
        stage.ears.tell(Final("", 0.0, 1))
        await stage.rest()
        assert stage.heard == [SPEECH]

    play(scene, speaker(), profile=profile("confirm", greets=False))


@pytest.mark.req("M-14", "C-REQ-008", "L-15")
@pytest.mark.parametrize("by", ["a pause", "a wobble"])
def test_a_sound_that_lasts_before_and_after_the_line_was_away_still_interrupts(by: str) -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.type("tell me")
        await stage.until(lambda: stage.line.heard_ms >= 700)
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(500)
        go_away(stage, by)
        await stage.sleep(1_500)
        come_back(stage, by)
        await stage.sleep(290)
        assert line_acts(stage).count("clear") == 0
        await stage.sleep(20)
        assert line_acts(stage).count("clear") == 1

    play(scene, speaker(), profile=profile("confirm", greets=False))


@pytest.mark.req("T-03", "C-REQ-008", "L-15")
@pytest.mark.parametrize("by", ["a pause", "a wobble"])
def test_a_turn_is_not_over_because_the_line_was_away(by: str) -> None:
    async def scene(stage: Stage) -> None:
        await stage.begin("I would like")
        stage.ears.tell(SpeechEnded(1))
        stage.ears.tell(Final("I would like", 0.9, 1))
        await stage.sleep(200)  # of the 400 ms that would end it
        go_away(stage, by)
        await stage.sleep(1_500)
        come_back(stage, by)
        await stage.sleep(190)
        assert asked(stage) == []
        assert stage.conversation.machine_state.user is User.SETTLING
        await stage.sleep(20)
        assert asked(stage) == ["I would like"]

    play(scene, ScriptedBrain(otherwise="Fine."), profile=profile("confirm", greets=False))


def go_away(stage: Stage, by: str) -> None:
    stage.conversation.suspend() if by == "a pause" else stage.line.tell(Wobbled())


def come_back(stage: Stage, by: str) -> None:
    stage.conversation.resume() if by == "a pause" else stage.line.tell(Healed())


# -- The button


@pytest.mark.req("L-02", "L-03")
def test_while_the_button_is_down_the_server_can_not_end_the_turn() -> None:
    async def scene(stage: Stage, person: Person) -> None:
        stage.conversation.press()
        await stage.begin("I would like")
        person.tells(SpeechEnded(1), TurnOver(1), Final("I would like", 0.9, 1))
        await stage.sleep(1_000)
        assert asked(stage) == []
        await stage.begin("a flight")
        person.tells(SpeechEnded(2), TurnOver(2), Final("a flight", 0.9, 2))
        await stage.sleep(1_000)
        stage.conversation.release()
        await stage.rest()
        assert asked(stage) == ["I would like a flight"]

    act(scene, endpoint="server")


@pytest.mark.req("L-02", "L-03")
def test_a_button_that_was_down_when_the_line_was_lost_is_up() -> None:
    """The user is gone and would never release it: the agent would listen for ever."""

    async def scene(stage: Stage) -> None:
        stage.conversation.press()
        await stage.begin("book a flight")
        stage.line.drop()
        await stage.until(lambda: stage.conversation.machine_state.link is Link.UP, 10)
        await stage.until(lambda: bool(asked(stage)), 5)
        await stage.rest()
        assert stage.heard == ["Fine."]
        await stage.say("and a hotel")
        await stage.rest()
        assert asked(stage) == ["book a flight", "and a hotel"]

    play(scene, ScriptedBrain(otherwise="Fine."), profile=profile("confirm", greets=False, dead_air_ms=0))


# -- Without ears


def test_an_agent_without_ears_keeps_nothing_for_them() -> None:
    async def scene(stage: Stage) -> None:
        for _ in range(20):
            stage.conversation.type("hello there")
            stage.line.tell(Frame(b"\0" * 640))
            await stage.rest()
        assert len(stage.conversation.engine.ears_task.frames) == 0

    play(scene, ScriptedBrain(otherwise="Fine."), ears=None)


# -- Words that are withdrawn


@pytest.mark.req("M-13", "V-02")
@pytest.mark.parametrize("partial", ["but", "mm", "I want to"])
@pytest.mark.parametrize("ends_first", [True, False])
def test_words_that_the_ears_take_back_lead_to_no_request(partial: str, ends_first: bool) -> None:
    async def scene(stage: Stage) -> None:
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(200)
        stage.ears.tell(Partial(partial, 0.4, 1))
        await stage.sleep(100)
        told: list[Heard] = [SpeechEnded(1), Final("", 0.0, 1)]
        for heard in told if ends_first else told[::-1]:
            stage.ears.tell(heard)
            await stage.sleep(100)
        await stage.sleep(10_000)
        assert asked(stage) == []
        assert stage.conversation.history == ()
        assert stage.state == "listening"
        await stage.say("book a flight")
        assert asked(stage) == ["book a flight"]

    play(scene, ScriptedBrain(otherwise="Fine."), profile=profile("confirm", greets=False))


@pytest.mark.req("M-13")
def test_a_cough_behind_the_words_costs_no_time() -> None:
    async def scene(stage: Stage) -> None:
        await stage.begin("book a flight")
        stage.ears.tell(SpeechEnded(1))
        stage.ears.tell(Final("book a flight", 0.9, 1))
        await stage.sleep(100)
        stage.ears.tell(SpeechBegan(2))
        await stage.sleep(100)
        stage.ears.tell(SpeechEnded(2))
        ended = stage.now_ms
        await stage.sleep(10)
        stage.ears.tell(Final("", 0.0, 2))
        await stage.until(lambda: bool(asked(stage)))
        assert asked(stage) == ["book a flight"]
        assert stage.now_ms - ended <= 600

    play(scene, ScriptedBrain(otherwise="Fine."), profile=profile("confirm", greets=False))
