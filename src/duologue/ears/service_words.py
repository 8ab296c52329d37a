"""The words from a streaming STT service, for ears that detect speech on this computer.

The service gets all audio, and `service_utterances` decides which text belongs to which utterance. Rule: `finish`
returns within its time limit, with the best text that is known by then. Text that comes later is reported as late text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from duologue.core.leaves import ErrorClass
from duologue.ports.ears import Commit, Discard, Final, Frame, Partial
from duologue.ports.failure import BrokenContract
from duologue.ports.words import WordStream, WrittenText

from .service_stream import SpeechStream
from .service_utterances import (
    KNOWN_MAX,
    Given,
    OnsetHeard,
    ServiceUtterance,
    SilenceHeard,
    SpokenState,
    TextOverdue,
    step,
)

RATE_HZ = 16_000
STALE_MS = 1_500  # text that came this long before an onset isn't part of the utterance
COVERED_MS = 300  # a text whose last word ends this much before the voice may be complete


def _ignore(*given: object) -> None:
    """Do nothing. This is the callback until `follow` sets another one."""


class StreamWords(WordStream):
    """The words of one stream."""

    def __init__(self, stream: SpeechStream, text_ms_max: int) -> None:
        self._stream = stream
        self._text_s_max = text_ms_max / 1000
        self._state = SpokenState()
        self._numbers: dict[int, int] = {}  # the ears' number of each utterance, by the number here
        self._awaited: dict[int, asyncio.Future[Final]] = {}
        self._open: set[int] = set()  # utterances that aren't finished, ...
        self._early: dict[int, Final] = {}  # ... and their final texts
        self._failure: Exception | None = None
        self._text_at_ms = 0
        self._on_text: Callable[[int, WrittenText], None] = _ignore
        self._on_late: Callable[[int, WrittenText], None] = _ignore
        self._on_turn_over: Callable[[], None] = _ignore
        self._reader = asyncio.ensure_future(self._read())

    def follow(
        self,
        on_text: Callable[[int, WrittenText], None],
        on_late: Callable[[int, WrittenText], None],
        on_turn_over: Callable[[], None],
    ) -> None:
        self._on_text, self._on_late, self._on_turn_over = on_text, on_late, on_turn_over

    def hear(self, pcm: bytes) -> None:
        if self._failure is None:
            self._stream.push(Frame(pcm, RATE_HZ))

    def begin(self, utterance: int, first_ms: int) -> None:
        newest = self._state.newest
        if newest is not None and newest.is_on:
            if newest.number in self._numbers:
                self._take(Commit(0))
            elif first_ms - self._text_at_ms > STALE_MS:
                self._take(Discard(0))
        self._take(OnsetHeard())
        self._numbers[self._state.number] = utterance
        self._open.add(self._state.number)

    async def finish(self, utterance: int, end_ms: int, voiced_ms: int) -> WrittenText:  # noqa: ARG002
        self._check()
        number = self._number_of(utterance)
        newest = self._state.newest
        if newest is not None and newest.number == number:
            self._take(Commit(0))
        self._stream.flush()
        self._open.discard(number)
        final = self._early.pop(number, None)
        if final is None or not self._covers(number, voiced_ms):
            final = await self._await_final(number)
        self._numbers = {mine: theirs for mine, theirs in self._numbers.items() if mine > number - KNOWN_MAX}
        return _written(final) if final is not None else self._given_up(number)

    async def _await_final(self, number: int) -> Final | None:
        """Wait for the final text of this utterance. Returns None if it takes too long."""
        awaited: asyncio.Future[Final] = asyncio.get_running_loop().create_future()
        self._awaited[number] = awaited
        try:
            await asyncio.wait([awaited], timeout=self._text_s_max)
        finally:
            del self._awaited[number]
        self._check()
        return awaited.result() if awaited.done() else None

    def discard(self, utterance: int) -> None:
        newest = self._state.newest
        if newest is not None and self._numbers.get(newest.number) == utterance:
            self._take(Discard(0))
        for mine in [mine for mine, theirs in self._numbers.items() if theirs == utterance]:
            self._open.discard(mine)
            self._early.pop(mine, None)

    async def close(self) -> None:
        self._reader.cancel()
        await self._stream.close()

    # -- Inside

    async def _read(self) -> None:
        try:
            async for given in self._stream:
                if not isinstance(given, OnsetHeard):
                    self._hear(given)
            self._fail(BrokenContract(ErrorClass.NETWORK_TIMEOUT, "the STT service ended its stream"))
        except Exception as failure:  # noqa: BLE001 - raised by `finish`
            self._fail(failure)

    def _hear(self, given: Given) -> None:
        """Handle an event from the service. The service doesn't decide where an utterance begins and ends: only the
        ears do."""
        if isinstance(given, SilenceHeard):
            self._on_turn_over()
        else:
            self._text_at_ms = self._stream.at_ms
            self._take(given)

    def _take(self, given: Given) -> None:
        self._state, reports = step(self._state, given, self._stream.at_ms)
        for report in reports:
            if isinstance(report, Partial):
                stability = 0.5 if report.stability is None else report.stability
                self._tell(self._on_text, report.utterance, WrittenText(report.text, report.confidence, stability))
            elif isinstance(report, Final):
                self._note_final(report)

    def _note_final(self, final: Final) -> None:
        awaited = self._awaited.get(final.utterance)
        if awaited is not None:
            if not awaited.done():
                awaited.set_result(final)
        elif final.utterance in self._open:
            self._early[final.utterance] = final
        else:
            self._tell(self._on_late, final.utterance, _written(final))

    def _tell(self, notify: Callable[[int, WrittenText], None], number: int, text: WrittenText) -> None:
        if (utterance := self._numbers.get(number)) is not None:
            notify(utterance, text)

    def _covers(self, number: int, voiced_ms: int) -> bool:
        """Does the text from the service reach the end of the speech? Also yes if the service doesn't say where its
        words end."""
        end_ms = max((one.end_ms for one in self._spoken(number).texts), default=0)
        return not end_ms or end_ms >= voiced_ms - COVERED_MS

    def _given_up(self, number: int) -> WrittenText:
        """Stop waiting for the final text of this utterance, and return the text so far."""
        self._state, _ = step(self._state, TextOverdue(), self._stream.at_ms)
        spoken = self._spoken(number)
        return WrittenText(spoken.text, spoken.confidence, 1.0)

    def _spoken(self, number: int) -> ServiceUtterance:
        return next((one for one in self._state.known if one.number == number), ServiceUtterance(number))

    def _number_of(self, utterance: int) -> int:
        return next((mine for mine, theirs in self._numbers.items() if theirs == utterance), self._state.number)

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _fail(self, failure: Exception) -> None:
        self._failure = failure
        for awaited in self._awaited.values():
            if not awaited.done():
                awaited.cancel()


def _written(final: Final) -> WrittenText:
    return WrittenText(final.text, final.confidence, 1.0, final.last_confidence)
