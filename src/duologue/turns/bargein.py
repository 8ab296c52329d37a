"""A sound over the agent's voice: hold the playback at once, then decide whether it was a bid for the floor.

Takes frames (probability of voice, and how far above the agent's echo they are) and, when it asks for them, the words
so far. One frame of voice holds; words, or a voice that lasts, stop; a voice that ends without either resumes.
Rule: a hold always ends, by a stop, by a resume or at its deadline (M-14).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from duologue.turns.echo import is_echo
from duologue.turns.voicing import FRAME_MS, log_odds
from duologue.turns.words import count, words_of

EVIDENCE_FRAME_MIN, EVIDENCE_FRAME_MAX = -3.0, 4.0  # no single frame decides


class Verdict(Enum):
    NONE = "none"
    HOLD = "hold"  # pause or duck the playback, and wait
    ASK = "ask"  # have the words since the onset read, and tell them with `heard`
    STOP = "stop"  # the floor is theirs
    RESUME = "resume"  # play on from the very sample


@dataclass(frozen=True, slots=True)
class BargeInSettings:
    """`words` False: the voice alone decides, within 150 ms, and a "yeah" stops the agent too."""

    words: bool = True
    hold_vad: float = 0.5  # one frame this likely holds, ...
    margin_db: float = 12.0  # ... if it is this much louder than the agent's echo can be
    margin_held_db: float = 6.0  # once it holds, this is enough: playback is held, and the room falls silent
    evidence_min: float = 8.0  # summed log-odds of voice that passed the gate; a cough or a knock has less
    ask_ms_min: int = 224  # of hold before the first words can be read
    ask_every_ms: int = 64
    confidence_min: float = 0.6  # of words that stop at once, said the same way twice
    confidence_end_min: float = 0.45  # of words after which the voice has ended
    sustained_ms: int = 448  # of voice that stops whatever the words, ...
    sustained_passing_ms: int = 1_000  # ... or this much if they are only "mhm" and "yeah", or none at all
    passing_confidence_min: float = 0.3  # to believe that they are
    silence_ms_end: int = 256  # without gated voice: it has ended
    hold_ms_max: int = 1_500


VOICE_ONLY = BargeInSettings(words=False)


class BargeIn:
    """One reply being played."""

    def __init__(self, settings: BargeInSettings | None = None, frame_ms: int = FRAME_MS) -> None:
        self.settings = settings or BargeInSettings()
        self._frame_ms = frame_ms
        self.reason = ""
        self._held_ms: int | None = None
        self._asked_ms = self._voiced_ms = self._silence_ms = 0
        self._evidence = self._evidence_peak = 0.0
        self._waiting = self._passing = False
        self._first = ""

    @property
    def held(self) -> bool:
        return self._held_ms is not None

    def frame(self, vad: float, excess_db: float) -> Verdict:
        """The next frame. `excess_db`: by how much it is louder than the agent's echo can be."""
        passes = excess_db > (self.settings.margin_held_db if self.held else self.settings.margin_db)
        voiced = passes and vad >= self.settings.hold_vad
        if self._held_ms is None:
            if not voiced:
                return Verdict.NONE
            self._held_ms = 0
        return self._count(vad if passes else 0.0, voiced)

    def heard(self, text: str, confidence: float, spoken: str = "") -> Verdict:
        """The words since the onset, and what the agent is saying. Late ones, after the hold, change nothing."""
        self._waiting = False
        if not self.held:
            return Verdict.NONE
        echoed = is_echo(text, spoken)
        substantial = 0 if echoed else _substantial(text)
        first = next(iter(words_of(text)), "")
        agreed, self._first = bool(first) and first == self._first, first
        ended = self._silence_ms >= self.settings.silence_ms_end
        self._passing = echoed or not text or (substantial == 0 and confidence >= self.settings.passing_confidence_min)
        sure = confidence >= (self.settings.confidence_end_min if ended else self.settings.confidence_min)
        if substantial and sure and (agreed or ended) and self._evidence_peak >= self.settings.evidence_min:
            return self._end(Verdict.STOP, f"words_{substantial}")
        return self._end(Verdict.RESUME, "voice_ended") if ended else Verdict.NONE

    def _count(self, vad: float, voiced: bool) -> Verdict:
        assert self._held_ms is not None
        opening = self._held_ms == 0
        self._held_ms += self._frame_ms
        now = min(max(log_odds(vad), EVIDENCE_FRAME_MIN), EVIDENCE_FRAME_MAX)
        self._evidence = max(0.0, self._evidence + now)
        self._evidence_peak = max(self._evidence_peak, self._evidence)
        self._voiced_ms += self._frame_ms if voiced else 0
        self._silence_ms = 0 if voiced else self._silence_ms + self._frame_ms
        if self.settings.words:
            decided = self._by_duration()
        else:
            decided = Verdict.STOP if self._evidence >= self.settings.evidence_min else Verdict.NONE
        if decided is Verdict.STOP:
            return self._end(Verdict.STOP, f"voice_{self._voiced_ms}ms")
        if self._held_ms >= self.settings.hold_ms_max:
            return self._end(Verdict.RESUME, "deadline")
        return Verdict.HOLD if opening else self._next()

    def _by_duration(self) -> Verdict:
        limit_ms = self.settings.sustained_passing_ms if self._passing else self.settings.sustained_ms
        enough = self._voiced_ms >= limit_ms and self._evidence_peak >= self.settings.evidence_min
        return Verdict.STOP if enough else Verdict.NONE

    def _next(self) -> Verdict:
        """Ask, resume or wait."""
        assert self._held_ms is not None
        ended = self._silence_ms >= self.settings.silence_ms_end
        if ended and (not self.settings.words or self._evidence_peak < self.settings.evidence_min):
            return self._end(Verdict.RESUME, "no_voice")
        if not self.settings.words or self._waiting:
            return Verdict.NONE
        due = self._held_ms >= self.settings.ask_ms_min and self._held_ms - self._asked_ms >= self.settings.ask_every_ms
        if due or ended:
            self._asked_ms, self._waiting = self._held_ms, True
            return Verdict.ASK
        return Verdict.NONE

    def _end(self, verdict: Verdict, reason: str) -> Verdict:
        self._release()
        self.reason = reason
        return verdict

    def _release(self) -> None:
        self._held_ms = None
        self._asked_ms = 0
        self._voiced_ms = 0
        self._silence_ms = 0
        self._evidence = self._evidence_peak = 0.0
        self._waiting = False
        self._passing = False
        self._first = ""


def _substantial(text: str) -> int:
    """Words that could be a bid; a single letter is a noise that was spelled."""
    letters = sum(len(word) == 1 and word not in ("i", "a") for word in words_of(text))
    return max(0, count(text).substantial - letters)
