"""Recordings, heard by a whole agent: what it decides, when, why, and that it can't look ahead.

Made-up speech and models that cost nothing; test_real_speech has the real ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.audio.frames import Samples, to_pcm
from duologue.core.errors import DuologueError
from duologue.core.settings import profile
from duologue.ears.moonshine import Transcription
from duologue.ears.token_vocabulary import WrittenWord
from duologue.lab.recordings.busy_clock import run_timed
from duologue.lab.recordings.listener import FRAME_MS, RATE_HZ, Listener, ListenResult
from duologue.ports.ears import Commit, Final, Frame, Heard, Incoming, SpeechBegan, SpeechEnded
from duologue.runtime.simulated_clock import run_simulated
from duologue.turns.endpoint import FixedSilence, ManualEndpoint, policy
from tests.lab.recordings.made_up_speech import (
    FRAME,
    LevelStt,
    Wordless,
    before,
    hear,
    joined,
    kinds,
    listener,
    made_up_ears,
    say,
    silence,
)

# -- One recording


def test_a_turn_is_heard_written_and_ended_after_its_silence() -> None:
    result = hear(joined(silence(0.5), say(3, 5, 7), silence(0.5)))
    assert [said.text for said in result.turns] == ["w3 w5 w7"]
    [ended] = result.decisions
    assert ended.kind == "end_of_turn"
    assert ended.reasons == ("silence_700ms",)
    assert 500 + 600 + 700 - FRAME_MS <= ended.t_ms <= 500 + 600 + 700 + 2 * FRAME_MS
    assert result.duration_ms == 1_600
    assert len(result.levels_db) == 1_600 // FRAME_MS


@pytest.mark.parametrize("name", ["combined", "semantic", "vad", "easyturn", "easyturn-003", "manual", "server"])
def test_every_policy_ends_a_turn_that_was_said_within_the_silence_behind_the_recording(name: str) -> None:
    result = hear(joined(silence(0.2), say(3, 5, 7, 9), silence(0.1)), by=listener(name))
    assert kinds(result) == ["end_of_turn"]
    assert all(made.reasons for made in result.decisions)


def test_nothing_is_decided_in_silence() -> None:
    result = hear(silence(2))
    assert (result.decisions, result.words, result.duration_ms) == ((), (), 2_000)


def test_a_sound_without_words_is_a_noise() -> None:
    by = Listener(made_up_ears(Wordless()), FixedSilence(), profile("confirm"))
    result = hear(joined(silence(0.5), say(3, 3), silence(0.5)), by=by)
    assert kinds(result) == ["noise"]
    assert result.turns == ()


def test_a_long_silence_ends_a_turn_and_a_short_pause_does_not() -> None:
    result = hear(joined(say(3, 4), silence(0.4), say(5), silence(1.5), say(6, 7), silence(0.2)))
    assert [said.text for said in result.turns] == ["w3 w4 w5", "w6 w7"]
    assert kinds(result) == ["end_of_turn", "end_of_turn"]


# A past bug: a brain that yielded nothing broke its contract with every turn; the machine requested again, faulted, and
# after three faults ended the conversation, so the rest of the recording was lost without an error.
@pytest.mark.parametrize(("turns", "gap_s"), [(3, 2), (9, 2), (8, 4), (5, 8)])
def test_every_turn_of_a_long_recording_is_heard_and_ended(turns: int, gap_s: int) -> None:
    result = hear(joined(*(joined(say(3, 5), silence(gap_s)) for _ in range(turns))))
    assert kinds(result) == ["end_of_turn"] * turns
    assert [said.text for said in result.turns] == ["w3 w5"] * turns


@pytest.mark.req("H-07.words")
@pytest.mark.parametrize("words", [110, 270])
def test_a_long_turn_ends_only_once_and_loses_no_word(words: int) -> None:
    """Its audio is committed every 30 s, which is no end. These ears write a word that was cut by it twice."""
    levels = [3 + number % 6 for number in range(words)]
    sound = joined(*(joined(say(level), silence(0.15)) for level in levels))
    result = hear(sound)
    assert kinds(result) == ["end_of_turn"]
    assert result.decisions[0].t_ms > sound.size * 1000 / RATE_HZ
    heard = [word for said in result.turns for word in said.text.split()]
    assert [word for word, _ in groupby(heard)] == [f"w{level}" for level in levels]


@pytest.mark.req("M-14")
@pytest.mark.parametrize(
    ("overlap", "expected"),
    [("confirm", ["hold", "barge_in"]), ("words", ["barge_in"]), ("immediate", ["barge_in"])],
)
def test_over_the_agents_voice_the_profile_decides(overlap: str, expected: list[str]) -> None:
    quiet_agent = np.full(3 * RATE_HZ, 0.001, np.float32)
    result = hear(joined(silence(0.5), say(3, 5, 7, 9), silence(1)), quiet_agent, listener("vad", overlap))
    assert kinds(result)[: len(expected)] == expected
    assert all(made.t_ms >= 500 for made in result.decisions)


@pytest.mark.req("M-14")
def test_every_hold_ends() -> None:
    by = Listener(made_up_ears(Wordless()), FixedSilence(), profile("confirm"))
    audio = joined(*(joined(silence(0.9), say(3)) for _ in range(4)), silence(1))
    result = hear(audio, np.full(6 * RATE_HZ, 0.001, np.float32), by)
    assert [kind for kind in kinds(result) if kind != "noise"] == ["hold", "resume"] * 4


# A past bug: sound that still played after the recording and its 4 s of silence was stopped by the end of the
# conversation, and that stop was recorded as a barge-in.
def test_an_agent_that_speaks_longer_than_the_recording_is_not_interrupted_by_its_end() -> None:
    result = hear(silence(0.5), np.full(8 * RATE_HZ, 0.001, np.float32))
    assert result.decisions == ()


def test_the_agents_side_may_be_shorter_longer_or_empty() -> None:
    audio = joined(silence(0.3), say(3, 5), silence(0.3))
    assert kinds(hear(audio, np.empty(0, np.float32))) == ["end_of_turn"]
    assert kinds(hear(audio, np.full(1, 0.001, np.float32))) == ["end_of_turn"]


@pytest.mark.parametrize("samples", [1, FRAME - 1, FRAME, FRAME + 1])
def test_a_recording_may_be_as_short_as_one_sample(samples: int) -> None:
    result = hear(np.full(samples, 0.3, np.float32))
    assert result.duration_ms == samples * 1000 // RATE_HZ
    assert len(result.levels_db) == -(-samples // FRAME)


# A past bug: a difference of floats was rounded up, and a decision at 352 ms was recorded at 353.
def test_times_are_those_of_the_frames_in_which_things_happen() -> None:
    quiet_agent = np.full(4 * RATE_HZ, 0.001, np.float32)
    for lead in range(1, 40):
        result = hear(joined(np.zeros(lead * FRAME, np.float32), say(3, 5)), quiet_agent)
        held = next(made for made in result.decisions if made.kind == "hold")
        assert held.t_ms == (lead + 1) * FRAME_MS


# -- Reasons


class ScriptedReports:
    """Ears that report what a script says, at its times in ms from the first frame."""

    def __init__(self, *script: tuple[int, Heard]) -> None:
        self.script = script

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        reading = asyncio.ensure_future(self.read(audio))
        began = asyncio.get_running_loop().time() + 0.2  # the agent speaks for so long before the recording
        try:
            for at_ms, heard in self.script:
                await asyncio.sleep(max(0.0, began + at_ms / 1000 - asyncio.get_running_loop().time()))
                yield heard
            await reading
        finally:
            reading.cancel()

    async def read(self, audio: AsyncIterator[Incoming]) -> None:
        async for _ in audio:
            pass


# A past bug: a reason without an effect (a verdict after the hold had timed out) was stored and given to the next
# decision of its kind.
def test_a_reason_belongs_to_its_own_decision() -> None:
    ears = ScriptedReports(
        (500, SpeechBegan(1)),
        (600, SpeechEnded(1)),  # held since 500; without a verdict, the lull timer ends it at 1,100
        (1_500, Final("yeah", 0.9, 1)),  # a verdict on what is over: there is nothing to resume
        (3_000, SpeechBegan(2)),
        (3_100, SpeechEnded(2)),  # as before, without any verdict
    )
    by = Listener(ears, ManualEndpoint(), profile("confirm"))
    result = hear(silence(4), np.full(6 * RATE_HZ, 0.001, np.float32), by)
    resumed = [(made.reasons, made.confidence) for made in result.decisions if made.kind == "resume"]
    assert resumed == [(("TimerFired",), None), (("TimerFired",), None)]


# A past bug: the conversation handled a model that failed while listening by restarting the ears, so the result looked
# like silence, and `duologue listen` ended with exit code 0.
def test_ears_that_fail_raise_instead_of_looking_like_silence() -> None:
    class Broken(LevelStt):
        def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
            raise ZeroDivisionError

    by = Listener(made_up_ears(Broken()), FixedSilence(), profile("confirm"))
    with pytest.raises((ZeroDivisionError, DuologueError)):
        hear(joined(silence(0.2), say(3, 5, 7), silence(0.2)), by=by)


# -- Time


class Processor:
    """Stands where `time` would."""

    def __init__(self) -> None:
        self.spent_s = 0.0

    def thread_time(self) -> float:
        return self.spent_s


class SlowStt(LevelStt):
    """Takes `cost_ms` for every text."""

    def __init__(self, processor: Processor, cost_ms: int) -> None:
        self.processor = processor
        self.cost_ms = cost_ms

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
        self.processor.spent_s += self.cost_ms / 1000
        return super().transcribe(audio, draft)


def hear_slowly(audio: Samples, cost_ms: int, name: str = "vad") -> ListenResult:
    with pytest.MonkeyPatch.context() as patch:
        processor = Processor()
        patch.setattr("duologue.lab.recordings.busy_clock.time", processor)
        by = Listener(made_up_ears(SlowStt(processor, cost_ms)), policy(name), profile("confirm"))
        return run_timed(by.listen(audio))


def test_a_slow_model_makes_words_and_ends_later_and_never_sooner() -> None:
    audio = joined(silence(0.5), say(3, 5, 7, 9, 3, 5), silence(0.5))
    first_words = [min(said.t_ms for said in hear_slowly(audio, cost).words) for cost in (0, 100, 300)]
    assert first_words == sorted(set(first_words))
    ends = [hear_slowly(audio, cost).decisions[-1].t_ms for cost in (0, 100, 300)]
    assert ends == sorted(ends)


# A past bug: a sound without words counted as noise after 600 ms of silence, and its audio was discarded while STT was
# still transcribing it: where a first text took longer than that, every short answer was lost without an error.
@pytest.mark.req("M-15", "V-06")
@pytest.mark.parametrize("cost_ms", [100, 400, 700, 1_000])
def test_a_short_answer_is_not_lost_on_a_slow_machine(cost_ms: int) -> None:
    result = hear_slowly(joined(silence(0.5), say(3), silence(1)), cost_ms)
    assert [said.text for said in result.turns] == ["w3"]


class UnsureStt(LevelStt):
    """Transcribes with a low confidence."""

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
        found = super().transcribe(audio, draft)
        words = tuple(WrittenWord(word.text, 0.4, word.ends) for word in found.words)
        return Transcription(found.text, 0.4, words, found.tokens)


# A past bug: a final text that was ready after the turn was committed was compared with the voice of the next turn,
# which hadn't begun: 600 ms of clear voice counted as weak, the text waited for a pitch that was never measured, and at
# the end of the stream it was reported as empty, which removed the words of the partial texts.
@pytest.mark.req("M-15")
def test_a_turn_that_is_ended_before_its_text_is_written_gets_its_text() -> None:
    async def incoming() -> AsyncIterator[Incoming]:
        for part in (joined(silence(0.3), say(3, 4, 5)), silence(2)):
            for at in range(0, part.size, FRAME):
                yield Frame(to_pcm(part[at : at + FRAME]))
                await asyncio.sleep(FRAME_MS / 1000)
            yield Commit(1)

    async def finals() -> list[tuple[str, float]]:
        heard = made_up_ears(UnsureStt()).listen(incoming())
        return [(item.text, asyncio.get_running_loop().time()) async for item in heard if isinstance(item, Final)]

    [(text, told_at)] = run_simulated(finals())
    assert text == "w3 w4 w5"
    assert told_at < 1.5


# -- It can't look ahead


speech = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 30)), min_size=1, max_size=6)


@pytest.mark.req("T-02")
@pytest.mark.parametrize("name", ["combined", "easyturn"])
@pytest.mark.parametrize("speaks", [False, True])
@settings(max_examples=10, deadline=None)
@given(words=speech, cut=st.integers(1, 200))
def test_what_comes_after_a_cut_changes_nothing_before_it(
    name: str, speaks: bool, words: list[tuple[int, int]], cut: int
) -> None:
    audio = joined(*(joined(say(level), np.zeros(gap * FRAME, np.float32)) for level, gap in words))
    cut = min(cut, audio.size // FRAME)
    played = np.full(3 * RATE_HZ, 0.001, np.float32) if speaks else None
    whole = hear(audio, played, listener(name))
    part = hear(audio[: cut * FRAME], played, listener(name))
    cut_ms = cut * FRAME_MS
    assert before(whole, cut_ms) == before(part, cut_ms)
    assert [said for said in whole.words if said.t_ms <= cut_ms] == [said for said in part.words if said.t_ms <= cut_ms]
