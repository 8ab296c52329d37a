"""Decides for each frame of 20 to 40 ms whether the agent must wait (HOLD) or may speak (SPEAK), by fixed thresholds.

This module follows the frame-by-frame rule of the EasyTurn specification, with the same order of checks and the same
reasons. The five system states of that specification aren't implemented here, but in the orchestrator view of the state
machine. Rule: `step` is a pure function. The time comes with the frame, and every threshold is a field of TurnSettings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class TurnState(Enum):
    HOLD = "HOLD"  # wait: the user has the right to speak
    SPEAK = "SPEAK"  # the agent may answer


class Activity(Enum):
    SPEAKING = "speaking"
    UNSURE = "unsure"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class TurnSettings:
    """All thresholds of the controller. If an energy threshold is None, the energy isn't checked, and only the VAD
    probability decides."""

    silence_ms: int = 400  # how much silence ends a turn
    silence_short_ms: int = 400  # how much silence ends a turn whose text is shorter than short_length
    short_length: int = 20  # a text with fewer characters is short
    text_length_min: int = 1  # a text with fewer characters never ends a turn
    confidence_min: float = 0.6  # the transcript must be at least this sure
    stability_min: float = 0.8  # the transcript must be at least this stable
    text_unchanged_ms: int = 150  # the transcript must be unchanged for this long
    hysteresis_ms: int = 200  # a new decision must hold for this long before it takes effect
    interrupt_energy: float | None = None  # RMS of a frame, 0 to 1; above it, the user interrupts
    interrupt_vad: float = 0.6  # probability of voice; above it, the user interrupts
    speaking_energy: float | None = None  # RMS; above it, the user speaks
    speaking_vad: float = 0.7  # probability of voice; above it, the user speaks
    silent_energy: float | None = None  # RMS; below it, the user is silent
    silent_vad: float = 0.3  # probability of voice; below it, the user is silent

    def silence_ms_for(self, text_length: int) -> int:
        """How many milliseconds of silence end a turn whose text has this length."""
        return self.silence_short_ms if text_length < self.short_length else self.silence_ms


# `easyturn-003` has the values of the specification. The specification names a silence for short texts, but gives no
# value for it. The other presets accept short answers. They use no energy thresholds, because an energy of 0.015 is
# below the noise in a car.
PRESETS: Mapping[str, TurnSettings] = {
    "easyturn-003": TurnSettings(
        text_length_min=5,
        interrupt_energy=0.015,
        speaking_energy=0.02,
        silent_energy=0.005,
    ),
    "conservative": TurnSettings(silence_ms=700, silence_short_ms=800, hysteresis_ms=250, confidence_min=0.5),
    "balanced": TurnSettings(silence_ms=400, silence_short_ms=500, hysteresis_ms=200, confidence_min=0.3),
    "aggressive": TurnSettings(
        silence_ms=300, silence_short_ms=300, hysteresis_ms=150, confidence_min=0.3, stability_min=0.6
    ),
}


@dataclass(frozen=True, slots=True)
class Acoustic:
    """One frame of audio."""

    at_ms: int
    energy: float  # RMS, 0 to 1
    vad: float  # probability of voice
    silence_ms: int  # since the last voice


@dataclass(frozen=True, slots=True)
class Linguistic:
    """The words of the turn up to this frame."""

    text: str = ""
    confidence: float = 0.0
    stability: float = 0.0


class TurnDecision(NamedTuple):
    """The decision for one frame. `blocked_by` has the names of the conditions that still prevent SPEAK, in the order
    in which they are checked."""

    state: TurnState
    confidence: float
    at_ms: int
    reason: str
    blocked_by: tuple[str, ...] = ()


class TurnMemory(NamedTuple):
    """What the controller remembers from frame to frame."""

    state: TurnState = TurnState.HOLD
    pending_since_ms: int | None = None  # since when the checks have called for the other state; None if they don't
    text: str = ""
    text_changed_ms: int | None = None


def activity_of(settings: TurnSettings, frame: Acoustic) -> Activity:
    """Whether the user is speaking or silent in this frame, or UNSURE if neither is certain."""
    if _above(frame.energy, settings.speaking_energy) or frame.vad > settings.speaking_vad:
        return Activity.SPEAKING
    quiet = settings.silent_energy is None or frame.energy < settings.silent_energy
    return Activity.SILENT if quiet and frame.vad < settings.silent_vad else Activity.UNSURE


def is_interrupting(settings: TurnSettings, frame: Acoustic) -> bool:
    """Is this frame an interruption? Yes, if it is loud enough, or if it is probably a voice."""
    return _above(frame.energy, settings.interrupt_energy) or frame.vad > settings.interrupt_vad


def step(
    settings: TurnSettings, memory: TurnMemory, frame: Acoustic, said: Linguistic
) -> tuple[TurnMemory, TurnDecision]:
    """Process one frame. Returns the memory for the next frame, and the decision."""
    if said.text != memory.text:
        memory = memory._replace(text=said.text, text_changed_ms=frame.at_ms)
    blocks = blocked_by(settings, memory, frame, said)
    if memory.state is TurnState.HOLD:
        wanted = TurnState.HOLD if blocks else TurnState.SPEAK
    else:
        wanted = TurnState.HOLD if is_interrupting(settings, frame) else TurnState.SPEAK
    memory, reason = _with_hysteresis(settings, memory, wanted, frame.at_ms)
    sure = _confidence(memory.state, activity_of(settings, frame), said)
    return memory, TurnDecision(memory.state, sure, frame.at_ms, reason, blocks)


class FrameRule:
    """Applies `step` to the frames of one turn, and keeps the controller's memory between frames."""

    def __init__(self, settings: TurnSettings, turn: int) -> None:
        self.turn = turn
        self._settings = settings
        self._memory = TurnMemory()

    def step(self, frame: Acoustic, said: Linguistic) -> TurnDecision:
        """Process the next frame and return the decision."""
        self._memory, decision = step(self._settings, self._memory, frame, said)
        return decision


def blocked_by(settings: TurnSettings, memory: TurnMemory, frame: Acoustic, said: Linguistic) -> tuple[str, ...]:
    """The names of the conditions that keep the turn open, in the order in which they are checked. Empty if the turn
    may end."""
    length = len(said.text)
    changed_ms = memory.text_changed_ms
    found = list[str]()
    if activity_of(settings, frame) is Activity.SPEAKING:
        found.append("speaking")
    if frame.silence_ms < settings.silence_ms_for(length):
        found.append("silence")
    if length < settings.text_length_min:
        found.append("text_length")
    if said.confidence < settings.confidence_min:
        found.append("confidence")
    if said.stability < settings.stability_min:
        found.append("stability")
    if changed_ms is not None and frame.at_ms - changed_ms < settings.text_unchanged_ms:
        found.append("text_changing")
    return tuple(found)


def _with_hysteresis(
    settings: TurnSettings, memory: TurnMemory, wanted: TurnState, at_ms: int
) -> tuple[TurnMemory, str]:
    """Change the state to `wanted`, but only if `wanted` was the same in all frames of the last `hysteresis_ms`.
    Returns the new memory and the reason."""
    if wanted is memory.state:
        if memory.pending_since_ms is not None:
            memory = memory._replace(pending_since_ms=None)
        return memory, f"stable_{wanted.value}"
    if memory.pending_since_ms is None:
        return memory._replace(pending_since_ms=at_ms), f"pending_{wanted.value}"
    elapsed_ms = at_ms - memory.pending_since_ms
    if elapsed_ms < settings.hysteresis_ms:
        return memory, f"pending_{wanted.value}_{elapsed_ms}ms"
    why = "transition_to_SPEAK_eot" if wanted is TurnState.SPEAK else "transition_to_HOLD_interrupt"
    return memory._replace(state=wanted, pending_since_ms=None), why


def _confidence(state: TurnState, activity: Activity, said: Linguistic) -> float:
    """How well the state fits the current frame and words, from 0 to 1. Silence and stable words support SPEAK;
    everything else supports HOLD."""
    quiet = 0.0 if activity is Activity.SPEAKING else 0.5 if activity is Activity.UNSURE else 1.0
    over = quiet * (1 + min(max(said.confidence, 0.0), 1.0) + min(max(said.stability, 0.0), 1.0)) / 3
    return over if state is TurnState.SPEAK else 1 - over


def _above(value: float, threshold: float | None) -> bool:
    return threshold is not None and value > threshold
