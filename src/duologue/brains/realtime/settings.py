"""What a Realtime session is like, as data.

Rule: settings are checked when they are made, and every problem is told at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

TurnDetection: TypeAlias = Literal["server_vad", "semantic_vad", "none"]

RATE_HZ = 24_000  # of the protocol's PCM, both ways
# A session of OpenAI ends after 60 minutes. `profile(…, session_ms_max=…, session_warning_ms=…)` with these
# renews it ahead of that; without them every profile does so after 15.
SESSION_MS_MAX = 55 * 60_000
SESSION_WARNING_MS = SESSION_MS_MAX - 30_000


@dataclass(frozen=True, slots=True)
class RealtimeSettings:
    """`turn_detection`: who ends the person's turns: the server's voice detection, its semantic one, or
    "none": we do. `turn_options` and `extra` go into the session as they are, such as
    {"silence_duration_ms": 400} and {"max_output_tokens": 500}."""

    voice: str = "marin"  # of the model
    turn_detection: TurnDetection = "server_vad"  # who ends a turn: server_vad, semantic_vad, or none for our ears
    turn_options: Mapping[str, Any] = field(default_factory=dict)  # sent with turn_detection as they are
    # what transcribes the user; None only if the agent has its own ears
    transcription: Mapping[str, Any] | None = field(default_factory=lambda: {"model": "gpt-4o-mini-transcribe"})
    noise_reduction: Literal["", "near_field", "far_field"] = ""  # of the server
    output: Literal["audio", "text"] = "audio"  # "text" leaves the speaking to the agent's voice
    extra: Mapping[str, Any] = field(default_factory=dict)  # sent with the session as they are
    echoes_metadata: bool = True  # False: a server that does not say which request a response answers

    connect_ms_max: int = 8_000  # until a new session has accepted its settings
    request_ms_max: int = 5_000  # from a request to its response or its error
    silence_ms_max: int = 8_000  # between two events of a response
    tail_ms_max: int = 2_000  # after the last item of a response: its end may have been lost
    free_ms_max: int = 2_000  # from a cancel to the end of what was cancelled
    switch_ms_max: int = 8_000  # a renewal waits for so long until the user has finished
    retire_ms_max: int = 60_000  # for the old session to finish its response
    ping_ms: int = 5_000  # between two pings
    pong_ms_max: int = 2_500  # for the answer to a ping; later, the connection counts as unstable
    kept_ms_max: int = 4_000  # of audio is buffered while no session is open
    preroll_ms: int = 400  # of audio before an onset is sent, if the agent has its own ears

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
        """Does the server end the person's turns?"""
        return self.turn_detection != "none"

    @property
    def quiet_ms(self) -> int:
        """How long ago a voice fell silent when the server says that it did."""
        default = 500 if self.turn_detection == "server_vad" else 0
        return int(self.turn_options.get("silence_duration_ms", default))


_ALLOWED = {
    "turn_detection": ("server_vad", "semantic_vad", "none"),
    "noise_reduction": ("", "near_field", "far_field"),
    "output": ("audio", "text"),
}
