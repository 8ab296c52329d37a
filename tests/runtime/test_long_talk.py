"""However long a person talks, they keep the floor, lose no word and get one answer.

The ears are scripted: with text only at the end, as from a server that detects speech, with partial text, or with
frames. Rule: all times are simulated.
"""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core.settings import profile
from duologue.observe import signals as sg
from duologue.ports.ears import Final, Partial, SpeechBegan, SpeechEnded, VoiceFrame
from duologue.testing import Delay, ScriptedBrain
from tests.runtime.runtime_fakes import Stage, play

LONG = (60_000, 300_000)
STORY = " ".join(f"then happened thing number {number}" for number in range(30))


def asked(stage: Stage) -> list[str]:
    return [request.text for request in stage.agent.thinker.requests]


def plays(stage: Stage) -> int:
    return sum(act.what == "play" for act in stage.line.log)


async def talk(stage: Stage, ms: int, kind: str = "end", text: str = STORY) -> int:
    """Talk for so long, with ears of this kind. Returns when the talk began. Nothing may be said meanwhile."""
    stage.utterance += 1
    number, words = stage.utterance, text.split()
    stage.ears.tell(SpeechBegan(number))
    await stage.sleep(0)
    began_at, before = stage.now_ms, plays(stage)
    for second in range(ms // 1_000):
        if kind == "partials" and second % 3 == 0:
            so_far = words[: 1 + second * len(words) * 1_000 // ms]
            stage.ears.tell(Partial(" ".join(so_far), 0.9, number))
        if kind == "frames":
            for _ in range(25):
                stage.ears.tell(VoiceFrame(0.95, 0.1, 40, 0, number))
                await stage.sleep(40)
        else:
            await stage.sleep(1_000)
        assert plays(stage) == before, "the agent spoke while the person did"
        assert stage.state not in ("idle", "speaking"), stage.state
    stage.ears.tell(SpeechEnded(number))
    await stage.sleep(300)
    stage.ears.tell(Final(text, 0.9, number))
    return began_at


@pytest.mark.req("H-07.floor", "H-07.words", "L-03")
@pytest.mark.parametrize("ms", LONG)
@pytest.mark.parametrize("kind", ["end", "partials"])
@pytest.mark.parametrize("name", ["confirm", "words", "immediate"])
def test_a_person_who_talks_for_minutes_is_heard_out_and_answered_once(ms: int, kind: str, name: str) -> None:
    async def scene(stage: Stage) -> None:
        await talk(stage, ms, kind)
        await stage.sleep(2_000)
        await stage.rest()
        assert asked(stage) == [STORY]
        assert stage.said == [STORY]
        assert stage.heard == ["I see."]
        assert stage.lost == []

    play(scene, ScriptedBrain(otherwise="I see."), profile=profile(name, greets=False))


@pytest.mark.req("H-07.floor", "L-03.commits", "L-03.logged")
def test_the_audio_of_a_long_turn_is_committed_every_thirty_seconds() -> None:
    async def scene(stage: Stage) -> None:
        await talk(stage, 95_000)
        await stage.sleep(2_000)
        at = [r.event.at for r in stage.records for effect in r.effects if isinstance(effect, fx.CommitAudio)]
        assert at[:3] == [30_000, 60_000, 90_000]
        assert len(at) == 4
        assert {effect.turn for r in stage.records for effect in r.effects if isinstance(effect, fx.CommitAudio)} == {1}
        told = stage.told(sg.TurnAudioCommitted)
        assert [(one.at, one.turn) for one in told] == [(committed_at, 1) for committed_at in at]
        assert [one.audio_ms for one in told[:3]] == [30_000] * 3
        assert sum(one.audio_ms for one in told) == at[-1], "all of the audio, from the onset on"

    play(scene, ScriptedBrain(otherwise="I see."))


@pytest.mark.req("H-07.floor")
@pytest.mark.parametrize("ms", LONG)
def test_a_reply_that_becomes_ready_meanwhile_waits_until_the_person_has_finished(ms: int) -> None:
    brain = ScriptedBrain(lambda request: [Delay(1_500), f"Answer {len(brain.requests)}."])

    async def scene(stage: Stage) -> None:
        await talk(stage, 1_000, text="can you help me")
        await stage.sleep(500)
        assert asked(stage) == ["can you help me"]
        await talk(stage, ms)
        await stage.sleep(3_000)
        await stage.rest()
        assert stage.said == ["can you help me", STORY]
        assert STORY in asked(stage)[-1]
        assert len(stage.heard) <= 2
        assert stage.heard[-1] == f"Answer {len(asked(stage))}."
        assert stage.lost == []

    play(scene, brain)


@pytest.mark.req("H-07.words")
def test_what_has_ended_a_long_talk_without_text_is_still_heard_if_its_text_comes_seconds_later() -> None:
    """The sound counts as noise after 0.6 s. Its late text is a turn all the same."""

    async def scene(stage: Stage) -> None:
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(60_000)
        stage.ears.tell(SpeechEnded(1))
        await stage.sleep(4_000)
        stage.ears.tell(Final(STORY, 0.9, 1))
        await stage.sleep(1_000)
        await stage.rest()
        assert asked(stage) == [STORY]
        assert stage.said == [STORY]

    play(scene, ScriptedBrain(otherwise="I see."))


# -- The limit


@pytest.mark.req("H-07.words")
@pytest.mark.parametrize("kind", ["end", "partials", "frames"])
def test_at_the_limit_what_there_is_is_committed_and_asked_and_the_person_is_told(kind: str) -> None:
    settings = profile("confirm", greets=False, talk_ms_max=40_000)

    async def scene(stage: Stage) -> None:
        before = "my name is Ada Lovelace"
        stage.ears.tell(SpeechBegan(1))
        for second in range(44):
            await stage.sleep(1_000)
            if kind == "frames":
                stage.ears.tell(VoiceFrame(0.95, 0.1, 40, 0, 1))
            if kind != "end" and second % 4 == 0:
                stage.ears.tell(Partial(f"{before}{' and' * (second // 4)}", 0.9, 1))
            if second == 41 and kind == "end":  # these ears read what was committed
                assert stage.ears.commits, "the audio was committed"
                stage.ears.tell(Final(before, 0.9, 1))
        told = [signal.at for signal in stage.told(sg.TurnLimited)]
        assert told == [40_000]
        assert len(stage.ears.commits) >= 2
        stage.ears.tell(SpeechEnded(1))
        await stage.sleep(100)
        if kind != "end":
            stage.ears.tell(Final(f"{before}{' and' * 10} that is all", 0.9, 1))
        await stage.sleep(3_000)
        await stage.rest()
        assert asked(stage)[0].startswith(before)
        assert " ".join(stage.said).count(before) == 1
        assert stage.lost == []
        if kind != "end":
            assert stage.said[-1].endswith("that is all")

    play(scene, ScriptedBrain(otherwise="I see."), profile=settings)


# -- Noise


@pytest.mark.req("H-07.words", "V-02")
@pytest.mark.parametrize("ms", [700, 8_000, 60_000])
def test_a_sound_is_noise_only_once_it_has_ended_without_words(ms: int) -> None:
    async def scene(stage: Stage) -> None:
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(ms)
        assert stage.told(sg.TurnDropped) == []
        stage.ears.tell(SpeechEnded(1))
        await stage.sleep(590)
        assert stage.told(sg.TurnDropped) == []
        await stage.sleep(20)
        (dropped,) = stage.told(sg.TurnDropped)
        assert dropped.why == "noise"
        assert asked(stage) == []

    play(scene, ScriptedBrain(otherwise="I see."))


@pytest.mark.req("H-07.words", "M-15")
def test_words_in_a_voice_that_was_taken_for_noise_are_a_whole_turn() -> None:
    """Music on the line, and then the person speaks into it: the ears report one sound without a break."""

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        stage.ears.tell(SpeechBegan(2))
        await stage.sleep(12_000)
        assert stage.told(sg.TurnDropped), "the music"
        for count in range(1, 6):
            stage.ears.tell(Partial(" ".join("when does the museum open".split()[:count]), 0.9, 2))
            await stage.sleep(300)
        assert asked(stage) == ["hello there"], "the person has not finished"
        stage.ears.tell(SpeechEnded(2))
        stage.ears.tell(Final("when does the museum open", 0.9, 2))
        await stage.sleep(1_000)
        await stage.rest()
        assert asked(stage) == ["hello there", "when does the museum open"]

    play(scene, ScriptedBrain(otherwise="I see."))
