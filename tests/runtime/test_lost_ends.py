"""An onset or a text whose end never comes is settled within the limits of a turn, and every turn ends in the signals.

Rule: scripts are random, seeded and short. Whatever the ears do, each TurnStarted has exactly one end.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from duologue.core.settings import profile
from duologue.observe import signals as sg
from duologue.ports import Final, Partial, SpeechBegan, SpeechEnded, TurnOver
from duologue.ports.ears import VoiceFrame
from duologue.testing import Delay, ScriptedBrain
from tests.runtime.runtime_fakes import Stage, play

SHORT = {"talk_ms_max": 20_000, "commit_ms": 5_000, "dead_air_ms": 0}
TEXTS = ["", "mhm", "yes", "book a table", "when does the museum open today"]


def asked(stage: Stage) -> list[str]:
    return [request.text for request in stage.agent.thinker.requests]


def unended(stage: Stage) -> list[tuple[str, int, int]]:
    """The turns of which the signals tell the beginning and no end."""
    begun = {key(one) for one in stage.told(sg.TurnStarted)}
    ended = {key(one) for kind in (sg.TurnCompleted, sg.TurnDropped, sg.TurnInterrupted) for one in stage.told(kind)}
    return sorted(begun - ended)


def key(signal: sg.TurnStarted | sg.TurnCompleted | sg.TurnDropped | sg.TurnInterrupted) -> tuple[str, int, int]:
    return signal.turn.role, signal.turn.turn if signal.turn.role == "user" else 0, signal.turn.reply


# -- One end is missing


@pytest.mark.req("H-07.words", "V-05")
@pytest.mark.parametrize("frames", [False, True])
def test_an_onset_whose_end_never_comes_is_settled_within_the_limit_of_a_turn(frames: bool) -> None:
    async def scene(stage: Stage) -> None:
        stage.ears.tell(SpeechBegan(1))
        if frames:
            stage.ears.tell(VoiceFrame(0.9, 0.1, 40, 0, 1))
        await stage.sleep(SHORT["talk_ms_max"] + 2_000)
        assert unended(stage) == []
        stage.utterance = 1
        await stage.say("hello there")
        await stage.rest()
        assert asked(stage) == ["hello there"]

    play(scene, ScriptedBrain(otherwise="Fine."), profile=profile("confirm", greets=False, **SHORT))


@pytest.mark.req("H-07.words", "M-15")
@pytest.mark.parametrize("onset", [False, True])
def test_a_partial_text_whose_end_never_comes_is_asked(onset: bool) -> None:
    async def scene(stage: Stage) -> None:
        if onset:
            stage.ears.tell(SpeechBegan(1))
        stage.ears.tell(Partial("book a table", 0.9, 1))
        await stage.sleep(SHORT["talk_ms_max"] + 2_000)
        assert asked(stage) == ["book a table"]
        assert stage.said == ["book a table"]
        assert unended(stage) == []

    play(scene, ScriptedBrain(otherwise="Fine."), profile=profile("confirm", greets=False, **SHORT))


@pytest.mark.req("H-07.words")
@pytest.mark.parametrize("name", ["confirm", "words", "immediate"])
def test_an_onset_over_the_agent_whose_end_never_comes_costs_no_answer(name: str) -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.type("tell me")
        await stage.until(lambda: stage.line.heard_ms >= 500)
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(SHORT["talk_ms_max"] + 10_000)
        stage.conversation.type("and then")
        await stage.sleep(5_000)
        assert asked(stage)[-1].endswith("and then")
        assert stage.heard[-1].endswith("a while.")
        await stage.rest()
        assert unended(stage) == []

    brain = ScriptedBrain(otherwise="Here is something that takes a while.")
    play(scene, brain, profile=profile(name, greets=False, **SHORT))


@pytest.mark.req("H-07.words")
@pytest.mark.parametrize("by", ["end", "hang up", "drop"])
def test_a_turn_that_is_open_when_the_call_ends_ends_in_the_signals(by: str) -> None:
    async def scene(stage: Stage) -> None:
        await stage.begin("book a table")
        if by == "end":
            await stage.conversation.end("enough")
        elif by == "hang up":
            stage.line.hang_up()
        else:
            stage.line.block()
            stage.line.drop()
            await stage.sleep(60_000)
        await stage.sleep(30_000)
        assert unended(stage) == []
        assert stage.lost == ["book a table"] or asked(stage) == ["book a table"]

    play(scene, ScriptedBrain(otherwise="Fine."), profile=profile("confirm", greets=False, **SHORT))


# -- Random scripts


async def disturb(stage: Stage, chance: random.Random) -> None:
    """One report of unreliable ears, one act of the person, or a while of nothing."""
    number = max(0, stage.utterance + chance.choice([0, 0, 0, -1, 1]))
    text, confidence = chance.choice(TEXTS), chance.choice([0.2, 0.9])
    match chance.randrange(11):
        case 0 | 1:
            stage.utterance += 1
            stage.ears.tell(SpeechBegan(stage.utterance))
        case 2:
            stage.ears.tell(SpeechEnded(number, chance.choice([0, 200])))
        case 3 | 4:
            stage.ears.tell(Partial(text, confidence, number))
        case 5 | 6:
            stage.ears.tell(Final(text, confidence, number))
        case 7:
            stage.ears.tell(chance.choice([TurnOver(number), VoiceFrame(0.9, 0.1, 40, 0, number)]))
        case 8:
            stage.conversation.type(chance.choice(TEXTS[1:]))
        case 9:
            chance.choice([stage.conversation.press, stage.conversation.release, stage.conversation.send])()
        case 10:
            await stage.sleep(chance.choice([5_000, 12_000]))
    await stage.sleep(chance.choice([0, 50, 300, 900]))


def random_call(seed: int) -> Stage:
    chance = random.Random(seed)

    async def scene(stage: Stage) -> None:
        for _ in range(30):
            await disturb(stage, chance)
        stage.conversation.release()
        await stage.sleep(2 * SHORT["talk_ms_max"])
        await stage.rest(60)

    brain = ScriptedBrain(lambda request: [Delay(chance.choice([10, 800])), f"You said {request.text}, I think."])
    settings = profile(chance.choice(["confirm", "words", "immediate"]), greets=False, **SHORT)
    return play(scene, brain, profile=settings)


@pytest.mark.req("H-07.words", "H-15")
@pytest.mark.parametrize("seed", range(60))
def test_every_turn_that_began_has_one_end_in_the_signals(seed: int) -> None:
    stage = random_call(seed)
    assert unended(stage) == []
    begun = Counter(key(one) for one in stage.told(sg.TurnStarted))
    assert [turn for turn, times in begun.items() if times > 1] == []
    settled = {
        turn for r in stage.records for e in r.effects if hasattr(e, "first") for turn in range(e.first, e.last + 1)
    }
    for item in stage.conversation.history:
        if hasattr(item, "overheard") and item.text and not item.overheard:
            assert item.turn in settled, f"turn {item.turn} was neither asked nor reported as lost"
