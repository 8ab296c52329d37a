"""An answer that begins before the question has ended is the answer, in every profile.

The agent asks, and the person answers over the last word. Rule: how much of the question was heard when the answer
began decides, and so does what was still to come.
"""

from __future__ import annotations

from typing import Any

import pytest

from duologue.core.settings import profile
from duologue.observe import signals as sg
from duologue.ports import Final, Firm, OpenQuestion, Partial, SpeechBegan, SpeechEnded
from duologue.testing import ScriptedBrain
from tests.runtime.runtime_fakes import Stage, play

PROFILES = ["confirm", "words", "immediate"]
EARLY = [800, 500, 100]
ANSWERS = ["yes", "no", "okay", "the second one"]
LEAD = "I found a flight for you, which leaves early in the morning."
ASK = "Shall I book that flight for you right now then?"


def asked(stage: Stage) -> list[str]:
    return [request.text for request in stage.agent.thinker.requests]


async def answer(stage: Stage, text: str, before_end_ms: int) -> None:
    """Ask the agent for its question, and answer so long before its end."""
    stage.conversation.type("find me a flight")
    await stage.until(lambda: stage.line.is_sounding)
    speech = stage.conversation.engine.playback.speech
    assert speech is not None
    await stage.until(lambda: speech.complete and stage.line.heard_ms >= speech.ledger.total_ms - before_end_ms)
    await say_over(stage, text)


async def say_over(stage: Stage, text: str, word_ms: int = 200) -> None:
    stage.utterance += 1
    stage.ears.tell(SpeechBegan(stage.utterance))
    for count in range(1, len(text.split()) + 1):
        await stage.sleep(word_ms)
        stage.ears.tell(Partial(" ".join(text.split()[:count]), 0.9, stage.utterance))
    await stage.sleep(50)
    stage.ears.tell(SpeechEnded(stage.utterance))
    await stage.sleep(100)
    stage.ears.tell(Final(text, 0.9, stage.utterance))


def conversation(text: str, before_end_ms: int, name: str, *asks: Any) -> Stage:
    async def scene(stage: Stage) -> None:
        await answer(stage, text, before_end_ms)
        await stage.sleep(1_500)
        await stage.rest()

    first = list(asks) or [f"{LEAD} {ASK}"]
    brain = ScriptedBrain({"find": first}, otherwise="It is done.")
    return play(scene, brain, profile=profile(name, greets=False))


@pytest.mark.req("H-06.early")
@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("before_end_ms", EARLY)
@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_that_begins_over_the_end_of_the_question_is_the_answer(
    text: str, before_end_ms: int, name: str
) -> None:
    stage = conversation(text, before_end_ms, name)
    assert asked(stage) == ["find me a flight", text]
    assert stage.heard[-1] == "It is done."
    assert not stage.agent.thinker.requests[-1].premature
    assert [item.overheard for item in stage.conversation.history if getattr(item, "text", "") == text] == [False]
    assert stage.lost == []


@pytest.mark.req("H-06.early")
@pytest.mark.parametrize("name", ["confirm", "words"])
@pytest.mark.parametrize("text", ["yeah", "okay", "mhm"])
def test_a_backchannel_in_the_middle_of_a_long_sentence_stays_a_backchannel(text: str, name: str) -> None:
    stage = conversation(text, 4_500, name)
    assert asked(stage) == ["find me a flight"]
    assert not any(getattr(item, "interrupted", False) for item in stage.conversation.history)


@pytest.mark.req("H-06.early")
@pytest.mark.parametrize("name", ["confirm", "words"])
def test_a_backchannel_over_the_end_of_a_statement_stays_a_backchannel(name: str) -> None:
    stage = conversation("okay", 900, name, f"{ASK} I will wait here for as long as you need to decide.")
    assert asked(stage) == ["find me a flight"]


@pytest.mark.req("H-06.unheard")
@pytest.mark.parametrize("name", ["confirm", "words"])
def test_an_answer_to_a_question_of_which_less_than_half_was_heard_is_none(name: str) -> None:
    stage = conversation("yes", 700, name, f"{LEAD} Book it now?")
    assert asked(stage) == ["find me a flight"]


@pytest.mark.req("H-06.early")
@pytest.mark.parametrize("name", PROFILES)
def test_a_brain_can_ask_a_question_that_has_no_question_mark(name: str) -> None:
    stage = conversation("yes", 400, name, LEAD, OpenQuestion("Please say whether I shall book that flight for you."))
    assert asked(stage) == ["find me a flight", "yes"]


@pytest.mark.req("H-06.early")
def test_a_statement_that_follows_an_open_question_keeps_the_question_open() -> None:
    """A brain that says where its question is knows better than the last question mark."""
    stage = conversation("yes", 400, "confirm", OpenQuestion("Shall I book it."), LEAD)
    assert asked(stage) == ["find me a flight"], "the question was over long ago, and this was said over a statement"


# -- Confirmations


@pytest.mark.req("H-06.unheard", "H-14")
@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("rest", ["to Chicago?", "at 7?", "for Ada Lovelace?", "for 42 euros?"])
def test_a_yes_before_the_value_was_heard_confirms_nothing(rest: str, name: str) -> None:
    """If the turn ends after the question, or has cut it, the brain is asked, and told that it is no answer."""
    stage = conversation("yes", 600, name, f"{LEAD} Shall I book that flight for you now {rest}")
    assert all(request.premature for request in stage.agent.thinker.requests[1:])


@pytest.mark.req("H-06.early", "H-14")
@pytest.mark.parametrize("name", PROFILES)
def test_a_yes_after_the_value_was_heard_confirms_it(name: str) -> None:
    stage = conversation("yes", 500, name, f"{LEAD} Shall I book the flight at 7 to Chicago for you right away?")
    assert asked(stage) == ["find me a flight", "yes"]
    assert not stage.agent.thinker.requests[-1].premature


@pytest.mark.req("H-06.unheard", "H-14")
@pytest.mark.parametrize(("values", "confirms"), [((), True), (("window seat",), False)])
def test_a_value_that_the_brain_marks_must_be_heard(values: tuple[str, ...], confirms: bool) -> None:
    question = OpenQuestion("Shall I book that flight for you with a window seat?", values)
    stage = conversation("yes", 600, "confirm", LEAD, question)
    assert asked(stage) == ["find me a flight", *(["yes"] if confirms else [])]
    assert not stage.agent.thinker.requests[-1].premature


# -- Firm questions


@pytest.mark.req("H-06.early", "H-13")
@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("text", ["yes", "the second one"])
def test_an_answer_over_the_end_of_a_firm_question_is_the_answer_and_does_not_cut_it(text: str, name: str) -> None:
    stage = conversation(text, 500, name, Firm(f"{LEAD} {ASK}"))
    assert asked(stage) == ["find me a flight", text]
    assert not any(getattr(item, "interrupted", False) for item in stage.conversation.history)


# -- In the signals


@pytest.mark.req("H-06.early")
def test_the_verdict_and_the_end_of_the_turn_are_in_the_signals() -> None:
    stage = conversation("okay", 500, "confirm")
    assert "early_answer" in [signal.decision for signal in stage.told(sg.Decided)]
    assert [signal.turn.transcript for signal in stage.told(sg.TurnCompleted) if signal.turn.role == "user"][-1:] == [
        "okay"
    ]
