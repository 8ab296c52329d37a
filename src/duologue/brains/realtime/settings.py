"""The settings of a Realtime session.

Rule: settings are checked when they are created, and one error names every problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

TurnDetection: TypeAlias = Literal["server_vad", "semantic_vad", "none"]

RATE_HZ = 24_000  # sample rate of the protocol's PCM audio, in both directions
# OpenAI ends a session after 60 minutes. With these values, `profile(…, session_ms_max=…, session_warning_ms=…)`
# renews the session just before that. By default, every profile renews it after 15 minutes.
SESSION_MS_MAX = 55 * 60_000
SESSION_WARNING_MS = SESSION_MS_MAX - 30_000


@dataclass(frozen=True, slots=True)
class RealtimeSettings:
    """The settings of one session. `turn_detection` says who decides that the user's turn is over: the server by VAD
    ("server_vad"), the server by a semantic model ("semantic_vad"), or local ears ("none"). `turn_options`, such as
    {"silence_duration_ms": 400}, are added unchanged to the server's settings for turn detection. `extra`, such as
    {"max_output_tokens": 500}, is added unchanged to the session's settings."""

    voice: str = "marin"  # the voice of the model
    turn_detection: TurnDetection = "server_vad"  # who ends a turn: server_vad, semantic_vad, or none for local ears
    turn_options: Mapping[str, Any] = field(default_factory=dict)  # added to turn_detection unchanged
    # which model transcribes the user; None only if the agent has its own ears
    transcription: Mapping[str, Any] | None = field(default_factory=lambda: {"model": "gpt-4o-mini-transcribe"})
    noise_reduction: Literal["", "near_field", "far_field"] = ""  # done by the server
    output: Literal["audio", "text"] = "audio"  # "text": the agent's own TTS speaks
    extra: Mapping[str, Any] = field(default_factory=dict)  # added to the session's settings unchanged
    echoes_metadata: bool = True  # False: the server doesn't say which request a response answers

    connect_ms_max: int = 8_000  # time to open a session and apply its settings
    request_ms_max: int = 5_000  # time from a request to its response or its error
    silence_ms_max: int = 8_000  # time between two events of a response
    tail_ms_max: int = 2_000  # time from the last item of a response to its end event, which may be lost
    free_ms_max: int = 2_000  # time from cancelling a response to its end
    switch_ms_max: int = 8_000  # how long a renewal waits for the user to finish speaking
    retire_ms_max: int = 60_000  # how long the old session may take to finish its response
    ping_ms: int = 5_000  # time between two pings
    pong_ms_max: int = 2_500  # an answer later than this marks the link unhealthy
    kept_ms_max: int = 4_000  # how much audio is buffered while there is no session
    preroll_ms: int = 400  # with local ears: how much audio from before an onset is sent

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be one of {', '.join(allowed)}, not {value!r}"
            for name, allowed in _ALLOWED.items()
            if (value := getattr(self, name)) not in allowed
        ]
        for each in fields(self):
            value = getattr(self, each.name)
            if "_ms" in each.name and (type(value) is not int or value <= 0):
                problems.append(f"{each.name} must be whole milliseconds above 0, not {value!r}")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def server_decides(self) -> bool:
        """Does the server end the user's turns?"""
        return self.turn_detection != "none"

    @property
    def quiet_ms(self) -> int:
        """How long the user has been silent when the server reports the end of speech."""
        default = 500 if self.turn_detection == "server_vad" else 0
        return int(self.turn_options.get("silence_duration_ms", default))


_ALLOWED = {
    "turn_detection": ("server_vad", "semantic_vad", "none"),
    "noise_reduction": ("", "near_field", "far_field"),
    "output": ("audio", "text"),
}
