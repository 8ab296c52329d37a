"""A line (the connection to the user) whose methods never raise. A failure becomes the event PlaybackFailed.

Rule: the code that plays sound needs no error handling, because the state machine handles a broken line.
"""

from __future__ import annotations

from collections.abc import Callable

from duologue.core.events import PlaybackFailed
from duologue.core.state import is_sounding
from duologue.ports.failure import classify
from duologue.ports.line import Line
from duologue.ports.sound import Sound

from .driver import Driver, ReportFailure


class GuardedLine:
    """The playback methods of a line. Each method returns True if it worked, and False if the line raised an
    exception."""

    def __init__(self, line: Line, driver: Driver, report_failure: ReportFailure) -> None:
        self._line = line
        self._driver = driver
        self._report_failure = report_failure
        self.on_play: Callable[[int, Sound], None] | None = None  # called with the sound that the line gets

    @property
    def may_play(self) -> bool:
        """May the agent's speech be played now, according to the state machine? It may not while the speech is on hold
        or the line is lost."""
        return is_sounding(self._driver.state)

    def play(self, voice: int, chunk: int, sound: Sound) -> bool:
        if self.on_play is not None:
            self.on_play(voice, sound)
        return self._try(voice, lambda: self._line.play(voice, chunk, sound))

    def finish(self, voice: int) -> bool:
        return self._try(voice, lambda: self._line.finish(voice))

    def hold(self, voice: int) -> bool:
        return self._try(voice, lambda: self._line.hold(voice))

    def resume(self, voice: int) -> bool:
        return self._try(voice, lambda: self._line.resume(voice))

    def clear(self, voice: int) -> bool:
        return self._try(voice, lambda: self._line.clear(voice))

    def play_cue(self, cue: int, sound: Sound) -> bool:
        return self._attempt(lambda: self._line.play_cue(cue, sound)) is None

    def stop_cue(self) -> bool:
        return self._attempt(self._line.stop_cue) is None

    def set_ambient(self, sound: Sound | None) -> bool:
        return self._attempt(lambda: self._line.set_ambient(sound)) is None

    def _try(self, voice: int, act: Callable[[], None]) -> bool:
        failure = self._attempt(act)
        if failure is not None:
            self._driver.post(PlaybackFailed, voice=voice, error=classify(failure))
        return failure is None

    def _attempt(self, act: Callable[[], None]) -> Exception | None:
        """Call `act`. If it raises an exception, report the exception and return it; otherwise return None. The caller
        posts PlaybackFailed if the failure affects speech, but not for a cue or ambient sound."""
        try:
            act()
        except Exception as failure:  # noqa: BLE001 - the failure becomes an event
            self._report_failure("line", failure)
            return failure
        return None
