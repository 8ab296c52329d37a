"""The sound of a turn: each question gets the audio that it needs, and each answer keeps what was known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from duologue.ears.silero import FRAME_MS, FRAME_SAMPLES
from duologue.ears.smart_turn import SmartTurn
from duologue.ears.stream_state import JudgePause
from duologue.ears.turn_sound import LEAD_SAMPLES, TurnSound, answer
from duologue.turns.features import PauseFeatures
from tests.ears.ears_recordings import noise, recording, seconds


def sound_of(frames: int) -> TurnSound:
    turn = TurnSound()
    for place in range(frames):
        turn.add(np.full(FRAME_SAMPLES, place, np.float32))
    return turn


def test_the_end_of_turn_model_gets_the_turn_and_what_came_before_it() -> None:
    sound = sound_of(100).of(JudgePause(1, PauseFeatures(), 50, 95))
    assert sound.size == LEAD_SAMPLES + 45 * FRAME_SAMPLES
    assert sound[-1] == 94


def test_a_doubt_gets_at_most_the_last_second() -> None:
    turn = sound_of(100)
    short = turn.of(JudgePause(1, PauseFeatures(stretch_ms=480), 80, 95, is_doubt=True))
    assert (short[0], short[-1], short.size) == (77, 94, 18 * FRAME_SAMPLES)
    assert turn.of(JudgePause(1, PauseFeatures(stretch_ms=2_000), 10, 95, is_doubt=True)).size == 16_000


def test_a_doubt_is_about_the_last_stretch_only() -> None:
    stretch = sound_of(100).of(JudgePause(1, PauseFeatures(stretch_ms=160), 10, 95, is_doubt=True))
    assert stretch.size == (160 + 128 + 192) * 16


def test_of_a_long_turn_the_last_seconds_are_left() -> None:
    sound = sound_of(20_000 // FRAME_MS).of(JudgePause(1, PauseFeatures(), 0, 20_000 // FRAME_MS))
    assert 8 * 16_000 <= sound.size <= 9 * 16_000


def test_the_answer_has_the_judgement_of_the_model(turn: SmartTurn) -> None:
    known = PauseFeatures(1_000, 5.0)
    question, sound = JudgePause(1, known, 0, 125), seconds(recording("two_cities"), 0, 4)
    assert answer(question, sound, None) == known
    judged = answer(question, sound, turn)
    assert judged.turn_logit is not None
    assert judged.turn_logit > 0
    assert replace(judged, turn_logit=None, turn_embedding=known.turn_embedding) == known


def test_a_doubt_is_answered_by_the_pitch_of_the_sound() -> None:
    tone = np.sin(2 * np.pi * 150 * np.arange(16_000) / 16_000).astype(np.float32) * np.float32(0.3)
    question = JudgePause(1, PauseFeatures(100, 1.0), 0, 31, is_doubt=True)
    pitched, hissed = (answer(question, sound, None) for sound in (tone, noise(1, 0.1)))
    assert (pitched.pitched_ms or 0) > (hissed.pitched_ms or 0)
