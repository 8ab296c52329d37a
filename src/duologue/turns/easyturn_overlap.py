"""Decides, by the thresholds of the frame controller, whether a sound during the agent's speech interrupts the agent.

A frame interrupts if its energy or its probability of voice is above a threshold in `TurnSettings`. If this lasts for
`hysteresis_ms`, the sound is a bid to speak. It doesn't matter which words are heard. Rule: with the same settings,
this policy and `EasyTurnEndpoint` use the same thresholds, and `controller.step` decides for both.
"""

from __future__ import annotations

from dataclasses import dataclass

from .controller import PRESETS, Acoustic, Linguistic, TurnMemory, TurnSettings, TurnState, is_interrupting, step
from .overlap import SILENCE_MS_END, UNDECIDED, Judgement

_AGENT_SPEAKS = TurnMemory(TurnState.SPEAK)


@dataclass(frozen=True, slots=True)
class FrameSound:
    """What EasyTurnOverlap remembers about one sound from frame to frame."""

    turn: TurnMemory = _AGENT_SPEAKS
    at_ms: int = 0  # since the onset
    silence_ms: int = 0  # since the last frame that interrupts


@dataclass(frozen=True, slots=True)
class EasyTurnOverlap:
    """Judges a sound frame by frame. The sound interrupts the agent if its energy or its probability of voice is high
    enough. If the ears (STT and VAD) report no frames, a sound interrupts after `voiced_ms_min`."""

    settings: TurnSettings = PRESETS["balanced"]  # the thresholds: interrupt_energy, interrupt_vad, hysteresis_ms
    voiced_ms_min: int = 200  # a sound that lasts this long interrupts, if the ears report no frames

    def begin(self, has_frames: bool) -> FrameSound:  # noqa: ARG002 - frames tell by themselves
        return FrameSound()

    def frame(
        self, memory: FrameSound, probability: float, frame_ms: int, energy: float = 0.0
    ) -> tuple[FrameSound, Judgement]:
        at_ms = memory.at_ms + frame_ms
        heard = Acoustic(at_ms, energy, probability, memory.silence_ms)
        silence_ms = 0 if is_interrupting(self.settings, heard) else memory.silence_ms + frame_ms
        turn, decision = step(self.settings, memory.turn, heard, Linguistic())
        memory = FrameSound(turn, at_ms, silence_ms)
        if decision.state is TurnState.HOLD:
            return memory, Judgement(True, decision.reason, decision.confidence)
        if silence_ms >= SILENCE_MS_END:
            return memory, Judgement(False, decision.reason, decision.confidence)
        return memory, UNDECIDED

    def heard(
        self,
        memory: FrameSound,
        text: str,  # noqa: ARG002 - the rule knows no words
        confidence: float,  # noqa: ARG002
        is_final: bool,
        is_echo: bool,  # noqa: ARG002
    ) -> tuple[FrameSound, Judgement]:
        return memory, Judgement(False, "no_bid", 0.8) if is_final else UNDECIDED

    def lasted(self, memory: FrameSound, voiced_ms: int, text: str, is_echo: bool) -> Judgement:  # noqa: ARG002
        if memory.at_ms or is_echo or not 0 < self.voiced_ms_min <= voiced_ms:
            return UNDECIDED
        return Judgement(True, f"sound_{voiced_ms}ms", 0.7)
