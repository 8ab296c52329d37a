"""Ears that let a service detect and transcribe speech: the audio is passed to a stream of the service, and the events
of the stream become reports.

`service_utterances` decides what is reported. Rule: a failure of the stream ends listening. The conversation decides
whether the ears are started again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Protocol

from duologue.core.leaves import ErrorClass
from duologue.ports.ears import Commit, Discard, Frame, Heard, Incoming, Sounding
from duologue.ports.failure import BrokenContract

from .service_utterances import Given, SpokenState, TextOverdue, step

TEXT_MS_MAX = 1_500  # how long the service may take for the final text of an ended utterance
END_S_MAX = 3.0  # how long the service may take for its last text when the audio has ended


class SpeechStream(Protocol):
    """A connection to an STT service. Iterating over the stream yields what the service hears, and raises ServiceError
    if the service fails."""

    @property
    def at_ms(self) -> int:
        """How many milliseconds of audio were passed to the service."""
        ...

    def push(self, frame: Frame) -> None:
        """Pass a frame to the service. Raises ServiceError if the frame can't be used."""
        ...

    def flush(self) -> None:
        """Ask the service for the final text of what it has heard so far."""
        ...

    def end(self) -> None:
        """Tell the service that no more audio follows."""
        ...

    def __aiter__(self) -> AsyncIterator[Given]: ...

    async def close(self) -> None: ...


async def listen_with(
    stream: SpeechStream, audio: AsyncIterator[Incoming], judges_turns: bool, text_ms_max: int
) -> AsyncGenerator[Heard, None]:
    """Yield what the service hears in this audio. Closing the generator closes the stream."""
    listening = _Listening(stream, judges_turns, text_ms_max)
    tasks = [asyncio.ensure_future(listening.read(audio)), asyncio.ensure_future(listening.write())]
    try:
        while (heard := await listening.reports.get()) is not None:
            if isinstance(heard, Exception):
                raise heard
            yield heard
    finally:
        listening.stop()
        for task in tasks:
            task.cancel()
        await stream.close()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Listening:
    """The work on one stream: passes the audio to the service, and turns the events of the service into reports."""

    def __init__(self, stream: SpeechStream, judges_turns: bool, text_ms_max: int) -> None:
        self.reports: asyncio.Queue[Heard | Exception | None] = asyncio.Queue()
        self._stream = stream
        self._state = SpokenState(judges_turns=judges_turns)
        self._text_s_max = text_ms_max / 1000
        self._overdue: asyncio.TimerHandle | None = None
        self._last: asyncio.TimerHandle | None = None
        self._has_ended = False

    async def read(self, audio: AsyncIterator[Incoming]) -> None:
        """Pass all audio to the service, until the audio ends."""
        try:
            async for item in audio:
                match item:
                    case Frame():
                        self._stream.push(item)
                    case Commit() | Discard():
                        self._take(item)
                        self._stream.flush()
                    case Sounding():
                        pass
            self._has_ended = True
            self._stream.end()
        except Exception as failure:  # noqa: BLE001 - raised by the reader of the reports
            self.reports.put_nowait(failure)
            return
        self._last = asyncio.get_running_loop().call_later(END_S_MAX, self._finish)

    async def write(self) -> None:
        """Report what the service hears, until the service ends its stream."""
        try:
            async for given in self._stream:
                self._take(given)
        except Exception as failure:  # noqa: BLE001 - raised by the reader of the reports
            self.reports.put_nowait(failure)
            return
        if not self._has_ended:
            problem = BrokenContract(ErrorClass.NETWORK_TIMEOUT, "the STT service ended before the audio ended")
            self.reports.put_nowait(problem)
        self._finish()

    def stop(self) -> None:
        """Cancel the timers."""
        for timer in (self._overdue, self._last):
            if timer is not None:
                timer.cancel()
        self._overdue = self._last = None

    def _take(self, given: Given) -> None:
        self._state, reports = step(self._state, given, self._stream.at_ms)
        for report in reports:
            self.reports.put_nowait(report)
        if not self._state.is_waiting:
            if self._overdue is not None:
                self._overdue.cancel()
                self._overdue = None
        elif self._overdue is None:
            self._overdue = asyncio.get_running_loop().call_later(self._text_s_max, self._give_up_text)

    def _give_up_text(self) -> None:
        self._overdue = None
        self._take(TextOverdue())

    def _finish(self) -> None:
        self.stop()
        self._take(Commit(0))
        self._take(TextOverdue())
        self.stop()
        self.reports.put_nowait(None)
