"""Smart Turn: its features are Whisper's, its judgements make sense on real speech."""

from __future__ import annotations

import math

import numpy as np
import pytest

from duologue.audio.frames import Samples, UnusableAudio
from duologue.ears.smart_turn import MELS, WINDOW_SAMPLES, SmartTurn, last_window, log_mel
from tests.ears.ears_recordings import noise, recording, seconds, silence


def chirp(samples: int) -> Samples:
    at = np.arange(samples) / 16_000
    return (0.3 * np.sin(2 * np.pi * (200 * at + 180 * at * at))).astype(np.float32)


# Expected values: the feature code of pipecat-ai 1.14.0, taken from transformers, on the same audio.


@pytest.mark.parametrize(
    ("sound", "mean", "deviation", "expected"),
    [
        (
            chirp(WINDOW_SAMPLES),
            -0.16786,
            0.41389,
            {(0, 0): 1.39621, (5, 10): 1.63909, (20, 300): -0.32159, (79, 799): -0.13007, (10, 799): 0.03339},
        ),
        (
            chirp(48_000),
            -0.13458,
            0.30441,
            {(0, 0): -0.2151, (5, 510): 1.74558, (8, 600): -0.16076, (20, 700): 0.32956, (40, 799): 0.62089},
        ),
    ],
    ids=["8s", "3s"],
)
def test_the_features_are_those_of_whisper(
    sound: Samples, mean: float, deviation: float, expected: dict[tuple[int, int], float]
) -> None:
    features = log_mel(last_window(sound))
    assert features.shape == (MELS, 800)
    assert features.dtype == np.float32
    assert features.mean() == pytest.approx(mean, abs=1e-4)
    assert features.std() == pytest.approx(deviation, abs=1e-4)
    for place, value in expected.items():
        assert features[place] == pytest.approx(value, abs=1e-4), place


def test_the_window_is_the_last_eight_seconds_with_silence_before() -> None:
    short = last_window(chirp(1000))
    assert short.size == WINDOW_SAMPLES
    assert not short[:-1000].any()
    assert (short[-1000:] == chirp(1000)).all()
    long = chirp(WINDOW_SAMPLES + 1000)
    assert (last_window(long) == long[1000:]).all()


def test_loudness_hardly_matters() -> None:
    sound = last_window(seconds(recording("two_cities"), 0, 4))
    assert np.abs(log_mel(sound) - log_mel(sound * np.float32(0.1))).max() < 0.05


@pytest.mark.parametrize(("until", "over"), [(1.0, False), (3.0, False), (4.0, True), (5.0, False), (7.0, False)])
def test_a_sentence_that_is_over_sounds_like_it(turn: SmartTurn, until: float, over: bool) -> None:
    """ "It was the best of times, it was the worst of times" is over at 4 s."""
    found = turn.hear(seconds(recording("two_cities"), 0, until)).logit
    assert found > 2.2 if over else found < -2.2


def test_the_embedding_differs_between_sounds(turn: SmartTurn) -> None:
    spoken, quiet = turn.hear(seconds(recording("two_cities"), 0, 4)).embedding, turn.hear(silence(4)).embedding
    assert len(spoken) == len(quiet)
    assert spoken != quiet


@pytest.mark.parametrize("sound", [silence(0), silence(0.01), silence(9), noise(2, 0.1)], ids=str)
def test_audio_without_speech_is_judged_too(turn: SmartTurn, sound: Samples) -> None:
    assert math.isfinite(turn.hear(sound).logit)


@pytest.mark.parametrize(
    ("garbage", "why"),
    [
        (np.full(16_000, np.nan, np.float32), "NaN or infinite"),
        (np.zeros(16_000, np.int16), "not int16"),
        (np.zeros((2, 16_000), np.float32), "mono"),
    ],
)
def test_unusable_audio_is_rejected_in_one_line(turn: SmartTurn, garbage: Samples, why: str) -> None:
    with pytest.raises(UnusableAudio, match=why) as refusal:
        turn.hear(garbage)
    assert "\n" not in str(refusal.value)
