"""Endpoint policies, which decide how much silence ends a turn. The default combines two of them.

A policy is given what is known about a pause, and returns how long the silence must last until the turn is over. It is
asked again whenever more is known. Rule: a wait is None or has an upper bound. None means that silence doesn't end the
turn. The turn is then ended by another event or by a deadline of the state machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from .completeness import Completeness
from .completion import probability, reasons, score
from .completion_table import WAITS
from .controller import PRESETS, Acoustic, Linguistic, TurnDecision, TurnMemory, TurnSettings, step
from .features import PauseFeatures, is_turn, is_unclear

MEANS_MS: Mapping[str, int] = {"quick": 600, "balanced": 760, "patient": 1010}
DEFAULT = "default"
UNCLEAR_MS = 480
NO_TEXT_MS_MIN = 600  # the shortest wait while the text of the turn is missing


@dataclass(frozen=True, slots=True)
class SilenceWait:
    """How long the silence must last until the turn is over. If `wait_ms` is None, silence doesn't end the turn."""

    wait_ms: int | None
    confidence: float = 0.5  # the probability that the turn is over
    reasons: tuple[str, ...] = ()


class EndpointPolicy(Protocol):
    """Decides how long a silence must be to end a turn."""

    def wait(self, pause: PauseFeatures) -> SilenceWait:
        """How long the silence must last until the turn is over, judged by what is known about the pause so far. The
        silence is counted from the first silent frame."""
        ...


class FrameEndpointPolicy(EndpointPolicy, Protocol):
    """Decides for each frame whether the turn ends, if the ears (STT and VAD) report frames. Otherwise the method
    `wait` decides. The policy's memory of a turn is a value that the caller keeps. This value must be hashable and
    immutable."""

    def begin(self) -> Any:
        """The memory at the start of a new turn."""
        ...

    def frame(self, memory: Any, heard: Acoustic, said: Linguistic) -> tuple[Any, TurnDecision]:
        """Process the next frame. Returns the new memory and the decision. If the decision is SPEAK, the turn ends."""
        ...


@dataclass(frozen=True, slots=True)
class FixedSilence:
    """Ends a turn after a fixed length of silence."""

    silence_ms: int = 700  # how much silence ends a turn
    open_ms: int = 0  # added if the brain says that the text can't end like this

    def wait(self, pause: PauseFeatures) -> SilenceWait:
        if not is_turn(pause):
            return SilenceWait(None, reasons=("no_voice",))
        why = (f"silence_{self.silence_ms}ms",)
        if self.open_ms and pause.completeness is Completeness.OPEN:
            return SilenceWait(self.silence_ms + self.open_ms, reasons=(*why, f"not_understood_yet_{self.open_ms}ms"))
        return SilenceWait(self.silence_ms, reasons=why)


@dataclass(frozen=True, slots=True)
class EasyTurnEndpoint:
    """Ends a turn by the frame-by-frame rule in `controller`. If the ears (STT and VAD) report no frames, the method
    `wait` is used instead. It returns the silence that the rule requires for a text of this length, plus
    `hysteresis_ms`."""

    settings: TurnSettings = PRESETS["balanced"]  # the thresholds of the rule

    def begin(self) -> TurnMemory:
        return TurnMemory()

    def frame(self, memory: TurnMemory, heard: Acoustic, said: Linguistic) -> tuple[TurnMemory, TurnDecision]:
        return step(self.settings, memory, heard, said)

    def wait(self, pause: PauseFeatures) -> SilenceWait:
        text = pause.text or ""
        if len(text) < self.settings.text_length_min:
            return SilenceWait(None, reasons=("text_too_short",))
        if pause.confidence is not None and pause.confidence < self.settings.confidence_min:
            return SilenceWait(None, reasons=("confidence_too_low",))
        silence_ms = self.settings.silence_ms_for(len(text))
        return SilenceWait(silence_ms + self.settings.hysteresis_ms, reasons=(f"silence_{silence_ms}ms",))


@dataclass(frozen=True, slots=True)
class SemanticEndpoint:
    """The more complete the turn sounds and reads, the less this policy waits: first_ms - slope_ms * score, at most
    longest_ms. If the words were not recognised clearly, the text doesn't show whether the turn is complete, so
    unclear_ms is added to the wait."""

    first_ms: float  # the wait at a score of 0
    slope_ms: float  # subtracted for each point of the score
    longest_ms: float  # the longest wait
    unclear_ms: float = UNCLEAR_MS  # added if three or more words are read with a confidence below 0.5

    @classmethod
    def named(cls, name: str = DEFAULT) -> SemanticEndpoint:
        """The policy with this eagerness: default, quick, balanced or patient."""
        if name not in WAITS:
            raise ValueError(f"unknown eagerness {name!r}; choose one of {', '.join(WAITS)}")
        return cls(*WAITS[name])

    @classmethod
    def aiming_at(cls, mean_ms: int) -> SemanticEndpoint:
        """The policy whose mean latency on Duologue's own test recordings is about `mean_ms`. If `mean_ms` is outside
        the range that was measured, the nearest value in that range is used."""
        names = sorted(MEANS_MS, key=lambda name: MEANS_MS[name])
        mean_ms = min(max(mean_ms, MEANS_MS[names[0]]), MEANS_MS[names[-1]])
        for low, high in pairwise(names):
            if mean_ms <= MEANS_MS[high]:
                share = (mean_ms - MEANS_MS[low]) / (MEANS_MS[high] - MEANS_MS[low])
                between = (left + share * (right - left) for left, right in zip(WAITS[low], WAITS[high], strict=True))
                return cls(*between)
        raise AssertionError(mean_ms)

    def wait(self, pause: PauseFeatures) -> SilenceWait:
        if not is_turn(pause):
            return SilenceWait(None, reasons=("no_voice",))
        found = score(pause)
        if found is None:  # no model has answered, so the longest wait is the safe choice
            return SilenceWait(round(self.longest_ms), reasons=("nothing_known",))
        unclear = is_unclear(pause)
        wait_ms = max(self.first_ms - self.slope_ms * found, 0.0) + (self.unclear_ms if unclear else 0.0)
        wait_ms = min(wait_ms, self.longest_ms)
        if pause.text is None:
            wait_ms = max(wait_ms, NO_TEXT_MS_MIN)
        why = (*reasons(pause), "unclear") if unclear else reasons(pause)
        return SilenceWait(round(wait_ms), probability(pause), why)


@dataclass(frozen=True, slots=True)
class CombinedEndpoint:
    """The default policy. If the ears report how a pause sounds, it decides by sound and words. Otherwise it waits for
    a fixed length of silence."""

    by_sound: SemanticEndpoint = SemanticEndpoint(*WAITS[DEFAULT])  # used if the ears report how a pause sounds
    by_silence: FixedSilence = FixedSilence(400, open_ms=800)  # used otherwise

    def wait(self, pause: PauseFeatures) -> SilenceWait:
        return (self.by_sound if pause.is_heard else self.by_silence).wait(pause)


@dataclass(frozen=True, slots=True)
class ManualEndpoint:
    """The user ends each turn by hand, for example with a button."""

    def wait(self, pause: PauseFeatures) -> SilenceWait:  # noqa: ARG002 - silence decides nothing
        return SilenceWait(None, reasons=("by_hand",))


@dataclass(frozen=True, slots=True)
class ServerEndpoint:
    """A model on a server ends turns. If the server misses the end of a turn, a silence of `silence_ms_max` ends the
    turn."""

    silence_ms_max: int | None = 3_000  # this much silence ends a turn that the server missed; None: never

    def wait(self, pause: PauseFeatures) -> SilenceWait:
        if self.silence_ms_max is None or not is_turn(pause):
            return SilenceWait(None, reasons=("by_server",))
        return SilenceWait(self.silence_ms_max, reasons=("by_server",))


def policy(name: str, mean_ms: int | None = None) -> EndpointPolicy:
    """The policy with this name. `mean_ms` is the mean latency to aim at; only "combined" and "semantic" use it."""
    by_sound = SemanticEndpoint.named() if mean_ms is None else SemanticEndpoint.aiming_at(mean_ms)
    made: dict[str, EndpointPolicy] = {
        "combined": CombinedEndpoint(by_sound),
        "semantic": by_sound,
        "vad": FixedSilence(),
        "easyturn": EasyTurnEndpoint(),
        "easyturn-003": EasyTurnEndpoint(PRESETS["easyturn-003"]),
        "manual": ManualEndpoint(),
        "server": ServerEndpoint(),
    }
    if name not in made:
        raise ValueError(f"unknown endpoint policy {name!r}; choose one of {', '.join(made)}")
    return made[name]
