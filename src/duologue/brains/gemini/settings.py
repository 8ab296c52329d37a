"""The settings of a Gemini Live session.

Rule: settings are checked when they are created, and one error names every problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

INPUT_HZ = 16_000  # sample rate of the audio that the server gets; the audio that it sends has 24 kHz


@dataclass(frozen=True, slots=True)
class GeminiSettings:
    """The settings of one session. `extra`, such as {"generationConfig": {"temperature": 0.7}}, is added to the setup
    message. A dict in `extra` is merged with the dict of the same name in the setup message."""

    voice: str = "Puck"  # the voice of the model
    language: str = ""  # the language of the voice, such as "de-DE"; if empty, the model chooses
    extra: Mapping[str, Any] = field(default_factory=dict)  # merged into the setup message unchanged
    resumes: bool = True  # a new connection resumes the server's session by its handle
    compresses: bool = True  # the server drops the oldest turns when its context is full
    updates_context: bool = True  # False: changed instructions or tools need a new connection

    connect_ms_max: int = 8_000  # time to open a session
    request_ms_max: int = 8_000  # time from a request to the first message of its answer
    silence_ms_max: int = 8_000  # time between two messages of an answer
    free_ms_max: int = 2_000  # time from interrupting an answer to its end
    switch_ms_max: int = 8_000  # how long a renewal waits until neither side speaks
    retire_ms_max: int = 60_000  # how long the old connection may take to finish its answer
    transcript_ms_max: int = 3_000  # without ears: time from the end of a turn to its text
    ping_ms: int = 5_000  # time between two pings
    pong_ms_max: int = 2_500  # an answer later than this marks the link unhealthy
    held_ms_max: int = 30_000  # how much of the user's audio is held back while the model answers
    preroll_ms: int = 400  # how much audio from before an onset is sent

    def __post_init__(self) -> None:
        problems = [
            f"{each.name} must be whole milliseconds above 0, not {value!r}"
            for each in fields(self)
            if "_ms" in each.name and (type(value := getattr(self, each.name)) is not int or value <= 0)
        ]
        if not isinstance(self.voice, str) or not self.voice:
            problems.append(f"voice must be the name of a voice, not {self.voice!r}")
        if problems:
            raise ValueError("; ".join(problems))
