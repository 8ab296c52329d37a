"""Local ears: onsets at once, text in order, one final text for each onset, and no slow model on the event loop.

First with made-up speech in simulated time, where threads take no time; then with real models and threads.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.audio.resample import resample
from duologue.core.leaves import ErrorClass
from duologue.ears.local import LocalEars
from duologue.ears.moonshine import Moonshine, Transcription
from duologue.ears.silero import SileroVad
from duologue.ears.stream_state import StreamSettings
from duologue.ears.token_vocabulary import WrittenWord
from duologue.ports.ears import (
    Commit,
    Discard,
    Final,
    Frame,
    Heard,
    Incoming,
    Partial,
    Pause,
    SpeechBegan,
    SpeechEnded,
    VoiceFrame,
)
from duologue.ports.failure import BrokenContract
from duologue.runtime.simulated_clock import run_simulated
from tests.ears.ears_recordings import BECKETT, frames_of, noise, recording, seconds, silence, word_errors
from tests.limits import TEST_S, WAIT_S

# -- Made-up speech: a word is 200 ms at a level of its own


class LevelVad:
    """Detects speech wherever it is loud."""

    def load(self) -> None:
        pass

    def probability(self, frame: Samples) -> float:
        return 1.0 if np.abs(frame).max() > 0.05 else 0.0


class LevelStt:
    """Transcribes a word by its level: `w3` is at 0.3."""

    partial_ms = 288

    def __init__(self) -> None:
        self.threads: set[int] = set()
        self.heard: list[Samples] = []

    def load(self) -> None:
        self.threads.add(threading.get_ident())

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
        self.threads.add(threading.get_ident())
        self.heard.append(audio)
        levels = [round(10 * float(np.abs(piece).max())) for piece in np.array_split(audio, max(1, audio.size // 400))]
        said = [level for at, level in enumerate(levels) if level and (at == 0 or levels[at - 1] != level)]
        words = tuple(WrittenWord(f"w{level}", 0.75, at) for at, level in enumerate(said, 1))
        return Transcription(" ".join(word.text for word in words), 0.75, words, tuple(said))


def say(*levels: int) -> Samples:
    return np.concatenate([np.full(3_200, level / 10, np.float32) for level in levels])


async def stream(items: Iterable[Incoming]) -> AsyncIterator[Incoming]:
    for item in items:
        yield item
        await asyncio.sleep(0.02 if isinstance(item, Frame) else 0)


async def all_heard(ears: LocalEars, items: Iterable[Incoming]) -> list[Heard]:
    return [heard async for heard in ears.listen(stream(items)) if not isinstance(heard, VoiceFrame | Pause)]


async def at_once(ears: LocalEars, items: Iterable[Incoming]) -> list[Heard]:
    """The same on a real event loop, without pacing the frames."""
    return [heard async for heard in ears.listen(unpaced(items)) if not isinstance(heard, VoiceFrame | Pause)]


async def unpaced(items: Iterable[Incoming]) -> AsyncIterator[Incoming]:
    for item in items:
        yield item


def listen(*parts: Samples | Commit | Discard, stt: LevelStt | None = None) -> list[Heard]:
    """What is heard of this, sent in real time by a simulated clock."""
    items: list[Incoming] = []
    for part in parts:
        items += [part] if isinstance(part, Commit | Discard) else frames_of(part)
    return run_simulated(all_heard(LocalEars(stt or LevelStt(), LevelVad, judges_turns=False), items))


def brief(heard: list[Heard]) -> list[str]:
    """What was heard in short, without partial texts: `began 1`, `ended 1`, `1: w3`."""
    reported = []
    for item in heard:
        match item:
            case SpeechBegan():
                reported.append(f"began {item.utterance}")
            case SpeechEnded():
                reported.append(f"ended {item.utterance}")
            case Final():
                reported.append(f"{item.utterance}: {item.text}".strip())
    return reported


def test_an_utterance_has_an_onset_growing_text_an_end_and_a_final_text() -> None:
    heard = listen(silence(0.5), say(3, 5, 7, 3), silence(0.5))
    assert heard[0] == SpeechBegan(1)
    assert heard[-2:] == [SpeechEnded(1, 192), Final("w3 w5 w7 w3", 0.75, 1, 0.75)]
    growing = [item.text for item in heard[1:-2] if isinstance(item, Partial)]
    assert len(growing) == len(heard) - 3
    assert growing[-1] == "w3 w5 w7 w3"
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(growing))


def test_partial_texts_come_at_least_every_300_ms_of_speech() -> None:
    came_at: list[float] = []

    async def main() -> None:
        items = frames_of(np.concatenate((silence(0.5), say(3, 5, 7, 9, 3, 5, 7, 9), silence(0.5))))
        async for heard in LocalEars(LevelStt(), LevelVad, judges_turns=False).listen(stream(items)):
            if isinstance(heard, SpeechBegan | Partial):
                came_at.append(asyncio.get_running_loop().time())

    run_simulated(main())
    gaps = np.diff(came_at)
    assert len(gaps) >= 6
    assert gaps.max() <= 0.301


def test_audio_before_the_reported_onset_is_transcribed_too() -> None:
    stt = LevelStt()
    listen(silence(0.5), say(4), silence(0.5), stt=stt)
    assert (np.abs(stt.heard[-1]) > 0.3).sum() == 3_200  # every sample of the word
    assert (np.abs(stt.heard[-1][: 300 * 16 - 512]) < 0.1).all()  # after nearly 300 ms of silence


def test_the_preroll_of_an_utterance_has_no_word_of_the_last_one() -> None:
    stt = LevelStt()
    heard = listen(silence(0.5), say(3, 4), silence(0.26), say(7, 8), silence(0.5), stt=stt)
    assert brief(heard) == ["began 1", "ended 1", "1: w3 w4", "began 2", "ended 2", "2: w7 w8"]


def test_clicks_and_silence_are_not_reported() -> None:
    click = np.concatenate((say(9)[:500], silence(1)))[:16_384]  # in one frame of the model
    assert listen(click, click, click) == []


def test_a_noise_without_words_gets_an_empty_final_text() -> None:
    class Wordless(LevelStt):
        def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
            return Transcription("", 0.0)

    heard = listen(silence(0.5), say(3, 3), silence(0.5), stt=Wordless())
    assert heard == [SpeechBegan(1), SpeechEnded(1, 192), Final("", 0.0, 1)]


def test_a_short_gap_is_part_of_an_utterance() -> None:
    assert brief(listen(say(3), silence(0.1), say(4), silence(0.5))) == ["began 1", "ended 1", "1: w3 w4"]


def test_when_the_audio_ends_in_mid_speech_its_text_still_comes() -> None:
    assert brief(listen(silence(0.2), say(3, 4))) == ["began 1", "ended 1", "1: w3 w4"]


async def muted_after(*parts: Samples | Commit, for_s: float) -> list[tuple[float, Heard]]:
    """What is heard of this, and when, counted from the moment at which the line stops sending."""
    loop = asyncio.get_running_loop()
    muted_at = 0.0

    async def line() -> AsyncIterator[Incoming]:
        nonlocal muted_at
        for part in parts:
            async for item in stream([part] if isinstance(part, Commit) else frames_of(part)):
                yield item
        muted_at = loop.time()
        await asyncio.sleep(for_s)

    ears = LocalEars(LevelStt(), LevelVad, judges_turns=False)
    reported = [(loop.time(), heard) async for heard in ears.listen(line())]
    return [(at - muted_at, heard) for at, heard in reported]


@pytest.mark.req("M-13", "T-03")
@pytest.mark.parametrize("quiet_s", [0, 0.1, 0.24])
def test_muting_the_microphone_after_the_last_word_ends_the_utterance(quiet_s: float) -> None:
    reported = run_simulated(muted_after(silence(0.3), say(3, 4), silence(quiet_s), for_s=20))
    at = {type(heard): when for when, heard in reported if isinstance(heard, SpeechEnded | Final | Pause)}
    assert brief([heard for _, heard in reported]) == ["began 1", "ended 1", "1: w3 w4"]
    assert max(at.values()) < 1.5
    frames = [when for when, heard in reported if isinstance(heard, VoiceFrame)]
    assert 19 < frames[-1] < 20, "frames of silence are reported until the turn is over"


@pytest.mark.req("L-03", "M-13")
def test_a_word_that_was_just_begun_when_the_button_came_up_gets_its_text() -> None:
    reported = run_simulated(muted_after(silence(0.3), say(3)[:2_400], Commit(1), for_s=20))
    assert brief([heard for _, heard in reported]) == ["began 1", "ended 1", "1: w3"]
    assert reported[-1][0] > 1.5 > next(at for at, heard in reported if isinstance(heard, Final))


@pytest.mark.parametrize("gap_s", [0.2, 0.9])
def test_a_short_gap_in_the_network_does_not_count_as_silence(gap_s: float) -> None:
    async def line() -> AsyncIterator[Incoming]:
        async for item in stream(frames_of(np.concatenate([silence(0.3), say(3)]))):
            yield item
        await asyncio.sleep(gap_s)
        async for item in stream(frames_of(np.concatenate([say(4), silence(0.5)]))):
            yield item

    async def hear() -> list[Heard]:
        ears = LocalEars(LevelStt(), LevelVad, judges_turns=False)
        return [heard async for heard in ears.listen(line())]

    assert brief(run_simulated(hear())) == ["began 1", "ended 1", "1: w3 w4"]


def test_without_audio_nothing_is_reported() -> None:
    assert listen() == []


# -- Markers


def test_a_commit_in_mid_speech_gives_the_text_so_far_and_the_rest_is_another_utterance() -> None:
    heard = brief(listen(silence(0.2), say(3, 4, 5), Commit(1), say(6, 7), silence(0.5)))
    assert heard == ["began 1", "1: w3 w4 w5", "began 2", "ended 2", "2: w6 w7"]


def test_a_commit_after_the_last_word_gives_the_text_at_once() -> None:
    heard = brief(listen(silence(0.2), say(3, 4), silence(0.1), Commit(1), silence(0.5)))
    assert heard == ["began 1", "1: w3 w4", "ended 1"]


def test_a_commit_after_the_final_text_changes_nothing() -> None:
    heard = brief(listen(say(3, 4), silence(0.6), Commit(1), silence(0.2), Commit(1), say(5, 6), silence(0.5)))
    assert heard == ["began 1", "ended 1", "1: w3 w4", "began 2", "ended 2", "2: w5 w6"]


def test_discarded_audio_has_no_text() -> None:
    heard = listen(silence(0.2), say(3, 3), Discard(1), silence(0.5), say(5, 6), silence(0.5))
    assert brief(heard) == ["began 1", "ended 1", "began 2", "ended 2", "2: w5 w6"]


def test_a_voice_that_goes_on_after_a_discard_is_another_onset() -> None:
    heard = brief(listen(silence(0.2), say(3, 3, 3), Discard(1), say(5, 6), silence(0.5)))
    assert heard == ["began 1", "began 2", "ended 2", "2: w5 w6"]


@pytest.mark.parametrize("marker", [Commit(1), Discard(1)])
def test_a_marker_right_after_an_onset_does_not_apply_to_it(marker: Commit | Discard) -> None:
    """It was sent before the onset was known."""
    heard = brief(listen(silence(0.4), say(3)[:2_560], marker, say(3, 4), silence(0.5)))
    assert heard == ["began 1", "ended 1", "1: w3 w4"]


@pytest.mark.parametrize("marker", [Commit(1), Discard(1)])
def test_a_marker_during_an_onset_costs_no_audio_of_it(marker: Commit | Discard) -> None:
    stt = LevelStt()
    heard = listen(silence(0.4), say(3)[:640], marker, say(3)[640:], silence(0.5), stt=stt)
    assert brief(heard) == ["began 1", "ended 1", "1: w3"]
    assert (np.abs(stt.heard[-1]) > 0.2).sum() == 3_200


def test_an_endless_utterance_is_cut_into_several() -> None:
    words = np.concatenate((say(3), silence(0.12), say(4), silence(0.12)))
    times = (StreamSettings().utterance_ms_max + 5_000) // 640
    heard = brief(listen(np.tile(words, times), silence(0.5)))
    assert [item for item in heard if "w" not in item] == ["began 1", "began 2", "ended 2"]
    assert [item.split(":")[0] for item in heard if "w" in item] == ["1", "2"]
    assert abs(sum(item.count("w") for item in heard) - 2 * times) <= 1  # the word in which it was cut


# -- Frames of all kinds


@pytest.mark.parametrize("rate_hz", [8_000, 22_050, 24_000, 44_100, 48_000])
def test_any_sample_rate_works(rate_hz: int) -> None:
    audio = np.concatenate((silence(0.5), say(3, 5), silence(0.5)))
    ears = LocalEars(LevelStt(), LevelVad, judges_turns=False)
    heard = run_simulated(all_heard(ears, frames_of(resample(audio, 16_000, rate_hz), rate_hz)))
    assert brief(heard)[:2] == ["began 1", "ended 1"]
    assert "w3" in brief(heard)[2]


def test_the_rate_may_change_and_frames_may_have_any_length() -> None:
    ears, audio = LocalEars(LevelStt(), LevelVad, judges_turns=False), np.concatenate((silence(0.5), say(3, 5)))
    items = [Frame(b""), *frames_of(audio, ms=37), *frames_of(resample(silence(0.5), 16_000, 8_000), 8_000, ms=10)]
    assert brief(run_simulated(all_heard(ears, items))) == ["began 1", "ended 1", "1: w3 w5"]


BAD_FRAMES = [
    (Frame(b"123"), "even number of bytes"),
    (Frame(b"12", 0), "sample rate"),
    (Frame(b"12", 1_000_000), "sample rate"),
    (Frame(b"1234", played=b"12"), "equally many"),
]


@pytest.mark.parametrize(("frame", "why"), BAD_FRAMES)
def test_an_unusable_frame_is_dropped_with_one_line_and_listening_goes_on(
    frame: Frame, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    ears, spoken = LocalEars(LevelStt(), LevelVad, judges_turns=False), frames_of(say(3, 4))
    items = [*spoken[:7], frame, *[frame] * 9, *spoken[7:], *frames_of(silence(0.5))]
    assert brief(run_simulated(all_heard(ears, items))) == ["began 1", "ended 1", "1: w3 w4"]
    (line,) = caplog.messages
    assert why in line
    assert "\n" not in line


@pytest.mark.parametrize(("frame", "why"), BAD_FRAMES)
def test_a_line_that_sends_only_unusable_frames_breaks_its_contract(frame: Frame, why: str) -> None:
    with pytest.raises(BrokenContract, match=why) as refusal:
        run_simulated(all_heard(LocalEars(LevelStt(), LevelVad, judges_turns=False), [frame] * 60))
    assert refusal.value.error is ErrorClass.INVALID_ARGS
    assert "\n" not in str(refusal.value)


# -- Failures, threads and load, on a real loop


class Gated(LevelStt):
    """Blocks until `may` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()
        self.may = threading.Event()

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
        self.asked.set()
        assert self.may.wait(WAIT_S)
        return super().transcribe(audio, draft)


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(TEST_S):
            await main()

    asyncio.run(bounded())


def test_a_model_that_may_be_slow_does_not_run_on_the_event_loop() -> None:
    stt, seen = LevelStt(), set[int]()

    class Vad(LevelVad):
        def probability(self, frame: Samples) -> float:
            seen.add(threading.get_ident())
            return super().probability(frame)

    async def main() -> None:
        await at_once(LocalEars(stt, Vad, judges_turns=False), frames_of(np.concatenate((say(3, 4), silence(0.5)))))

    run(main)
    assert threading.get_ident() not in stt.threads | seen
    assert seen


def test_onsets_do_not_wait_for_text_and_no_final_text_is_lost_under_load() -> None:
    """The model is blocked during three utterances: each is reported, then each gets its text, in order."""
    stt, one = Gated(), np.concatenate((say(3, 4), silence(0.4)))
    reported: list[Heard] = []

    async def main() -> None:
        async for heard in LocalEars(stt, LevelVad, judges_turns=False).listen(unpaced(frames_of(np.tile(one, 3)))):
            reported.append(heard)
            if isinstance(heard, SpeechEnded) and heard.utterance == 3:
                assert not any(isinstance(item, Partial | Final) for item in reported)
                stt.may.set()

    run(main)
    assert [item.utterance for item in reported if isinstance(item, Final)] == [1, 2, 3]
    assert all(item.text == "w3 w4" for item in reported if isinstance(item, Final))
    assert sum(isinstance(item, Partial) for item in reported) <= 1  # the rest was left out


def test_conversations_share_the_ears_and_get_their_own_text() -> None:
    async def main() -> None:
        ears = LocalEars(LevelStt(), LevelVad, judges_turns=False)
        calls = [np.concatenate((say(level, level + 1), silence(0.5))) for level in range(1, 9)]
        heard = await asyncio.gather(*(at_once(ears, frames_of(call)) for call in calls))
        for level, reported in enumerate(heard, 1):
            assert brief(reported) == ["began 1", "ended 1", f"1: w{level} w{level + 1}"]

    run(main)


def test_a_model_that_fails_fails_the_stream_and_the_next_one_works() -> None:
    class Broken(LevelStt):
        fails = True

        def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
            if self.fails:
                raise ZeroDivisionError
            return super().transcribe(audio, draft)

    async def main() -> None:
        stt = Broken()
        ears, items = LocalEars(stt, LevelVad, judges_turns=False), frames_of(np.concatenate((say(3, 4), silence(0.5))))
        with pytest.raises(ZeroDivisionError):
            await at_once(ears, items)
        stt.fails = False
        assert brief(await at_once(ears, items)) == ["began 1", "ended 1", "1: w3 w4"]

    run(main)


def test_a_closed_stream_leaves_no_task_behind() -> None:
    async def main() -> None:
        stt, never = Gated(), asyncio.Event()

        async def endless() -> AsyncIterator[Incoming]:
            for frame in frames_of(say(3, 4, 5)):
                yield frame
            await never.wait()

        listening = LocalEars(stt, LevelVad, judges_turns=False).listen(endless())
        assert await anext(listening) == SpeechBegan(1)
        await asyncio.to_thread(stt.asked.wait, 20)
        await listening.aclose()  # type: ignore[attr-defined]
        assert asyncio.all_tasks() == {asyncio.current_task()}
        stt.may.set()

    run(main)


# -- Real models


@pytest.fixture
def ears(vad: SileroVad, tiny: Moonshine) -> LocalEars:
    return LocalEars(tiny)


def finals(heard: list[Heard]) -> str:
    return " ".join(item.text for item in heard if isinstance(item, Final))


def test_a_recording_is_heard_utterance_by_utterance(ears: LocalEars) -> None:
    heard = run_simulated(all_heard(ears, frames_of(recording("beckett"))))
    assert [item.utterance for item in heard if isinstance(item, Final)] == [1, 2, 3, 4, 5, 6]
    assert word_errors(BECKETT, finals(heard)) <= 0.2  # two words at a time are hard
    assert all(0 < item.confidence <= 1 for item in heard if isinstance(item, Partial | Final))


def test_telephone_audio_is_transcribed_too(ears: LocalEars) -> None:
    audio = resample(seconds(recording("two_cities"), 0, 4.1), 16_000, 8_000)
    heard = run_simulated(all_heard(ears, frames_of(audio, 8_000)))
    assert word_errors("It was the best of times, it was the worst of times", finals(heard)) <= 0.1


def test_silence_and_noise_are_not_reported(ears: LocalEars) -> None:
    audio = np.concatenate((silence(2), noise(2, 0.01), noise(2, 0.2)))
    assert run_simulated(all_heard(ears, frames_of(audio))) == []


def test_the_final_text_is_ready_when_the_end_is_reported(ears: LocalEars) -> None:
    """It was transcribed during the pause that ended the utterance. Here threads take no time, so both come at once."""
    came_at: dict[type, float] = {}

    async def main() -> None:
        async for heard in ears.listen(stream(frames_of(seconds(recording("two_cities"), 0, 4.6)))):
            came_at[type(heard)] = asyncio.get_running_loop().time()

    run_simulated(main())
    assert came_at[Final] == came_at[SpeechEnded]


def test_real_threads_give_the_same(ears: LocalEars) -> None:
    async def main() -> None:
        heard = await at_once(ears, frames_of(recording("beckett")))
        assert len(brief(heard)) == 18
        assert word_errors(BECKETT, finals(heard)) <= 0.2

    run(main)


# -- Which model writes final texts


def test_the_settings_are_data_for_a_journal(tiny: Moonshine) -> None:
    mine = LocalEars(tiny, LevelVad, judges_turns=False, cancels_echo=False)
    known = json.loads(json.dumps(mine.settings))
    assert (known["stt"], known["vad"], known["turn"], known["final_model"]) == (
        "moonshine-tiny",
        "LevelVad",
        None,
        "tiny",
    )
    assert known["rule"]["on"] == 0.5


def test_a_model_of_your_own_writes_its_final_texts_unless_another_is_chosen(tiny: Moonshine) -> None:
    assert LocalEars(LevelStt(), LevelVad, judges_turns=False).settings["final_model"] == "tiny"
    assert LocalEars(judges_turns=False).settings["final_model"] == "tiny"
    assert LocalEars(tiny, final_model="base").settings["final_model"] == "base"


def test_base_writes_final_texts_and_tiny_partial_ones(vad: SileroVad, tiny: Moonshine, base: Moonshine) -> None:
    """In simulated time, in which models take no time."""
    audio = seconds(recording("two_cities"), 0, 4.1)
    better = LocalEars(tiny, final_model="base")
    better.load()
    assert better.settings["final_model_ready"]
    heard, as_before = (run_simulated(all_heard(one, frames_of(audio))) for one in (better, LocalEars(tiny)))
    assert [item for item in heard if not isinstance(item, Final)] == [
        item for item in as_before if not isinstance(item, Final)
    ]
    texts = [[item for item in one if isinstance(item, Final)] for one in (heard, as_before)]
    assert len(texts[0]) == len(texts[1])
    assert all(better.confidence != before.confidence for better, before in zip(*texts, strict=True))
    assert word_errors("It was the best of times, it was the worst of times", finals(heard)) <= 0.1


# -- Languages


def test_local_ears_hear_the_languages_of_their_model_if_it_says_so() -> None:
    class SwedishStt(LevelStt):
        languages = frozenset({"sv"})

    assert LocalEars(SwedishStt(), LevelVad, judges_turns=False).languages == {"sv"}
    assert LocalEars(LevelStt(), LevelVad, judges_turns=False).languages is None


# -- Audio that calls its consumer


class Pushing:
    """Audio that calls its consumer, and counts how often it was iterated over."""

    def __init__(self, items: Iterable[Incoming]) -> None:
        self.items = stream(items)
        self.iterated = 0

    def __aiter__(self) -> Pushing:
        return self

    async def __anext__(self) -> Incoming:
        self.iterated += 1
        return await anext(self.items)

    async def push_to(self, take: Callable[[Incoming], None]) -> None:
        async for item in self.items:
            take(item)


def test_silero_is_given_audio_without_a_task_and_hears_the_same(vad: SileroVad) -> None:
    items: list[Incoming] = list(frames_of(recording("beckett")))
    items[200:200] = [Commit(1)]
    items[300:300] = [Frame(b"1"), Discard(2)]

    async def heard_in(audio: AsyncIterator[Incoming]) -> list[Heard]:
        return [heard async for heard in LocalEars(LevelStt(), judges_turns=False, cancels_echo=False).listen(audio)]

    pushing = Pushing(items)
    pushed, iterated = run_simulated(heard_in(pushing)), run_simulated(heard_in(stream(items)))
    assert pushing.iterated == 0
    assert [item for item in pushed if not isinstance(item, Partial)] == [
        item for item in iterated if not isinstance(item, Partial)
    ]
    assert len(brief(pushed)) > 10


@pytest.mark.parametrize("detector", [LevelVad, SileroVad])
def test_audio_that_needs_a_thread_is_iterated_over(detector: Any, vad: SileroVad) -> None:
    pushing = Pushing(frames_of(np.concatenate((say(3, 4), silence(0.5)))))
    ears = LocalEars(LevelStt(), detector, judges_turns=False, cancels_echo=detector is SileroVad)

    async def main() -> None:
        async for _ in ears.listen(pushing):
            pass

    run_simulated(main())
    assert pushing.iterated > 10
