"""The brain is asked while the pause may still be a pause: what is heard, done and remembered of such an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from duologue import ToolCall
from duologue.flows.brain import FlowBrain
from duologue.observe import signals as sg
from duologue.observe.recorder import ears_path
from duologue.ports import Final, LastWords, Partial, Pause, Show, SpeechBegan, SpeechEnded, VoiceFrame
from duologue.replay.ears_file import read_ears, replay_ears
from duologue.replay.journal import read_journal, replay
from duologue.runtime.agent import InvalidAgent
from duologue.testing import Fail, ScriptedBrain, scripted_tool
from duologue.turns.endpoint import FixedSilence
from duologue.turns.features import PauseFeatures
from duologue.voice.scripted import ScriptedVoice
from tests.runtime.runtime_fakes import Stage, play

WAIT_MS = 1_000
TEXT_MS = 150
LATER = {"endpoint": FixedSilence(WAIT_MS)}


async def pause(stage: Stage, text: str) -> None:
    """Say this and fall silent. The turn isn't over yet."""
    await stage.begin(text)
    stage.ears.tell(SpeechEnded(stage.utterance))
    await stage.sleep(TEXT_MS)
    stage.ears.tell(Final(text, 0.9, stage.utterance))


async def ask(stage: Stage) -> None:
    await pause(stage, "where is my parcel")
    await stage.sleep(WAIT_MS)
    await stage.rest()


async def go_on(stage: Stage) -> None:
    await pause(stage, "where is my parcel")
    await stage.sleep(500)
    await pause(stage, "number seven")
    await stage.sleep(WAIT_MS)
    await stage.rest()


def brain(**given: Any) -> ScriptedBrain:
    return ScriptedBrain(lambda request: f"You asked {request.text}.", can_guess=True, **given)


def first_audio_ms(stage: Stage) -> int:
    """From the end of the voice to the first sound of the answer."""
    ended = next(record.event.at for record in stage.records if type(record.event).__name__ == "SpeechStopped")
    heard = next(one.at for one in stage.told(sg.Transitioned) if one.view == "phase" and one.target == "speaking")
    return heard - ended


# -- What is heard


@pytest.mark.req("H-16")
def test_the_answer_is_heard_as_soon_as_the_turn_is_over() -> None:
    stage = play(ask, brain(first_ms=350), voice=ScriptedVoice(first_ms=150), **LATER)
    assert first_audio_ms(stage) == WAIT_MS
    assert stage.heard == ["You asked where is my parcel."]
    assert stage.conversation.metrics.early_used == 1
    assert stage.conversation.metrics.early_ms == WAIT_MS - TEXT_MS


@pytest.mark.req("H-16")
def test_without_it_the_brain_and_the_voice_are_waited_for() -> None:
    stage = play(ask, brain(first_ms=350), voice=ScriptedVoice(first_ms=150), speculation="off", **LATER)
    assert first_audio_ms(stage) == WAIT_MS + 500
    assert stage.conversation.metrics.early == 0


@pytest.mark.req("H-16")
def test_an_answer_that_takes_longer_than_the_pause_is_heard_when_it_is_ready() -> None:
    stage = play(ask, brain(first_ms=1_350), voice=ScriptedVoice(first_ms=150), **LATER)
    assert first_audio_ms(stage) == TEXT_MS + 1_500


@pytest.mark.req("H-16", "C-INT-005")
def test_a_person_who_goes_on_hears_one_answer_to_all_of_it() -> None:
    asked = brain(first_ms=100)
    stage = play(go_on, asked, **LATER)
    assert stage.heard == ["You asked where is my parcel number seven."]
    assert stage.said == ["where is my parcel number seven"]
    assert [request.text for request in asked.requests] == ["where is my parcel", "where is my parcel number seven"]
    metrics = stage.conversation.metrics
    assert (metrics.early, metrics.early_dropped, metrics.early_used) == (2, 1, 1)
    assert stage.conversation.metrics.requests == 1


@pytest.mark.req("H-16")
def test_a_text_that_changes_in_case_and_punctuation_only_is_the_same_question() -> None:
    async def scene(stage: Stage) -> None:
        await pause(stage, "where is my parcel")
        await stage.sleep(300)
        stage.ears.tell(Final("Where is my parcel?", 0.9, stage.utterance))
        await stage.sleep(WAIT_MS)
        await stage.rest()

    asked = brain()
    stage = play(scene, asked, **LATER)
    assert len(asked.requests) == 1
    assert stage.said == ["Where is my parcel?"]
    assert stage.conversation.metrics.early_used == 1


@pytest.mark.req("H-16")
def test_a_noise_in_the_pause_costs_no_second_request() -> None:
    async def scene(stage: Stage) -> None:
        await pause(stage, "where is my parcel")
        stage.utterance += 1
        stage.ears.tell(SpeechBegan(stage.utterance))
        await stage.sleep(100)
        stage.ears.tell(SpeechEnded(stage.utterance))
        stage.ears.tell(Final("", 0.9, stage.utterance))
        await stage.sleep(2 * WAIT_MS)
        await stage.rest()

    asked = brain()
    play(scene, asked, **LATER)
    assert len(asked.requests) == 1


@pytest.mark.req("H-16")
def test_the_question_that_the_person_answers_stays_the_last_one_until_the_turn_ends() -> None:
    """The sentences of an early answer aren't what the person has heard."""

    async def scene(stage: Stage) -> None:
        await ask(stage)
        spoken = stage.conversation.engine.hearing.state.agent_words
        await pause(stage, "and the other one")
        await stage.sleep(300)
        assert stage.conversation.metrics.early == 2
        assert stage.conversation.engine.hearing.state.agent_words == spoken

    play(scene, brain(), **LATER)


# -- What is done


@pytest.mark.req("H-16", "L-07")
def test_a_call_of_an_early_answer_waits_for_the_end_of_the_turn() -> None:
    booked: list[str] = []

    def book(parcel: str) -> str:
        """Book a parcel."""
        booked.append(parcel)
        return "done"

    async def scene(stage: Stage) -> None:
        await pause(stage, "send it")
        await stage.sleep(WAIT_MS - TEXT_MS - 50)
        assert booked == []
        await stage.sleep(200)
        assert booked == ["one"]
        await stage.rest()

    asked = ScriptedBrain([[ToolCall("book", {"parcel": "one"})], "It is sent."], can_guess=True)
    stage = play(scene, asked, tools=[book], **LATER)
    assert stage.heard == ["It is sent."]


@pytest.mark.req("H-16", "L-07")
def test_a_call_of_a_dropped_answer_is_never_made() -> None:
    tool = scripted_tool("book", "done")
    asked = ScriptedBrain(
        lambda request: [ToolCall("book", {})] if request.text.endswith("parcel") else "Which one?", can_guess=True
    )
    stage = play(go_on, asked, tools=[tool], **LATER)
    assert stage.outputs == []
    assert stage.heard == ["Which one?"]


@pytest.mark.req("H-16")
@pytest.mark.parametrize("part", [LastWords("Goodbye."), Show("A picture.")], ids=lambda part: type(part).__name__)
def test_last_words_and_pictures_of_a_dropped_answer_have_no_effect(part: Any) -> None:
    asked = ScriptedBrain(lambda request: part if request.text.endswith("parcel") else "Which one?", can_guess=True)
    stage = play(go_on, asked, **LATER)
    assert stage.heard == ["Which one?"]
    assert stage.state == "idle"  # ended by the test, and not by the agent
    assert not [one for one in stage.told(sg.Transitioned) if one.cause == "timer:last_words"]


@pytest.mark.req("H-16")
def test_an_answer_without_sound_is_shown_when_the_turn_ends() -> None:
    asked = ScriptedBrain(lambda request: Show(f"{request.text}!"), can_guess=True)
    stage = play(ask, asked, **LATER)
    assert stage.heard == ["where is my parcel!"]


@pytest.mark.req("H-16")
def test_an_early_request_that_fails_is_asked_again_when_the_turn_ends() -> None:
    asked = ScriptedBrain([Fail(), "It is here."], can_guess=True)
    stage = play(ask, asked, **LATER)
    assert stage.heard == ["It is here."]
    assert stage.conversation.metrics.errors == 0


@pytest.mark.req("H-16")
def test_the_early_request_has_the_words_in_its_history() -> None:
    asked = brain()
    play(ask, asked, **LATER)
    request = asked.requests[0]
    assert request.confirmed is not None
    assert [getattr(item, "text", "") for item in request.history] == ["where is my parcel"]


# -- When


@pytest.mark.req("H-16")
def test_a_brain_that_does_not_allow_it_is_not_asked_early() -> None:
    stage = play(ask, ScriptedBrain(["Yes."]), **LATER)
    assert stage.conversation.metrics.early == 0


@pytest.mark.req("H-16")
def test_a_long_wait_is_asked_early_only_if_eager() -> None:
    slow = {"endpoint": FixedSilence(3_000)}
    for speculation, early in (("cautious", 0), ("eager", 1)):

        async def scene(stage: Stage) -> None:
            await pause(stage, "where is my parcel")
            await stage.sleep(3_000)
            await stage.rest()

        stage = play(scene, brain(), speculation=speculation, **slow)
        assert stage.conversation.metrics.early == early


def test_an_unknown_speculation_is_refused() -> None:
    with pytest.raises(InvalidAgent, match="speculation must be one of off, cautious, eager, not 'always'"):
        play(ask, brain(), speculation="always")


@pytest.mark.req("H-16")
def test_a_guess_is_told_with_its_reasons() -> None:
    stage = play(ask, brain(), **LATER)
    decided = [one for one in stage.told(sg.Decided) if one.decision == "asked_early"]
    assert len(decided) == 1
    assert decided[0].reasons


@pytest.mark.req("H-16")
def test_a_call_with_early_answers_replays(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        await ask(stage)
        await go_on(stage)

    play(scene, brain(first_ms=100), journal=tmp_path / "call.jsonl", **LATER)
    with (tmp_path / "call.jsonl").open(encoding="utf-8") as lines:
        journal = read_journal(lines)
    records = list(replay(journal))
    assert any(type(record.event).__name__ == "TurnGuessed" for record in records)
    with ears_path(tmp_path / "call.jsonl").open(encoding="utf-8") as lines:
        decisions = list(replay_ears(read_ears(lines), journal.first, records))
    assert not any(one.unverified for one in decisions)


def heard_in_a_pause(*texts: str) -> Stage:
    """The ears report frames and a pause before the end of the voice. The texts come before the pause, the last of them
    again in it."""

    async def scene(stage: Stage) -> None:
        stage.utterance += 1
        stage.ears.tell(SpeechBegan(stage.utterance))
        for text in texts:
            await stage.sleep(300)
            stage.ears.tell(Partial(text, 0.9, stage.utterance))
        stage.ears.tell(VoiceFrame(0.9, 0.1, 32, 0, stage.utterance))
        stage.ears.tell(VoiceFrame(0.1, 0.0, 32, 64, stage.utterance))
        stage.ears.tell(Pause(PauseFeatures(voiced_ms=900, evidence=20.0), 64, stage.utterance))
        await stage.sleep(10)
        asked_at_pause.append(stage.conversation.metrics.early)
        stage.ears.tell(Partial(texts[-1], 0.9, stage.utterance))
        await stage.sleep(10)
        asked_in_pause.append(stage.conversation.metrics.early)
        stage.ears.tell(VoiceFrame(0.1, 0.0, 32, 192, stage.utterance))
        stage.ears.tell(SpeechEnded(stage.utterance, 192))
        stage.ears.tell(Final(texts[-1], 0.9, stage.utterance))
        await stage.sleep(2_000)
        await stage.rest()

    asked_at_pause: list[int] = []
    asked_in_pause: list[int] = []
    stage = play(scene, brain(), **LATER)
    stage.early = (asked_at_pause[0], asked_in_pause[0])  # type: ignore[attr-defined]
    return stage


@pytest.mark.req("H-16")
def test_a_text_that_has_settled_is_asked_at_the_beginning_of_the_pause() -> None:
    stage = heard_in_a_pause("where is", "where is my parcel", "where is my parcel")
    assert stage.early == (1, 1)  # type: ignore[attr-defined]
    assert stage.conversation.metrics.early_used == 1


@pytest.mark.req("H-16")
def test_a_text_that_has_just_changed_is_asked_when_it_was_read_again_in_the_pause() -> None:
    stage = heard_in_a_pause("where is", "where is my parcel")
    assert stage.early == (0, 1)  # type: ignore[attr-defined]
    assert stage.conversation.metrics.early_used == 1


def test_partial_text_that_changes_drops_an_early_answer() -> None:
    async def scene(stage: Stage) -> None:
        await pause(stage, "where is my parcel")
        stage.utterance += 1
        stage.ears.tell(SpeechBegan(stage.utterance))
        await stage.sleep(100)
        stage.ears.tell(Partial("number", 0.9, stage.utterance))
        await stage.sleep(10)
        assert stage.conversation.metrics.early_dropped == 1

    play(scene, brain(), **LATER)


def test_flows_may_be_asked_early() -> None:
    assert FlowBrain.can_guess
