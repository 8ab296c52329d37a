"""Streaming transcription: words settle, the cost is bounded, and cutting the audio loses no word."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.ears.dictation import WINDOW_MS_MAX, Dictation, Transcribes, quietest
from duologue.ears.moonshine import NOTHING, Moonshine, Transcription, mean_confidence
from duologue.ears.stream_state import Hypothesis
from duologue.ears.token_vocabulary import WrittenWord
from tests.ears.ears_recordings import TWO_CITIES, noise, recording, seconds, word_errors

STEP = 4_608  # 288 ms
WORD_S = 0.4  # in made-up speech, each word takes this long


class Counting:
    """A model that records how much audio it was given."""

    def __init__(self, model: Transcribes) -> None:
        self._model = model
        self.partial_ms = model.partial_ms
        self.lengths: list[int] = []

    def load(self) -> None:
        pass

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
        self.lengths.append(audio.size)
        return self._model.transcribe(audio, draft)


class Positions:
    """Transcribes made-up speech in which the value of a sample is its position. Word 3 is said from 1.26 to 1.54 s."""

    partial_ms = 288

    def load(self) -> None:
        pass

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
        if not audio.size:
            return NOTHING
        start, end = _time_of(audio[0]), _time_of(audio[-1])
        said = [number for number in range(1000) if start <= number * WORD_S + 0.07 and number * WORD_S + 0.33 <= end]
        words = tuple(WrittenWord(f"w{number}", 0.9, at) for at, number in enumerate(said, 1))
        return Transcription(" ".join(word.text for word in words), 0.9, words, tuple(said))


_GAP = np.float32(1e-6)  # how much quieter it is between two words


def _time_of(sample: np.float32) -> float:
    return float(sample if sample >= 1 else sample / _GAP) / 16_000


def positions(length_s: float) -> Samples:
    at = np.arange(1, int(length_s * 16_000) + 1, dtype=np.float32)
    in_word = np.abs((at / 16_000) % WORD_S - WORD_S / 2) < 0.14
    return np.where(in_word, at, at * _GAP).astype(np.float32)


def dictate(model: Transcribes, audio: Samples) -> list[Hypothesis]:
    """Every transcript, from the first partial one on."""
    dictation, reported = Dictation(model), []
    for at in range(0, audio.size, STEP):
        dictation.add(audio[at : at + STEP])
        reported.append(dictation.write())
        if dictation.is_long:
            dictation.settle()
    return reported


# -- Cutting


def test_no_word_is_lost_or_said_twice_at_a_cut() -> None:
    last = dictate(Positions(), positions(20))[-1]
    assert last.text.split() == [f"w{number}" for number in range(50)]
    assert last.settled > 30


def test_settled_words_never_change() -> None:
    reported = dictate(Positions(), positions(20))
    for before, after in itertools.pairwise(reported):
        assert after.settled >= before.settled
        assert after.text.split()[: before.settled] == before.text.split()[: before.settled]


def test_a_model_that_never_gives_the_same_transcript_twice_still_settles() -> None:
    class Fickle(Positions):
        calls = 0

        def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
            self.calls += 1
            heard = super().transcribe(audio, draft)
            words = tuple(WrittenWord(f"{word.text}x{self.calls}", 0.5, word.ends) for word in heard.words)
            return Transcription(" ".join(word.text for word in words), 0.5, words, heard.tokens)

    model = Counting(Fickle())
    last = dictate(model, positions(30))[-1]
    assert max(model.lengths) <= WINDOW_MS_MAX * 16 + STEP
    assert [word.split("x")[0] for word in last.text.split()] == [f"w{number}" for number in range(75)]


def test_a_model_that_gives_no_text_for_long_audio_loses_no_word() -> None:
    class Shy(Positions):
        def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
            return NOTHING if audio.size > 6 * 16_000 else super().transcribe(audio, draft)

    class Refusing(Shy):
        """In addition, its transcripts differ from one call to the next."""

        def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
            heard = super().transcribe(audio, draft)
            odd = audio.size % 2 == 1
            return Transcription(heard.text, 0.5, heard.words[:-1] if odd else heard.words, heard.tokens)

    for model in (Shy(), Refusing()):
        assert dictate(model, positions(16))[-1].text.split() == [f"w{number}" for number in range(40)]


def test_audio_that_arrives_all_at_once_is_cut_to_what_the_model_takes() -> None:
    model = Counting(Positions())
    dictation = Dictation(model)
    dictation.add(positions(50))
    assert dictation.write().text.split() == [f"w{number}" for number in range(125)]
    assert max(model.lengths) <= 2 * WINDOW_MS_MAX * 16


def test_the_cut_is_where_it_is_quiet() -> None:
    audio = noise(5, 0.2)
    audio[40_000:42_000] *= np.float32(0.01)
    assert 40_000 < quietest(audio) < 42_000


def test_the_cut_is_near_neither_the_start_nor_the_end() -> None:
    audio = noise(5, 0.2)
    audio[:20_000] = audio[-16_000:] = 0
    assert 24_000 <= quietest(audio) <= 60_800


def test_a_cut_within_a_sentence_adds_no_capital_letter() -> None:
    class Capital(Positions):
        def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
            heard = super().transcribe(audio, draft)
            words = tuple(
                WrittenWord(word.text.capitalize() if at == 0 else word.text, 0.9, word.ends)
                for at, word in enumerate(heard.words)
            )
            return Transcription(" ".join(word.text for word in words), 0.9, words, heard.tokens)

    text = dictate(Capital(), positions(12))[-1].text
    assert text.startswith("W0 w1 w2 ")
    assert text.count("W") == 1


# -- Stability


class Saying:
    """Returns one text after the other, for any audio."""

    partial_ms = 288

    def __init__(self, *texts: str) -> None:
        self._texts = list(texts)

    def load(self) -> None:
        pass

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
        words = tuple(WrittenWord(text, 0.8, at) for at, text in enumerate(self._texts.pop(0).split(), 1))
        return Transcription(" ".join(word.text for word in words), mean_confidence(words), words)


@pytest.mark.req("T-07")
def test_stability_is_how_far_the_last_hypotheses_agree_and_how_long_they_did() -> None:
    reported = dictate(Saying("", "I want", "I want to", "I won't to go", "I won't to go.", ""), positions(6 * 0.288))
    assert [round(12 * hypothesis.stability) for hypothesis in reported] == [0, 0, 4, 3, 7, 0]
    assert [hypothesis.unchanged_ms for hypothesis in reported] == [288, 0, 0, 0, 288, 0]
    assert [round(hypothesis.confidence, 3) for hypothesis in reported] == [0, 0.8, 0.8, 0.8, 0.8, 0]


def test_the_final_text_is_not_transcribed_again_for_the_silence_after_it() -> None:
    model = Counting(Saying("yes", "yes please"))
    dictation = Dictation(model)
    dictation.add(positions(1))
    written = dictation.write()
    dictation.add(positions(0.1))
    assert dictation.finish(voiced=15_000) == written
    assert len(model.lengths) == 1
    assert dictation.finish(voiced=17_000).text == "yes please"


# -- On real speech


def test_streaming_is_as_good_as_transcribing_the_whole(tiny: Moonshine) -> None:
    last = dictate(tiny, seconds(recording("two_cities"), 0.2, 16.3))[-1]
    assert word_errors(TWO_CITIES, last.text) <= 0.08
    assert last.settled > 20
    assert last.confidence > 0.9


@pytest.mark.parametrize(("length_s", "times_max"), [(3.0, 7), (15.0, 16)])
def test_the_cost_is_bounded_for_long_speech(tiny: Moonshine, length_s: float, times_max: int) -> None:
    """A second of audio costs a core some 15 ms, so fourteen times is about a fifth of the time."""
    model = Counting(tiny)
    audio = seconds(recording("two_cities"), 0.2, 0.2 + length_s)
    dictate(model, audio)
    assert sum(model.lengths) <= times_max * audio.size
    assert max(model.lengths) <= WINDOW_MS_MAX * 16 + STEP
