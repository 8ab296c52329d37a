"""The policies for the hearing in one conversation: when a turn ends, and when a sound interrupts the agent.

Rule: every threshold is a field with a meaning and a unit. A policy is a value: the same inputs give the same answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from duologue.turns.endpoint import CombinedEndpoint, EndpointPolicy, FrameEndpointPolicy
from duologue.turns.overlap import OVERLAP_RULES, OverlapPolicy


@dataclass(frozen=True, slots=True)
class HearingPolicy:
    """The policies and thresholds by which the hearing machine decides."""

    endpoint: EndpointPolicy | FrameEndpointPolicy = field(default_factory=CombinedEndpoint)  # when a turn ends
    overlap: OverlapPolicy = OVERLAP_RULES["confirm"]  # when a sound over the agent's speech interrupts
    language: str = "en"  # the language of the fillers, backchannels and commands
    wordless_ms_max: int = 10_000  # a voice without new words for this long is noise, if the ears report partial texts
    unchanged_ms_max: int = 10_000  # text that doesn't change for this long means that the end of speech was missed
    noise_margin_ms: int = 50  # a turn whose text is late ends this much before its sound would be treated as noise
    text_late_ms: int = 700  # how late ears without onsets report a text, to recognise the agent's own words
    early_wait_ms_max: int = 0  # the brain is asked early if the turn would end within this silence; 0: never
    hasty_wait_ms_max: int = 0  # the same, at the beginning of a pause, for a text whose last words may be missing
    early_answer_ms: int = 800  # an answer may begin this much before the end of the question
    question_heard_min: float = 0.5  # at least this part of the question must have been heard by then
    question_shown_ms: int = 500  # a question that is only shown is treated as asked after this long

    @property
    def by_frames(self) -> FrameEndpointPolicy | None:
        """The endpoint policy, if it decides frame by frame. Otherwise None."""
        return self.endpoint if hasattr(self.endpoint, "frame") else None  # type: ignore[return-value]
