"""What happened in one simulated call, told from outside the agent: by the caller, and by the services.

The caller notes what they said and did. The services note when they worked for the agent. Rule: nothing here comes from
the conversation machine or from the runtime, so that a mistake in them can't hide itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from duologue.ports.sound import Sound

OPEN_MS = 1 << 60  # the end of something that never ended


class TimeSpan(NamedTuple):
    start_ms: int
    end_ms: int

    def has(self, at_ms: float) -> bool:
        return self.start_ms <= at_ms < self.end_ms


class Uttered(NamedTuple):
    """What the caller said, or a sound without words. A caller who only says "mhm" doesn't expect an answer."""

    start_ms: int
    end_ms: int
    text: str = ""
    expects_answer: bool = True


class VoiceRequest(NamedTuple):
    """The voice was asked to say a text, and made its first sound at `first_ms`; OPEN_MS if it made none."""

    start_ms: int
    first_ms: int = OPEN_MS


class ServiceSpan(NamedTuple):
    """A service (brain, voice, tool, session or line) worked for the agent, or was being closed. The caller waits for
    the brain, the voice, and tools that don't run in the background."""

    start_ms: int
    end_ms: int
    service: str
    is_awaited: bool = True


@dataclass
class CallerAccount:
    """Everything that is noted about one call. All times are milliseconds since the beginning of the simulation."""

    uttered: list[Uttered] = field(default_factory=list)
    typed: list[int] = field(default_factory=list)
    gave_up: list[int] = field(default_factory=list)  # when the caller wanted no answer any more: stop, cancel, dismiss
    hung_up: list[int] = field(default_factory=list)
    pauses: list[TimeSpan] = field(default_factory=list)  # the caller has paused the conversation
    wobbles: list[TimeSpan] = field(default_factory=list)  # the caller can't hear, although the line isn't closed
    delivered: list[tuple[int, str]] = field(default_factory=list)  # texts that the ears have reported
    # When the ears have reported the end of a sound or its final text, and the number of the sound: 1 is the first one.
    ends: list[tuple[int, int]] = field(default_factory=list)
    worked: list[ServiceSpan] = field(default_factory=list)
    asked: list[tuple[int, str]] = field(default_factory=list)  # the words in each request to the brain
    answering: set[int] = field(default_factory=set)  # the requests to the brain that had words, results or news
    failed: list[tuple[int, str]] = field(default_factory=list)  # when a service failed, and which one
    voiced: list[VoiceRequest] = field(default_factory=list)
    speech: set[bytes] = field(default_factory=set)  # the samples that the voice, or a brain that speaks, has made

    @contextmanager
    def utter(self, text: str = "", expects_answer: bool = True) -> Iterator[None]:
        """Note that the caller makes a sound while the `with` block runs."""
        start, at = now_ms(), len(self.uttered)
        self.uttered.append(Uttered(start, OPEN_MS, text, expects_answer))
        try:
            yield
        finally:
            self.uttered[at] = Uttered(start, now_ms(), text, expects_answer)

    @contextmanager
    def work(self, service: str, is_awaited: bool = True) -> Iterator[None]:
        """Note that a service works while the `with` block runs."""
        start, at = now_ms(), len(self.worked)
        self.worked.append(ServiceSpan(start, OPEN_MS, service, is_awaited))
        try:
            yield
        finally:
            self.worked[at] = ServiceSpan(start, now_ms(), service, is_awaited)

    def note_voice_request(self) -> Callable[[object], None]:
        """Note that the voice is asked to say a text. Returns a function that notes what the voice makes of it."""
        at = len(self.voiced)
        self.voiced.append(VoiceRequest(now_ms()))

        def note(made: object) -> None:
            if isinstance(made, Sound) and self.voiced[at].first_ms == OPEN_MS:
                self.voiced[at] = self.voiced[at]._replace(first_ms=now_ms())
            self.note_speech(made)

        return note

    def note_speech(self, made: object) -> None:
        """If this is a sound, its samples are speech."""
        if isinstance(made, Sound) and made.pcm:
            self.speech.add(made.pcm)

    @contextmanager
    def note_failure(self, service: str) -> Iterator[None]:
        """Note an error that the service raises in the block."""
        try:
            yield
        except Exception:
            self.failed.append((now_ms(), service))
            raise

    @contextmanager
    def trouble(self, service: str) -> Iterator[None]:
        """Note how long a service takes for which the caller doesn't wait, and whether it fails."""
        with self.work(service, is_awaited=False), self.note_failure(service):
            yield

    @contextmanager
    def during(self, spans: list[TimeSpan]) -> Iterator[None]:
        """Add a span to `spans` that lasts as long as the `with` block."""
        start, at = now_ms(), len(spans)
        spans.append(TimeSpan(start, OPEN_MS))
        try:
            yield
        finally:
            spans[at] = TimeSpan(start, now_ms())


def now_ms() -> int:
    return round(asyncio.get_running_loop().time() * 1000)
