"""Records the sound of a conversation, if the program has asked for a recording.

Rule: a private conversation is never recorded, and a secret answer is recorded as silence. If the recording fails, such
as on a full disk, it ends, and the conversation continues.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from duologue.ports.ears import Frame
from duologue.ports.line import Finished, LineEvent, Played, Stopped

from .driver import Driver, ReportFailure
from .guarded_line import GuardedLine

if TYPE_CHECKING:
    from duologue.observe.call_recording import CallRecording


class SoundRecording:
    """The recording of one conversation. It is off until `start`."""

    def __init__(
        self,
        driver: Driver,
        line: GuardedLine,
        report_failure: ReportFailure,
        is_private: bool,
        hears_secret: Callable[[], bool] = lambda: False,
    ) -> None:
        self._driver = driver
        self._line = line
        self._report_failure = report_failure
        self._is_private = is_private
        self._hears_secret = hears_secret
        self._recording: CallRecording | None = None

    @property
    def is_on(self) -> bool:
        return self._recording is not None

    def start(self, path: Path) -> bool:
        """Record both sides into this file from now on. Returns False, and records nothing, if the conversation is
        private."""
        if self._is_private:
            return False
        from duologue.observe.call_recording import CallRecording  # needs numpy

        self._recording = recording = CallRecording(path, self._driver.now())
        self._line.on_play = lambda voice, sound: self._do(lambda: recording.queue(voice, sound))
        return True

    def note(self, event: LineEvent) -> None:
        """Add the user's sound, which the line delivers, or note how much of the agent's sound the line has played."""
        recording = self._recording
        if recording is None:
            return
        now = self._driver.now()
        match event:
            case Frame() if not self._hears_secret():
                self._do(lambda: recording.hear(event, now))
            case Played() | Finished() | Stopped():
                self._do(lambda: recording.played(event.voice, event.heard_ms, now))

    def close(self) -> None:
        """Finish the file of the recording. Does nothing if nothing is recorded."""
        recording, self._recording, self._line.on_play = self._recording, None, None
        if recording is not None:
            self._do(recording.close)

    def _do(self, act: Callable[[], None]) -> None:
        try:
            act()
        except (OSError, ValueError) as failure:
            self._recording, self._line.on_play = None, None
            self._report_failure("recording", failure)
