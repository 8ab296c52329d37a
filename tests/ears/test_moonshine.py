"""Moonshine: few words wrong, no text for noise, no endless loops; a draft changes only the time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from duologue.audio.frames import Samples, UnusableAudio
from duologue.ears.moonshine import NOTHING, Moonshine, Transcription, repeated_tokens
from duologue.models.cache import ModelMissing
from tests.ears.ears_recordings import BECKETT, TWO_CITIES, noise, recording, seconds, silence, word_errors


@pytest.fixture(scope="module")
def best() -> Samples:
    return seconds(recording("two_cities"), 0.2, 4.1)


# -- Words


@pytest.mark.parametrize(("name", "said"), [("beckett", BECKETT), ("two_cities", TWO_CITIES)])
def test_few_words_of_a_recording_are_wrong(tiny: Moonshine, name: str, said: str) -> None:
    assert word_errors(said, tiny.transcribe(recording(name)).text) <= 0.06


@pytest.mark.parametrize(("name", "said"), [("beckett", BECKETT), ("two_cities", TWO_CITIES)])
def test_the_larger_model_is_better(base: Moonshine, name: str, said: str) -> None:
    assert word_errors(said, base.transcribe(recording(name)).text) <= 0.04


def test_confidence_is_high_for_clear_speech_and_low_for_drowned_speech(tiny: Moonshine, best: Samples) -> None:
    clear = tiny.transcribe(best)
    drowned = tiny.transcribe(best + noise(best.size / 16_000, 0.2))
    assert clear.confidence > 0.9
    assert drowned.confidence < 0.7
    assert clear.text == " ".join(word.text for word in clear.words)
    assert all(0 < word.confidence <= 1 for word in (*clear.words, *drowned.words))
    assert clear.words[-1].ends == len(clear.tokens)


@pytest.mark.parametrize("sound", [silence(0), silence(0.001), silence(2), noise(2, 0.01), noise(2, 0.1)], ids=str)
def test_audio_without_speech_gives_no_text(tiny: Moonshine, sound: Samples) -> None:
    assert tiny.transcribe(sound) == NOTHING


def test_the_larger_model_gives_no_text_for_noise(base: Moonshine) -> None:
    assert base.transcribe(noise(2, 0.1)) == NOTHING


# -- Drafts


@pytest.mark.parametrize(
    "draft",
    [
        "all",
        "half",
        "longer",
        "one wrong",
        "all wrong",
    ],
)
def test_a_draft_changes_nothing(tiny: Moonshine, best: Samples, draft: str) -> None:
    plain = tiny.transcribe(best)
    tokens = list(plain.tokens)
    if draft == "half":
        tokens = tokens[: len(tokens) // 2]
    elif draft == "longer":
        tokens += tokens
    elif draft == "one wrong":
        tokens[3] = 777
    elif draft == "all wrong":
        tokens = [500 + at for at in range(400)]
    drafted = tiny.transcribe(best, tokens)
    assert drafted.text == plain.text
    assert drafted.confidence == pytest.approx(plain.confidence, abs=0.02)


def test_a_draft_saves_most_decoder_runs(tiny: Moonshine, best: Samples) -> None:
    plain = tiny.transcribe(best)
    assert len(plain.tokens) > 12
    assert plain.decoder_runs == len(plain.tokens) + 1
    assert tiny.transcribe(best, plain.tokens).decoder_runs == 1


def test_conversations_do_not_disturb_each_other(tiny: Moonshine) -> None:
    pieces = [seconds(recording("two_cities"), at, at + 2) for at in range(8)]
    alone = [tiny.transcribe(piece) for piece in pieces]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(tiny.transcribe, pieces)) == alone


# -- Loops


@pytest.mark.parametrize(
    ("tokens", "spare"),
    [
        ([5, 6, 7, 8], 0),
        ([9, 9, 9, 9, 9, 9], 0),  # "no no no no no no"
        ([9] * 7, 6),
        ([1, 2] * 4, 0),
        ([1, 2] * 5, 8),
        ([3, *[4, 5, 6, 7, 8] * 2], 0),
        ([3, *[4, 5, 6, 7, 8] * 3], 10),
    ],
)
def test_tokens_that_repeat_too_often_are_a_loop(tokens: list[int], spare: int) -> None:
    assert repeated_tokens(tokens, times_max=100) == spare


def test_in_half_a_second_three_repetitions_are_a_loop() -> None:
    assert repeated_tokens([1, 2, 1, 2, 1, 2], times_max=2) == 2


@pytest.mark.parametrize("end", [6.2, 6.6, 8.3])
def test_a_looping_transcript_is_stopped_and_its_confidence_halved(tiny: Moonshine, end: float) -> None:
    """This audio ends in the first word of a sentence, and the model repeats the sentence before endlessly."""
    found = tiny.transcribe(seconds(recording("two_cities"), 0.25, end))
    assert found.looped
    assert found.confidence <= 0.5
    assert word_errors(" ".join(TWO_CITIES.split()[: len(found.words)]), found.text) == 0


# -- Unusable audio


@pytest.mark.parametrize(
    ("garbage", "why"),
    [
        (np.full(16_000, np.nan, np.float32), "NaN or infinite"),
        (np.zeros(16_000, np.int16), "not int16"),
        (np.zeros((2, 16_000), np.float32), "mono"),
        (silence(31), "31 s of audio is too long"),
    ],
)
def test_unusable_audio_is_rejected_in_one_line(tiny: Moonshine, garbage: Samples, why: str) -> None:
    with pytest.raises(UnusableAudio, match=why) as refusal:
        tiny.transcribe(garbage)
    assert "\n" not in str(refusal.value)


def test_a_missing_model_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path))
    with pytest.raises(ModelMissing, match="duologue models pull moonshine-base"):
        Moonshine("base")


def test_an_empty_transcript_equals_nothing() -> None:
    assert Transcription("", 0.0) == NOTHING
