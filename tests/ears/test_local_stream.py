"""The I/O of local ears: models that raise, hang or answer nonsense cost one line each, and listening goes on."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar, TypeVarTuple

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.core.leaves import ErrorClass
from duologue.ears.final_model import FinalModel
from duologue.ears.final_pace import LIMIT_MS
from duologue.ears.local import LocalEars
from duologue.ears.local_stream import JUDGE_S_MAX, TEXT_S_MAX, LocalStream, Models, rewrite
from duologue.ears.model_threads import ModelThreads
from duologue.ears.moonshine import Transcription
from duologue.ears.silero import SileroVad, VadMemory
from duologue.ears.stream_state import StreamSettings
from duologue.ears.threaded_vad import VAD_S_MAX, ThreadedVad
from duologue.ears.token_vocabulary import WrittenWord
from duologue.ears.turn_sound import answer
from duologue.ports.ears import Final, Frame, Heard, Incoming, Sounding, SpeechBegan, SpeechEnded
from duologue.ports.failure import BrokenContract
from duologue.runtime.simulated_clock import SimulatedLoop, end
from tests.ears.ears_recordings import frames_of, silence
from tests.needs import needs_model

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

ONE = np.concatenate((np.full(6_400, 0.3, np.float32), silence(0.6)))  # a word of 400 ms


class LoudVad:
    """Detects speech wherever it is loud, unless it is told to fail."""

    def __init__(self, probabilities: Sequence[float | Exception] = ()) -> None:
        self.answers = list(probabilities)

    def load(self) -> None:
        pass

    def probability(self, frame: Samples) -> float:
        answer = self.answers.pop(0) if self.answers else float(np.abs(frame).max() > 0.05)
        if isinstance(answer, Exception):
            raise answer
        return answer


class OneWord:
    """Transcribes everything as one word, unless it is told to fail."""

    partial_ms = 288

    def __init__(self, failures: int = 0, confidence: float = 0.9) -> None:
        self.failures = failures
        self.confidence = confidence

    def load(self) -> None:
        pass

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
        if self.failures:
            self.failures -= 1
            raise ZeroDivisionError("said: my secret")
        return Transcription("word", self.confidence, (WrittenWord("word", self.confidence, 1),), (1,))


class HangingLoop(SimulatedLoop):
    """A simulated loop in which the threads hang in some work."""

    def __init__(self, hangs: Callable[[Any], bool]) -> None:
        super().__init__()
        self.hangs = hangs

    def run_in_executor(self, executor: Any, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        return self.create_future() if self.hangs(func) else super().run_in_executor(executor, func, *args)


def listen(
    ears: LocalEars,
    items: Iterable[Incoming],
    hangs: Callable[[Any], bool] = lambda func: False,
    line_s: float = 0.0,
) -> list[Heard]:
    """What is heard, in simulated time. The line stays open for `line_s` after the audio."""

    async def line() -> AsyncIterator[Incoming]:
        for item in items:
            yield item
            await asyncio.sleep(0.02)
        await asyncio.sleep(line_s)

    async def main() -> list[Heard]:
        wanted = SpeechBegan | SpeechEnded | Final
        return [heard async for heard in ears.listen(line()) if isinstance(heard, wanted)]

    loop = HangingLoop(hangs)
    try:
        return loop.run_until_complete(main())
    finally:
        end(loop)


def ears_of(stt: OneWord | None = None, vad: LoudVad | None = None) -> LocalEars:
    return LocalEars(stt or OneWord(), lambda: vad or LoudVad(), judges_turns=False, cancels_echo=False)


class Times:
    """Hangs the first `times` times that this work is done."""

    def __init__(self, name: str, times: int) -> None:
        self.name = name
        self.times = times

    def __call__(self, func: Any) -> bool:
        inner = func.func if isinstance(func, partial) else func
        hangs = self.times > 0 and inner.__name__ == self.name
        self.times -= hangs
        return hangs


HEARD = [SpeechBegan(1), SpeechEnded(1, 192), Final("word", 0.9, 1, 0.9)]


def test_a_transcript_that_fails_once_is_written_again(caplog: pytest.LogCaptureFixture) -> None:
    assert listen(ears_of(OneWord(failures=1)), frames_of(ONE)) == HEARD
    (line,) = caplog.messages
    assert "ZeroDivisionError" in line
    assert "secret" not in line, "the message of a failure may contain words"


def test_without_any_text_the_failure_of_the_model_ends_the_stream() -> None:
    with pytest.raises(ZeroDivisionError):
        listen(ears_of(OneWord(failures=100)), frames_of(ONE))


def test_a_transcript_that_hangs_is_given_up_and_asked_for_again(caplog: pytest.LogCaptureFixture) -> None:
    assert listen(ears_of(), frames_of(ONE), Times("work", 1), line_s=3 * TEXT_S_MAX) == HEARD
    (line,) = caplog.messages
    assert f"no answer within {TEXT_S_MAX:.0f} s" in line


def test_what_was_transcribed_before_the_model_hung_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    hangs = Times("work", 0)

    class HangsAfterwards(OneWord):
        def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
            hangs.times = 100
            return super().transcribe(audio, draft)

    assert listen(ears_of(HangsAfterwards()), frames_of(ONE), hangs, line_s=5 * TEXT_S_MAX) == HEARD
    assert "keeps its partial text" in caplog.messages[-1]


def test_a_model_that_always_hangs_ends_the_stream() -> None:
    with pytest.raises(TimeoutError):
        listen(ears_of(), frames_of(ONE), Times("work", 100), line_s=5 * TEXT_S_MAX)


def test_a_pause_whose_judgement_hangs_goes_without(caplog: pytest.LogCaptureFixture) -> None:
    """A weak sound of two frames would wait for its pitch."""
    weak = LoudVad([0.6] * 4 + [0.0] * 1_000)
    heard = listen(ears_of(OneWord(confidence=0.2), weak), frames_of(ONE), Times(answer.__name__, 9), JUDGE_S_MAX + 5)
    assert heard[-1] == Final("", 0.2, 1, 0.2)
    assert f"no answer within {JUDGE_S_MAX:.0f} s" in caplog.messages[0]


def test_a_voice_detector_that_hangs_ends_the_stream_with_one_line() -> None:
    with pytest.raises(BrokenContract, match=f"didn't answer within {VAD_S_MAX:.0f} s") as broken:
        listen(ears_of(), frames_of(ONE), Times(ThreadedVad.judge_now.__name__, 1), line_s=60)
    assert broken.value.error is ErrorClass.NETWORK_TIMEOUT


@pytest.mark.parametrize("nonsense", [math.nan, -1.0, 2.0, math.inf, ValueError("no")])
def test_one_bad_answer_of_the_voice_detector_costs_a_line(
    nonsense: float | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    assert listen(ears_of(vad=LoudVad([1.0, 1.0, 1.0, nonsense])), frames_of(ONE)) == HEARD
    (line,) = caplog.messages
    assert "voice detector failed" in line


def test_a_voice_detector_that_only_fails_ends_the_stream_with_its_failure() -> None:
    with pytest.raises(ValueError, match="no"):
        listen(ears_of(vad=LoudVad([ValueError("no")] * 100)), frames_of(np.tile(ONE, 3)))


def test_a_voice_detector_that_failed_gets_a_new_memory() -> None:
    made: list[LoudVad] = []

    def make() -> LoudVad:
        made.append(LoudVad([math.nan] if len(made) == 1 else []))
        return made[-1]

    ears = LocalEars(OneWord(), make, judges_turns=False, cancels_echo=False)
    assert listen(ears, frames_of(ONE)) == HEARD
    assert len(made) == 3  # to see that there is a model, for the stream, and after the failure


# -- The better model


class Better(OneWord):
    """The model for final texts."""

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
        super().transcribe(audio, draft)
        return Transcription("better", 0.8, (WrittenWord("better", 0.8, 1),), (1,))


class LateLoop(HangingLoop):
    """The better model takes this long."""

    late_s = LIMIT_MS / 1000 + 0.1

    def run_in_executor(self, executor: Any, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        done = super().run_in_executor(executor, func, *args)
        if func is not rewrite:
            return done
        later: asyncio.Future[T] = self.create_future()
        self.call_later(self.late_s, lambda: later.set_result(done.result()))
        return later


def refining(
    better: OneWord, hangs: Times | None = None, times: int = 1, kind: type[HangingLoop] = HangingLoop
) -> tuple[list[str], FinalModel]:
    """The final texts of so many utterances with a better model, and that model."""
    final = FinalModel("auto", lambda: better)
    final.load()
    settings, threads = StreamSettings(), ModelThreads(slow_max=1)
    models = Models(OneWord(), LoudVad, None, settings, threads, False, final)

    async def main() -> list[str]:
        stream = LocalStream(models)

        async def line() -> AsyncIterator[Incoming]:
            for item in frames_of(np.tile(ONE, times)):
                yield item
                await asyncio.sleep(0.02)
            await asyncio.sleep(30)

        tasks = [asyncio.ensure_future(stream.read(line())), asyncio.ensure_future(stream.write())]
        for task in tasks:
            task.add_done_callback(stream.heard.close)
        said = []
        while (heard := await stream.heard.get()) is not None:
            said += [heard.text] if isinstance(heard, Final) else []
        stream.stop()
        return said

    loop = kind(hangs or Times("", 0))
    try:
        return loop.run_until_complete(main()), final
    finally:
        end(loop)


def test_final_texts_are_those_of_the_better_model() -> None:
    said, _ = refining(Better(), times=2)
    assert said == ["better", "better"]


def test_a_better_model_that_fails_is_left_out_with_one_line(caplog: pytest.LogCaptureFixture) -> None:
    said, final = refining(Better(failures=1), times=3)
    assert said == ["word", "word", "word"]
    assert len(caplog.messages) == 1
    assert not final.offer.is_ready


def test_a_better_model_that_returns_nonsense_is_left_out_with_one_line(caplog: pytest.LogCaptureFixture) -> None:
    class Nonsense(OneWord):
        def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
            return None  # type: ignore[return-value]

    said, final = refining(Nonsense())
    assert said == ["word"]
    assert "AttributeError" in caplog.messages[0]
    assert not final.offer.is_ready


def test_a_better_model_that_hangs_delays_one_text_and_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    said, final = refining(Better(), Times(rewrite.__name__, 1), times=2)
    assert said[0] == "word"
    assert not final.offer.is_ready
    assert len(caplog.messages) == 1


def test_a_better_model_that_is_late_is_not_asked_about_such_utterances_any_more() -> None:
    said, final = refining(Better(), times=2, kind=LateLoop)
    assert said == ["word", "word"]
    assert final.offer.is_ready
    assert final.offer.length_ms_max < 1_000


def test_a_frame_that_is_no_sound_is_not_heard() -> None:
    assert listen(ears_of(), [Frame(b"")] * 10) == []


# -- Noise suppression


class Halving:
    """Removes half of everything."""

    def feed(self, sound: Samples) -> Samples:
        return sound / 2


class Broken:
    """Fails at some frame."""

    def __init__(self, after: int, result: Samples | None = None) -> None:
        self.left, self.result = after, result

    def feed(self, sound: Samples) -> Samples:
        self.left -= 1
        if self.left > 0:
            return sound / 2
        if self.result is None:
            raise ZeroDivisionError("said: my secret")
        return self.result


class Level(OneWord):
    """Writes how loud it is."""

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
        text = f"{np.abs(audio).max():.2f}"
        return Transcription(text, 0.9, (WrittenWord(text, 0.9, 1),), (1,))


def text_with(suppressor: Any) -> str:
    """What is transcribed of a word with a level of 0.3."""
    heard: list[float] = []

    class Listening(LoudVad):
        def probability(self, frame: Samples) -> float:
            heard.append(float(np.abs(frame).max()))
            return super().probability(frame)

    ears = LocalEars(Level(), Listening, judges_turns=False, cancels_echo=False, noise_suppressor=suppressor)
    (final,) = [one for one in listen(ears, frames_of(ONE)) if isinstance(one, Final)]
    assert max(heard) == pytest.approx(0.3, abs=0.01), "voice detection hears the microphone"
    return final.text


def test_only_the_audio_for_words_is_without_noise() -> None:
    assert text_with(None) == "0.30"
    assert text_with(Halving) == "0.15"


@pytest.mark.parametrize("result", [None, np.zeros(3, np.float32)], ids=["raises", "a wrong length"])
def test_a_suppressor_that_fails_is_left_out_with_one_line(
    result: Samples | None, caplog: pytest.LogCaptureFixture
) -> None:
    assert text_with(lambda: Broken(3, result)) == "0.30"
    (line,) = caplog.messages
    assert "noise suppression failed" in line
    assert "secret" not in line


def test_what_makes_no_suppressor_is_refused() -> None:
    for wrong in (Halving(), object):
        with pytest.raises(TypeError, match="such as WebrtcNoiseSuppressor"):
            LocalEars(OneWord(), LoudVad, judges_turns=False, noise_suppressor=wrong)  # type: ignore[arg-type]
    made = LocalEars(OneWord(), LoudVad, judges_turns=False, noise_suppressor=Halving)
    assert made.settings["noise_suppressor"] == "Halving"


class FailingSilero(SileroVad):
    """Silero that raises an exception in each of its first `failures` frames."""

    def __init__(self, failures: int) -> None:
        super().__init__()
        self.failures = failures

    def judge(self, frame: Samples, memory: VadMemory) -> float:
        if self.failures:
            self.failures -= 1
            raise ZeroDivisionError
        return super().judge(frame, memory)


@pytest.mark.parametrize("failures", [0, 1])
@pytest.mark.parametrize("sounding", [(), (True,), (True, False), (True, False, True)])
def test_only_while_the_agent_is_silent_are_unsure_frames_judged_twice(
    sounding: tuple[bool, ...], failures: int
) -> None:
    needs_model("silero-vad")
    made: list[SileroVad] = []

    def vad() -> SileroVad:
        made.append(FailingSilero(failures))
        return made[-1]

    ears = LocalEars(OneWord(), vad, judges_turns=False, cancels_echo=False)
    first, *others = frames_of(silence(0.2))
    listen(ears, [*map(Sounding, sounding), first, *others])
    assert made[-1].memory.looks_twice is not (sounding[-1:] == (True,))
