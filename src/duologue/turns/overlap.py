"""Decides whether a sound over the agent's speech is a barge-in: a bid for the floor, which is the right to speak.

Playback is on hold until the decision. Words, or a voice that lasts, are a bid. A sound that ends without either is no
bid. The decision uses the words so far, and voice frames if the ears (STT and VAD) report them. Rule: "undecided" is a
valid answer, because the state machine has a deadline for the decision.
"""

from __future__ import annotations

from dataclasses import dataclass

from .voicing import FRAME_MS, log_odds
from .words import count, words_of

VOICED = 0.5
EVIDENCE_FRAME_MIN, EVIDENCE_FRAME_MAX = -3.0, 4.0  # limits of one frame's evidence, so that no single frame decides
SILENCE_MS_END = 256  # after this long without voice, the sound has ended


@dataclass(frozen=True, slots=True)
class OverlapRule:
    """When a sound over the agent's speech is a bid to speak. If its durations are 0, only words decide."""

    substantial_min: int = 1  # how many words interrupt; "mhm" and "yeah" don't count
    voiced_ms_min: int = 800  # a sound that lasts this long interrupts, if the ears report no frames
    sustained_ms: int = 448  # this much voice interrupts
    sustained_passing_ms: int = 1_000  # instead, if the text so far is only "mhm" or "yeah", or empty
    evidence_min: float = 8.0  # summed log-odds of voice; a cough or a knock has less
    confidence_min: float = 0.6  # least confidence of words while the sound goes on, in two texts that agree
    confidence_end_min: float = 0.45  # least confidence of words once the sound has ended
    confidence_passing_min: float = 0.3  # least confidence of words such as "mhm" to count as a backchannel
    garbled_below: float = 0.3  # words with less confidence don't count, if the ears report no frames


OVERLAP_RULES = {
    "immediate": OverlapRule(0, 0, 0, 0),
    "confirm": OverlapRule(),
    "words": OverlapRule(2, 0, 0, 0),
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """`bid` is True if the sound interrupts the agent, False if it doesn't, and None while undecided."""

    bid: bool | None
    reason: str = ""
    confidence: float = 0.5


UNDECIDED = Judgement(None)


class OverlapJudge:
    """Judges one sound over the agent's speech. `has_frames` says whether the ears (STT and VAD) report voice
    frames."""

    def __init__(self, rule: OverlapRule, has_frames: bool = False) -> None:
        self._rule = rule
        self._has_frames = has_frames
        self._voiced_ms = self._silence_ms = 0
        self._evidence = self._evidence_peak = 0.0
        self._passing = self._is_echo = False
        self._first = ""

    # -- The sound

    def frame(self, probability: float, frame_ms: int = FRAME_MS) -> Judgement:
        """Process the next frame, with the probability that it is a voice and not the agent's echo."""
        self._has_frames = True
        voiced = probability >= VOICED
        now = min(max(log_odds(probability), EVIDENCE_FRAME_MIN), EVIDENCE_FRAME_MAX)
        self._evidence = max(0.0, self._evidence + now)
        self._evidence_peak = max(self._evidence_peak, self._evidence)
        self._voiced_ms += frame_ms if voiced else 0
        self._silence_ms = 0 if voiced else self._silence_ms + frame_ms
        if self._ended and self._voiced_ms and not self._is_voice:
            return Judgement(False, "no_voice", 0.9)
        return self._by_duration()

    def lasted(self, voiced_ms: int, text: str, is_echo: bool) -> Judgement:
        """Judge by how long the sound has lasted. Used for ears that report no frames."""
        if self._has_frames or is_echo or not 0 < self._rule.voiced_ms_min <= voiced_ms:
            return UNDECIDED
        return Judgement(True, f"sound_{voiced_ms}ms" if not text else "words_and_sound", 0.7)

    def _by_duration(self) -> Judgement:
        limit_ms = self._rule.sustained_passing_ms if self._passing else self._rule.sustained_ms
        if limit_ms and self._voiced_ms >= limit_ms and self._is_voice and not self._is_echo:
            return Judgement(True, f"voice_{self._voiced_ms}ms", 0.8)
        return UNDECIDED

    @property
    def _is_voice(self) -> bool:
        return self._evidence_peak >= self._rule.evidence_min

    @property
    def _ended(self) -> bool:
        return self._silence_ms >= SILENCE_MS_END

    # -- The words

    def heard(self, text: str, confidence: float, is_final: bool, is_echo: bool) -> Judgement:
        """Process the words since the onset (the first sign of speech). `is_echo` says whether they are the agent's
        own words."""
        substantial = 0 if is_echo else count(text).substantial
        self._is_echo = is_echo
        first = next(iter(words_of(text)), "")
        agreed, self._first = bool(first) and first == self._first, first
        self._passing = is_echo or not text or (substantial == 0 and confidence >= self._rule.confidence_passing_min)
        if self._is_enough(text, substantial) and self._is_sure(confidence, agreed, is_final):
            return Judgement(True, f"words_{substantial}", confidence)
        return Judgement(False, "no_bid", 0.8) if is_final else UNDECIDED

    def _is_enough(self, text: str, substantial: int) -> bool:
        return bool(words_of(text)) and substantial >= self._rule.substantial_min

    def _is_sure(self, confidence: float, agreed: bool, is_final: bool) -> bool:
        if not self._has_frames:
            return confidence >= self._rule.garbled_below
        ended = is_final or self._ended
        least = self._rule.confidence_end_min if ended else self._rule.confidence_min
        return self._is_voice and (agreed or ended) and confidence >= least
