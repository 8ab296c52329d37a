"""The rules of a stream: what one frame adds, which text is next, and which numbers of models are plausible."""

from __future__ import annotations

import math
from dataclasses import replace

from duologue.ears.stream_rules import extended, joined, measured, next_text, plausible_pause, plausible_text
from duologue.ears.stream_state import Hypothesis, RequestText, StreamState, TextWork, Utterance
from duologue.turns.features import PauseFeatures

SPOKEN = Utterance(3, first=100, run_up=5, due_ms=400, every_ms=288)


def test_a_partial_text_is_wanted_when_it_is_due_or_the_voice_pauses() -> None:
    state = StreamState(frames=110, utterances=(SPOKEN,))
    assert extended(state, is_paused=False) == (SPOKEN,)
    assert extended(state, is_paused=True)[0].wanted == 111
    due = SPOKEN._replace(due_ms=11 * 32)
    later = due._replace(wanted=111, due_ms=11 * 32 + 288)
    assert extended(state._replace(utterances=(due,)), is_paused=False) == (later,)


def test_a_partial_text_is_wanted_of_the_last_utterance_only() -> None:
    over = SPOKEN._replace(number=2, is_over=True)
    assert extended(StreamState(frames=110, utterances=(over, SPOKEN)), is_paused=True)[0] == over


def test_a_turn_begins_with_its_first_voice_and_a_voice_ends_a_pause() -> None:
    state = StreamState(frames=7)
    turn = measured(state, 0.9, -20.0)
    assert (turn.first, turn.pause) == (7, 1)
    known = turn._replace(known=PauseFeatures(), voicing=turn.voicing.heard(0.1, -60.0))
    silent = measured(state._replace(frames=9, turn=known), 0.1, -60.0)
    assert (silent.first, silent.pause, silent.known) == (7, 1, PauseFeatures())
    again = measured(state._replace(frames=10, turn=silent), 0.9, -20.0)
    assert (again.first, again.pause, again.known) == (7, 2, None)


def test_the_oldest_utterance_gets_its_text_first() -> None:
    over = SPOKEN._replace(number=2, first=40, end=80, voiced_end=76, is_over=True)
    later = SPOKEN._replace(wanted=105)
    assert next_text(StreamState(utterances=(over, later))) == RequestText(2, TextWork.FINAL, 40, 80, 76)
    assert next_text(StreamState(utterances=(later,))) == RequestText(3, TextWork.PARTIAL, 100)
    assert next_text(StreamState(utterances=(later._replace(is_long=True),))) == RequestText(3, TextWork.SETTLE, 100)
    assert next_text(StreamState(utterances=(later._replace(covered=105),))) is None
    assert next_text(StreamState()) is None


def test_two_answers_about_one_pause_are_merged() -> None:
    judged, doubted = PauseFeatures(500, 2.0, turn_logit=1.5), PauseFeatures(500, 2.0, pitched_ms=80)
    merged = PauseFeatures(500, 2.0, turn_logit=1.5, pitched_ms=80)
    assert joined(None, judged) == judged
    assert joined(judged, doubted) == merged
    assert joined(doubted, judged) == merged


def test_numbers_that_are_not_numbers_are_left_out() -> None:
    good = Hypothesis("two", 0.5, 0.5, last_confidence=0.5)
    assert plausible_text(good) is good
    assert plausible_text(replace(good, confidence=math.nan)) == replace(good, confidence=0.0)
    assert plausible_text(replace(good, last_confidence=2.0)) == replace(good, last_confidence=0.0)
    pause = PauseFeatures(500, 2.0, turn_logit=1.0, turn_embedding=(0.5,))
    assert plausible_pause(pause) is pause
    assert plausible_pause(replace(pause, turn_logit=-math.inf)) == PauseFeatures(500, 2.0)
