"""The rules of the state machine inside local ears, as functions of its state: what a frame changes, which transcript
is needed next, and which text is reported.

Rule: all functions are pure. `stream` calls them and decides what to report.
"""

from __future__ import annotations

import math
from dataclasses import replace

from duologue.ports.ears import Final
from duologue.turns.features import CONFIDENCE_SURE, PauseFeatures, is_weak
from duologue.turns.speech_evidence import is_clear, is_speech, is_worth_asking

from .speech_gate import FRAME_MS
from .stream_state import (
    FinalText,
    Hypothesis,
    RequestText,
    StreamSettings,
    StreamState,
    TextWork,
    TurnHeard,
    Utterance,
)

# -- The next frame


def measured(state: StreamState, probability: float, level_db: float) -> TurnHeard:
    """The state of the turn after one more frame. `probability` and `level_db` were measured in this frame. If the
    frame contains a voice, the current pause ends."""
    turn = state.turn
    voicing = turn.voicing.heard(probability, level_db)
    first = state.frames if voicing.begun and not turn.voicing.begun else turn.first
    if voicing.voiced and not turn.voicing.voiced:
        return TurnHeard(turn.is_on, voicing, first, turn.pause + 1)
    return TurnHeard(turn.is_on, voicing, first, turn.pause, turn.known)


def extended(state: StreamState, is_paused: bool) -> tuple[Utterance, ...]:
    """The utterances after one more frame, which belongs to the newest utterance. If the speech has paused
    (`is_paused`), or if enough time has passed since the last partial transcript, the newest utterance is marked: it
    needs another partial transcript."""
    spoken, end = state.utterances[-1], state.frames + 1
    length_ms = (end - spoken.first) * FRAME_MS
    if not is_paused and length_ms < spoken.due_ms:
        return state.utterances
    return (*state.utterances[:-1], spoken._replace(wanted=end, due_ms=length_ms + spoken.every_ms))


def next_text(state: StreamState) -> RequestText | None:
    """The next request about the oldest utterance. If the utterance has ended, its final transcript is requested. If
    the utterance goes on and is long, the text of its older audio is made final (see `dictation`). Otherwise a partial
    transcript is requested, if one is due. None if nothing is needed now."""
    if not state.utterances:
        return None
    oldest = state.utterances[0]
    if oldest.is_over:
        end, voiced_end, attempt = oldest.end, oldest.voiced_end, oldest.failures + 1
        return RequestText(oldest.number, TextWork.FINAL, oldest.first, end, voiced_end, attempt)
    if oldest.is_long:
        return RequestText(oldest.number, TextWork.SETTLE, oldest.first)
    if oldest.wanted > oldest.covered:
        return RequestText(oldest.number, TextWork.PARTIAL, oldest.first)
    return None


# -- Invalid numbers from models


def plausible_text(said: Hypothesis) -> Hypothesis:
    """The text from a model, with each confidence that isn't between 0 and 1 replaced by 0."""
    numbers = (said.confidence, said.stability, 0.0 if said.last_confidence is None else said.last_confidence)
    if all(0 <= number <= 1 for number in numbers):
        return said
    confidence, stability, last = (number if 0 <= number <= 1 else 0.0 for number in numbers)
    return replace(said, confidence=confidence, stability=stability, last_confidence=last)


def plausible_pause(features: PauseFeatures) -> PauseFeatures:
    """The features of a pause. If a number in the end-of-turn model's judgement isn't finite, the judgement is
    removed."""
    numbers = (features.turn_logit or 0.0, *features.turn_embedding)
    if all(map(math.isfinite, numbers)):
        return features
    return replace(features, turn_logit=None, turn_embedding=())


# -- Pauses


def joined(before: PauseFeatures | None, now: PauseFeatures) -> PauseFeatures:
    """Merge two answers about the same pause. One says whether the sound was speech, the other whether the turn is
    over."""
    if before is None:
        return now
    if now.pitched_ms is None:
        return replace(now, pitched_ms=before.pitched_ms)
    return replace(before, pitched_ms=now.pitched_ms)


# -- Final texts


def refine_ms(settings: StreamSettings, state: StreamState, utterance: Utterance, said: Hypothesis) -> int:
    """How long to wait for the better model's text; 0 if the better model isn't asked. The better model is asked if it
    is fast enough for this utterance, if the sound may not be speech, or if the first model found no word although the
    voice is clear."""
    if not state.offer.is_ready:
        return 0
    known = _known_of(state, FinalText(utterance.number, said, sound=utterance.sound, pause=utterance.pause))
    if is_worth_asking(known):
        return settings.refine_doubtful_ms_max
    if said.text:
        return settings.refine_ms_max if state.length_ms(utterance) <= state.offer.length_ms_max else 0
    return 0 if is_weak(state.turn.measured) else settings.refine_wordless_ms_max


def report_of(settings: StreamSettings, state: StreamState, final: FinalText) -> Final | None:
    """The report of this final text; None if it has to wait. The text of a short sound waits until it is clear whether
    the sound was speech, because the model finds words even in a cough. If the sound wasn't speech, an empty text is
    reported."""
    is_full = len(state.finals) > settings.finals_max
    if final.is_refining and not is_full:
        return None
    if _is_guess(final):
        final = replace(final, refined=None)
    known = _known_of(state, final)
    is_voice = True if final.is_committed else is_speech(known)
    if is_voice is None and known.text:
        if state.turn.pause == final.pause and not state.is_over and not is_full:
            return None
        is_voice = is_clear(known)  # its pitch won't be known
    said, better = final.said, final.refined
    if better is None or not better.text or not is_voice:
        return Final(said.text if is_voice else "", said.confidence, final.number, said.last_confidence)
    if not said.text:
        return Final(better.text, better.confidence, final.number, better.last_confidence)
    return Final(better.text, better.confidence, final.number, said.last_confidence, said.text, said.confidence)


def _is_guess(final: FinalText) -> bool:
    """Did the first model find no word, while the better model found words but is unsure of them?"""
    better = final.refined
    is_unsure = better is not None and better.confidence < CONFIDENCE_SURE
    return is_unsure and not final.said.text and not final.is_committed


def _known_of(state: StreamState, final: FinalText) -> PauseFeatures:
    """Returns all that is known about the utterance of this final text: its sound, and the words that the two speech
    models found in it."""
    known = final.sound or state.turn.measured
    if state.turn.pause == final.pause and state.turn.known is not None:
        known = replace(known, pitched_ms=state.turn.known.pitched_ms)
    said, second = final.said, final.refined
    if not said.text and second is not None:
        return replace(known, text=second.text, confidence=second.confidence)
    return replace(
        known,
        text=said.text,
        confidence=said.confidence,
        second_text=None if second is None else second.text,
    )
