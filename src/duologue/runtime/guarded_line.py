"""A line (the connection to the user) whose methods never raise. A failure becomes the event PlaybackFailed.

Rule: the code that plays sound needs no error handling, because the state machine handles a broken line.
"""

from __future__ import annotations

from collections.abc import Callable

from duologue.core.events import PlaybackFailed
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

    def play(self, voice: int, chunk: int, sound: Sound) -> bool:
        return self._try(voice, lambda: self._line.play(voice, chunk, sound))

    def finish(self, voice: int) -> bool:
        return self._try(voice, lambda: self._line.finish(voice))

    def hold(self, voice: int) -> bool:
        return self._try(voice, lambda: self._line.hold(voice))

    def resume(self, voice: int) -> bool:
        return self._try(voice, lambda: self._line.resume(voice))

    def clear(self, voice: int) -> bool:
        return self._try(voice, lambda: self._line.clear(voice))

    def _try(self, voice: int, act: Callable[[], None]) -> bool:
        try:
            act()
        except Exception as failure:  # noqa: BLE001 - the failure becomes an event
            self._report_failure("line", failure)
            self._driver.post(PlaybackFailed, voice=voice, error=classify(failure))
            return False
        return True
