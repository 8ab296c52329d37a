"""The sound of a turn: a pause raises a question once, and a turn forgets what came before it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from duologue.ears.silero import FRAME_MS, FRAME_SAMPLES
from duologue.ears.smart_turn import SmartTurn
from duologue.ears.turn_sound import ASK_MS, LEAD_SAMPLES, PauseQuestion, TurnSound, answer, joined
from duologue.turns.features import PauseFeatures
from tests.ears.ears_recordings import noise, recording, seconds

VOICED_FRAMES = 40


def feed(turn: TurnSound, frames: int, probability: float) -> list[PauseQuestion]:
    level_db = -20.0 if probability > 0.5 else -70.0
    sound = noise(FRAME_MS / 1000, 0.1 if probability > 0.5 else 0.0)
    found = [turn.feed(sound, probability, level_db) for _ in range(frames)]
    return [question for question in found if question is not None]


def test_a_pause_raises_one_question_with_the_audio_of_the_turn() -> None:
    turn = TurnSound()
    assert not feed(turn, 50, 0.0)
    assert not feed(turn, VOICED_FRAMES, 1.0)
    assert turn.is_voiced
    (question,) = feed(turn, 50, 0.0)
    assert not turn.is_voiced
    assert turn.quiet_ms == 50 * FRAME_MS
    assert question.sound.size == LEAD_SAMPLES + VOICED_FRAMES * FRAME_SAMPLES + ASK_MS // FRAME_MS * FRAME_SAMPLES
    assert question.known.voiced_ms == VOICED_FRAMES * FRAME_MS


def test_without_speech_there_is_no_question() -> None:
    assert not feed(TurnSound(), 100, 0.0)


def test_a_turn_that_is_over_is_forgotten() -> None:
    turn = TurnSound()
    feed(turn, VOICED_FRAMES, 1.0)
    turn.forget()
    assert turn.known.voiced_ms == 0
    assert not feed(turn, 50, 0.0)


def test_the_answer_has_the_judgement_of_the_model(turn: SmartTurn) -> None:
    known = PauseFeatures(1_000, 5.0)
    question = PauseQuestion(known, seconds(recording("two_cities"), 0, 4))
    assert answer(question, None) == known
    judged = answer(question, turn)
    assert judged.turn_logit is not None
    assert judged.turn_logit > 0
    assert replace(judged, turn_logit=None, turn_embedding=known.turn_embedding) == known


def test_a_doubt_is_answered_by_the_pitch_of_the_sound() -> None:
    tone = np.sin(2 * np.pi * 150 * np.arange(16_000) / 16_000).astype(np.float32) * np.float32(0.3)
    known = PauseFeatures(100, 1.0)
    pitched, hissed = (answer(PauseQuestion(known, sound, is_doubt=True), None) for sound in (tone, noise(1, 0.1)))
    assert (pitched.pitched_ms or 0) > (hissed.pitched_ms or 0)


def test_two_answers_about_one_pause_are_merged() -> None:
    judged, doubted = PauseFeatures(500, 2.0, turn_logit=1.5), PauseFeatures(500, 2.0, pitched_ms=80)
    merged = PauseFeatures(500, 2.0, turn_logit=1.5, pitched_ms=80)
    assert joined(None, judged) == judged
    assert joined(judged, doubted) == merged
    assert joined(doubted, judged) == merged
