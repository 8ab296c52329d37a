"""The features of a pause: how the turn sounded, and its words so far.

Smart Turn is a model that judges by the sound whether a turn is over. Acoustic features are the levels of frames in dB,
and the log-odds and embedding of Smart Turn. Linguistic features come from the transcript with its punctuation. Rule:
each feature has a documented meaning and unit. The linguistic features depend only on classes of words that occur in
every conversation, never on whole phrases. These classes contain English words; the acoustic features don't depend on
the language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .completeness import Completeness
from .words import FILLERS, words_of

# A sentence doesn't end in one of these: articles, prepositions, conjunctions, auxiliaries, pronouns as subjects.
OPEN_WORDS = frozenset(
    """a an the my your his her its our their this these those some any every each another
    to of with for in on at by from into onto about between without under over than as like
    and or but because so if when while that which who whose where what how
    is are was were be been am do does did have has had can could will would shall should may might must
    i we they he she it's i'm i'd i'll i've we'd we'll let's there's that's very too quite more most less just also not
    want need get make give bring put add plus bit lot kind sort couple""".split()
)
DIGITS = frozenset("zero oh one two three four five six seven eight nine ten".split())
NUMBERS = DIGITS | frozenset(
    """eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty
    sixty seventy eighty ninety hundred thousand""".split()
)
SHORT_WORDS_MAX = 2  # "yes", "4K", "the second": an answer rather than a sentence

ACTIVE_DB = 25.0  # frames that are this much quieter than the loud parts are not speech
_LOUD_SHARE = 0.9
_SLOPE_MS = 320
_END_MS = 160
_PEAK_MS = 96  # a syllable is the loudest frame within this time
_PEAK_DB = 20.0


@dataclass(frozen=True, slots=True)
class LevelShape:
    """How the loudness of a turn changes before a pause."""

    slope_db_s: float = -40.0  # how fast the level changes over the last 320 ms of speech
    fall_db: float = -4.0  # level of the last 160 ms, relative to the whole turn
    tail_ms: float = 40.0  # the time from the last loud frame to the end of speech that the VAD found
    syllables_s: float = 4.0  # peaks of level per second


@dataclass(frozen=True, slots=True)
class PauseFeatures:
    """What is known about a pause and about the turn before it. None means that a value is unknown or not known yet."""

    voiced_ms: int = 0  # how much voice the turn has
    evidence: float | None = None  # log-odds that the sound was a voice, summed over the frames
    pitched_ms: int | None = None  # longest stretch of steady pitch; measured only of a sound that may not be speech
    shape: LevelShape | None = None
    turn_logit: float | None = None  # Smart Turn's log-odds that the turn is over
    turn_embedding: tuple[float, ...] = ()  # output of Smart Turn's encoder: pooled over 8 s, then of its end
    text: str | None = None  # everything heard of the turn, with punctuation
    confidence: float | None = None  # confidence of the text, 0 to 1
    last_confidence: float | None = None  # confidence of the last word
    stretch_ms: int = 0  # how much voice the last stretch has; a stretch has no silence of 192 ms or more
    stretch_evidence: float = 0.0  # the evidence of the last stretch
    second_text: str | None = None  # what another model read in the last stretch; None if it wasn't asked
    completeness: Completeness = Completeness.UNKNOWN  # how complete the brain finds the text

    @property
    def is_heard(self) -> bool:
        """Did the ears (STT and VAD) measure the sound before this pause? False if they report only words."""
        return self.evidence is not None


def shape_of(levels_db: Sequence[float], frame_ms: int) -> LevelShape | None:
    """The shape of a turn's loudness, computed from the levels of its frames. None if the turn has fewer than four
    frames."""
    if len(levels_db) < 4:
        return None
    loud = sorted(levels_db)[int((len(levels_db) - 1) * _LOUD_SHARE)]
    least = loud - ACTIVE_DB
    active = [level for level in levels_db if level > least]
    end = len(levels_db)
    while levels_db[end - 1] <= least:
        end -= 1
    last = levels_db[max(0, end - _SLOPE_MS // frame_ms) : end]
    close = levels_db[max(0, end - _END_MS // frame_ms) : end]
    mean = sum(active) / len(active)
    return LevelShape(
        slope_db_s=_slope(last) * 1000 / frame_ms,
        fall_db=sum(close) / len(close) - mean,
        tail_ms=float((len(levels_db) - end) * frame_ms),
        syllables_s=_peaks(levels_db[:end], loud - _PEAK_DB, _PEAK_MS // frame_ms) * 1000 / (end * frame_ms),
    )


def _slope(values: Sequence[float]) -> float:
    """The slope of the straight line that fits the values best (least squares). The unit is the change from one value
    to the next."""
    count = len(values)
    middle, mean = (count - 1) / 2, sum(values) / count
    spread = sum((place - middle) ** 2 for place in range(count))
    return sum((place - middle) * (value - mean) for place, value in enumerate(values)) / spread if spread else 0.0


def _peaks(levels: Sequence[float], least: float, near: int) -> int:
    """The number of peaks. A peak is a frame that is louder than `least` and at least as loud as all frames that are at
    most `near` frames away."""
    count = 0
    neighbours = zip((least, *levels), levels, (*levels[1:], least), strict=False)
    for place, (before, level, after) in enumerate(neighbours):
        if before <= level >= after and level > least:
            count += level == max(levels[max(0, place - near) : place + near + 1])
    return count


@dataclass(frozen=True, slots=True)
class TextCues:
    """Signs in a text that more words will follow, or that the turn is over."""

    words: int  # "twenty-ounce" is counted as two words
    ends_in_comma: bool
    ends_open: bool  # the last word is a filler, or doesn't end a sentence
    digits_run: int  # digits in a row at the end
    digits_share: float  # share of number words among all words
    short_answer: bool  # one or two words, and ends_open is false


def cues_of(text: str) -> TextCues:
    """The signs in this text that more words will follow, or that the turn is over."""
    words = [part for word in words_of(text) for part in word.split("-") if part]
    run = 0
    while run < len(words) and _is_in(words[-1 - run], DIGITS):
        run += 1
    share = sum(_is_in(word, NUMBERS) for word in words) / len(words) if words else 0.0
    is_open = bool(words) and (words[-1] in OPEN_WORDS or words[-1] in FILLERS)
    return TextCues(
        words=len(words),
        ends_in_comma=text.rstrip().endswith(","),
        ends_open=is_open,
        digits_run=run,
        digits_share=share,
        short_answer=0 < len(words) <= SHORT_WORDS_MAX and not is_open,
    )


def _is_in(word: str, names: frozenset[str]) -> bool:
    return word in names or word.isdigit()


# -- The terms of a score. Each term is clipped, so that no extreme value outweighs the other terms.


def _clip(value: float, low: float, high: float) -> float:
    """The value, limited to the range from `low` to `high`. NaN becomes `low`."""
    return min(max(value, low), high) if value == value else low


def text_terms(text: str, last_confidence: float | None) -> dict[str, float]:
    """The terms of the score that come from the text."""
    cues = cues_of(text)
    several = cues.words > 1  # a single digit is an answer, but a run of digits may go on
    return {
        "comma": float(cues.ends_in_comma),
        "open_word": float(cues.ends_open),
        "words": float(min(cues.words, 12)),
        "words_few": float(min(cues.words, 3)),
        "digits_run": float(min(cues.digits_run, 4)) if several else 0.0,
        "digits_share": cues.digits_share if several else 0.0,
        "short_answer": float(cues.short_answer),
        "last_confidence": 0.5 if last_confidence is None else _clip(last_confidence, 0.0, 1.0),
    }


def shape_terms(shape: LevelShape) -> dict[str, float]:
    """The terms of the score that come from the shape of the level."""
    return {
        "slope_db_s": _clip(shape.slope_db_s, -120.0, 60.0),
        "fall_db": _clip(shape.fall_db, -20.0, 5.0),
        "tail_ms": _clip(shape.tail_ms, 0.0, 200.0),
        "syllables_s": _clip(shape.syllables_s, 0.0, 8.0),
    }


def terms_of(pause: PauseFeatures) -> dict[str, float]:
    """The terms of the score that are known for this pause. Terms that aren't known are left out."""
    terms: dict[str, float] = {}
    if pause.turn_logit is not None:
        terms["turn_logit"] = _clip(pause.turn_logit, -6.0, 6.0)
    if pause.text is not None:
        terms |= text_terms(pause.text, pause.last_confidence)
    if pause.shape is not None:
        terms |= shape_terms(pause.shape)
    return terms


CONFIDENCE_UNCLEAR = 0.5  # words with less confidence are unclear: a noisy room, or another language
WORDS_UNCLEAR_MIN = 3  # fewer words are treated as an answer, even with little confidence


def is_unclear(pause: PauseFeatures) -> bool:
    """Was the text recognised with so little confidence that it doesn't show whether the sentence is complete?"""
    confidence = 1.0 if pause.confidence is None else pause.confidence
    return confidence < CONFIDENCE_UNCLEAR and cues_of(pause.text or "").words >= WORDS_UNCLEAR_MIN


# -- Was the sound speech?

EVIDENCE_SURE = 12.0  # summed log-odds; a "yes" reaches three times as much, and a cough stays below
CONFIDENCE_SURE = 0.5  # a word with this confidence makes a weak voice a turn ...
PITCHED_MS_MIN = 120  # ... and so does a pitch that is steady for this long, unlike that of a cough
DOUBT_MS = 128  # after this much silence, the pitch is measured


def is_weak(pause: PauseFeatures) -> bool:
    """Do the frames of the turn leave it doubtful that there was a voice at all?"""
    return pause.evidence is not None and pause.evidence < EVIDENCE_SURE


def is_turn(pause: PauseFeatures) -> bool:
    """Was the sound speech, and not a cough or a knock? A weak voice is treated as speech as long as neither its text
    nor its pitch is known."""
    if not is_weak(pause) or (pause.text is None and pause.pitched_ms is None):
        return True
    if pause.pitched_ms is not None and pause.pitched_ms >= PITCHED_MS_MIN:
        return True
    words = words_of(pause.text or "")
    sure = pause.confidence is None or pause.confidence >= CONFIDENCE_SURE
    return sure and any(part not in FILLERS for word in words for part in word.split("-"))
