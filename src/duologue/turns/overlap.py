"""Decides whether a sound over the agent's speech is a barge-in: a bid for the floor, which is the right to speak.

Playback is paused until the decision. Words are a bid, and so is a voice that lasts long enough. A sound that ends
without either of them isn't a bid. A command such as "stop" is a bid even where more words are required. The decision
uses the words so far, and voice frames if the ears (STT and VAD) report them. What the rule remembers about a sound is
an immutable value, `SoundMemory`. Rule: "undecided" is a valid answer, because the state machine has a deadline for the
decision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from .voicing import FRAME_MS, log_odds
from .words import count, words_of

VOICED = 0.5
EVIDENCE_FRAME_MIN, EVIDENCE_FRAME_MAX = -3.0, 4.0  # limits of one frame's evidence, so that no single frame decides
SILENCE_MS_END = 256  # after this long without voice, the sound has ended


class OverlapPolicy(Protocol):
    """Decides whether a sound during the agent's speech interrupts the agent. The policy's memory of a sound is a value
    that the caller keeps. `begin` creates this value; `frame` and `heard` return a new value and a judgement. The value
    must be hashable and immutable."""

    @property
    def voiced_ms_min(self) -> int:
        """If the ears report no frames: how long a sound must last before `lasted` is called. 0 means that `lasted` is
        never called."""
        ...

    def begin(self, has_frames: bool) -> Any:
        """The memory at the start of a new sound. `has_frames` says whether the ears (STT and VAD) report voice
        frames."""
        ...

    def frame(self, memory: Any, probability: float, frame_ms: int, energy: float = 0.0) -> tuple[Any, Judgement]:
        """Process the next frame. `probability` is the probability that the frame is a person's voice and not the
        agent's echo. `energy` is the frame's RMS, from 0 to 1. Returns the new memory and the judgement."""
        ...

    def heard(self, memory: Any, text: str, confidence: float, is_final: bool, is_echo: bool) -> tuple[Any, Judgement]:
        """Process the words that were heard since the onset (the first sign of speech). `is_echo` says whether they are
        an echo of the agent's own words. Returns the new memory and the judgement."""
        ...

    def lasted(self, memory: Any, voiced_ms: int, text: str, is_echo: bool) -> Judgement:
        """Judge the sound by how long it has lasted. This is called only if the ears report no frames."""
        ...


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement about a sound. `bid` is True if the sound interrupts the agent, False if it doesn't, and None while
    this is undecided."""

    bid: bool | None
    reason: str = ""
    confidence: float = 0.5


UNDECIDED = Judgement(None)


class SoundMemory(NamedTuple):
    """What OverlapRule remembers about one sound."""

    has_frames: bool = False
    voiced_ms: int = 0
    silence_ms: int = 0
    evidence: float = 0.0
    evidence_peak: float = 0.0
    sure_ms: float = 0.0  # how much voice was heard so far; each frame is weighted by the probability that it is voice
    is_passing: bool = False  # the text so far is only "mhm" or "yeah", or empty
    is_echo: bool = False
    first_word: str = ""  # the first word of the newest text
    is_command: bool = False  # the newest text is a command alone, such as "stop"

    @property
    def has_ended(self) -> bool:
        return self.silence_ms >= SILENCE_MS_END


@dataclass(frozen=True, slots=True)
class OverlapRule:
    """Decides by thresholds whether a sound during the agent's speech is a bid to speak, which interrupts the agent. If
    `voiced_ms_min`, `sustained_ms` and `sustained_passing_ms` are 0, only words decide."""

    substantial_min: int = 1  # this many words interrupt; "mhm" and "yeah" aren't counted
    voiced_ms_min: int = 800  # a sound that lasts this long interrupts, if the ears report no frames
    sustained_ms: int = 336  # this much sure voice interrupts; a frame of probability 0.88 is counted as half a frame
    sustained_passing_ms: int = 896  # used instead of sustained_ms if the text so far is only "mhm" or "yeah", or empty
    evidence_min: float = 8.0  # summed log-odds of voice; a cough or a knock has less
    confidence_min: float = 0.6  # least confidence of words while the sound goes on, in two texts that agree
    confidence_end_min: float = 0.45  # least confidence of words once the sound has ended
    confidence_passing_min: float = 0.1  # words such as "mhm" with less confidence aren't treated as a backchannel
    garbled_below: float = 0.3  # if the ears report no frames, words with less confidence are ignored
    language: str = "en"  # code of the language whose backchannels and commands are known: "de", "pt-BR"

    def begin(self, has_frames: bool) -> SoundMemory:
        return SoundMemory(has_frames)

    # -- The sound

    def frame(
        self,
        memory: SoundMemory,
        probability: float,
        frame_ms: int = FRAME_MS,
        energy: float = 0.0,  # noqa: ARG002 - a voice interrupts at any level; the echo gate has seen to loudness
    ) -> tuple[SoundMemory, Judgement]:
        voiced = probability >= VOICED
        now = min(max(log_odds(probability), EVIDENCE_FRAME_MIN), EVIDENCE_FRAME_MAX)
        evidence = max(0.0, memory.evidence + now)
        memory = SoundMemory(
            True,
            memory.voiced_ms + (frame_ms if voiced else 0),
            0 if voiced else memory.silence_ms + frame_ms,
            evidence,
            max(memory.evidence_peak, evidence),
            memory.sure_ms + (frame_ms * now / EVIDENCE_FRAME_MAX if voiced else 0.0),
            memory.is_passing,
            memory.is_echo,
            memory.first_word,
            memory.is_command,
        )
        if memory.has_ended and memory.voiced_ms and not self._is_voice(memory):
            return memory, Judgement(False, "no_voice", 0.9)
        return memory, self._by_duration(memory)

    def lasted(self, memory: SoundMemory, voiced_ms: int, text: str, is_echo: bool) -> Judgement:
        if memory.has_frames or is_echo or not 0 < self.voiced_ms_min <= voiced_ms:
            return UNDECIDED
        return Judgement(True, f"sound_{voiced_ms}ms" if not text else "words_and_sound", 0.7)

    def _by_duration(self, memory: SoundMemory) -> Judgement:
        limit_ms = self.sustained_passing_ms if memory.is_passing else self.sustained_ms
        if limit_ms and memory.sure_ms >= limit_ms and self._is_voice(memory) and not memory.is_echo:
            return Judgement(True, f"voice_{memory.voiced_ms}ms", 0.8)
        return UNDECIDED

    def _is_voice(self, memory: SoundMemory) -> bool:
        return memory.evidence_peak >= self.evidence_min

    # -- The words

    def heard(
        self, memory: SoundMemory, text: str, confidence: float, is_final: bool, is_echo: bool
    ) -> tuple[SoundMemory, Judgement]:
        own = "" if is_echo or is_spelled(text) else text
        said, substantial = count(own, self.language), count(own, self.language, is_final).substantial
        first = next(iter(words_of(text)), "")
        agreed = bool(first) and first == memory.first_word
        repeated = said.is_command and memory.is_command
        unclear = memory.is_passing and confidence < self.confidence_end_min  # treated as "mhm" until it is clear
        agrees = said.substantial == 0 and confidence >= self.confidence_passing_min
        passing = is_echo or not text or agrees or unclear
        memory = memory._replace(is_passing=passing, is_echo=is_echo, first_word=first, is_command=said.is_command)
        if self._is_enough(text, substantial) and self._is_sure(memory, confidence, agreed, is_final):
            return memory, Judgement(True, f"words_{substantial}", confidence)
        if said.is_command and self._is_sure_command(memory, confidence, repeated, is_final):
            return memory, Judgement(True, "command", confidence)
        return memory, Judgement(False, "no_bid", 0.8) if is_final else UNDECIDED

    def _is_enough(self, text: str, substantial: int) -> bool:
        return bool(words_of(text)) and substantial >= self.substantial_min

    def _is_sure(self, memory: SoundMemory, confidence: float, agreed: bool, is_final: bool) -> bool:
        if not memory.has_frames:
            return confidence >= self.garbled_below
        return self._is_voice(memory) and self._is_confident(memory, confidence, agreed, is_final)

    def _is_sure_command(self, memory: SoundMemory, confidence: float, repeated: bool, is_final: bool) -> bool:
        """Was a command heard with enough confidence? A single word is easily misheard. So a command needs the full
        confidence even if the ears report no frames. Other words then need less (see `_is_sure`)."""
        is_voice = self._is_voice(memory) or not memory.has_frames
        return is_voice and self._is_confident(memory, confidence, repeated, is_final)

    def _is_confident(self, memory: SoundMemory, confidence: float, agreed: bool, is_final: bool) -> bool:
        ended = is_final or memory.has_ended
        least = self.confidence_end_min if ended else self.confidence_min
        return (agreed or ended) and confidence >= least


def is_spelled(text: str) -> bool:
    """Does the text consist mostly of single letters? STT models write a sound such as "mhm" as single letters."""
    words = words_of(text)
    return 2 * sum(len(word) == 1 and "a" < word <= "z" and word != "i" for word in words) > len(words)


OVERLAP_RULES = {
    "immediate": OverlapRule(0, 0, 0, 0),
    "confirm": OverlapRule(),
    "words": OverlapRule(2, 0, 0, 0),
}
