"""Decides whether a sound was speech, before its words are used. For example, a cough that is transcribed as "Okay."
must not answer a question.

The decision uses how sure the voice detector was in each frame, how long the pitch was steady, how confident the STT is
of the text, and whether another model found words too. The thresholds were chosen so that nearly all speech, even noisy
speech, is above them. Rule: the shorter and the less certain a sound is, the more evidence it needs. A clear voice is
never ignored only because its words are doubtful.
"""

from __future__ import annotations

from .features import PauseFeatures
from .voicing import FRAME_MS
from .words import FILLERS, words_of

STEADY_MIN = 2.2  # mean log-odds of a frame; 99 of 100 pauses come after speech above it, also at 5 dB of noise
EVIDENCE_CLEAR = 16.0  # summed log-odds of a clear voice: four sure frames; the shortest answers have a little more
EVIDENCE_LONG = 60.0  # summed log-odds: half a second of sure voice is clear and needs no pitch, ...
EVIDENCE_TALK = 120.0  # ... and a second needs nothing else
PITCHED_MS_CLEAR = 60  # least steady pitch of a short but clear voice; a vowel has more
PITCHED_MS_FAINT = 120  # least steady pitch of a faint voice, and of one in which another model found no word
CONFIDENCE_SURE = 0.7  # a clear voice with such words needs no pitch; a faint voice without them needs a second text


def steadiness(pause: PauseFeatures) -> float:
    """How sure the voice detector is that the last stretch of sound is a voice: the mean log-odds of the frames of this
    stretch."""
    return pause.stretch_evidence * FRAME_MS / pause.stretch_ms if pause.stretch_ms > 0 else 0.0


def is_clear(pause: PauseFeatures) -> bool:
    """Is the last stretch of sound a clear voice, judged only by its frames? If it contains at least half a second of
    sure voice, the answer is yes, no matter how unsure its other frames are."""
    if pause.stretch_evidence >= EVIDENCE_LONG:
        return True
    return steadiness(pause) >= STEADY_MIN and pause.stretch_evidence >= EVIDENCE_CLEAR


def is_doubtful(pause: PauseFeatures) -> bool:
    """Is it unclear from the frames alone whether the last stretch of sound is speech?"""
    if not _is_measured(pause) or pause.stretch_evidence >= EVIDENCE_TALK:
        return False
    return not is_clear(pause) or pause.stretch_evidence < EVIDENCE_LONG


def is_speech(pause: PauseFeatures) -> bool | None:
    """Was the last stretch of sound speech? The fields `text` and `confidence` of `pause` must belong to this stretch.
    Returns None if only the pitch can decide and the pitch hasn't been measured yet."""
    if not _is_measured(pause) or pause.stretch_evidence >= EVIDENCE_TALK:
        return True
    clear, sure = is_clear(pause), _is_sure(pause)
    if clear and sure:
        return True
    is_wordless = pause.second_text == ""  # another model found no word
    if is_wordless and not (clear and is_doubtful(pause)):
        return False
    if not is_doubtful(pause):
        return True
    if not clear and not sure and not _has_word(pause.second_text):
        return False
    if pause.pitched_ms is None:
        return None
    return pause.pitched_ms >= (PITCHED_MS_CLEAR if clear and not is_wordless else PITCHED_MS_FAINT)


def is_worth_asking(pause: PauseFeatures) -> bool:
    """Could the text of a second model decide whether the last stretch of sound was speech?"""
    if not pause.text or not _is_measured(pause) or pause.stretch_evidence >= EVIDENCE_TALK:
        return False
    if is_clear(pause):
        return not _is_sure(pause)
    return pause.pitched_ms is None or pause.pitched_ms >= PITCHED_MS_FAINT


def _is_measured(pause: PauseFeatures) -> bool:
    """Did the ears measure the last stretch of sound? Not if they report no frames, or if the turn was cut in the
    middle of the stretch."""
    return pause.evidence is not None and pause.stretch_ms > 0


def _is_sure(pause: PauseFeatures) -> bool:
    """Are the words of the last stretch of sound so certain that a clear voice needs no further evidence?"""
    return _has_word(pause.text) and (pause.confidence is None or pause.confidence >= CONFIDENCE_SURE)


def _has_word(text: str | None) -> bool:
    """Does the text have a word that isn't a filler? Noise is often transcribed as "um"."""
    return any(part not in FILLERS for word in words_of(text or "") for part in word.split("-"))
