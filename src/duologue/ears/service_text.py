"""Transcribes utterances with a service (`WordService`), for ears that detect speech on this computer.

Answers the requests of the state machine in `stream` as a local model would. A request for a partial transcript is
answered at once with the newest text. A request for a final transcript is answered when the service has the final text.
Rule: nothing is decided here. If the service fails, the stream of these ears fails with the error of the service.
"""

from __future__ import annotations

from collections.abc import Callable

from duologue.audio.frames import to_pcm
from duologue.ports.ears import Final, Heard, TurnOver
from duologue.ports.words import WordService, WordStream, WrittenText

from .model_input import Samples
from .silero import FRAME_MS
from .stream_state import Hypothesis, RequestText, StreamState, TextWork, TextWritten

QUEUE_FRAMES_MAX = 2_000  # audio that waits while the service connects: about a minute


class ServiceText:
    """The words of one stream. `report` is called with each report of the ears, and `take` with each input for the
    state machine in `stream`."""

    def __init__(
        self,
        service: WordService,
        turn_end_by_service: bool,
        take: Callable[[TextWritten], None],
        report: Callable[[Heard], None],
    ) -> None:
        self._service, self._turn_end_by_service = service, turn_end_by_service
        self._take, self._report = take, report
        self._words: WordStream | None = None
        self._waiting: list[bytes] = []  # audio until the service is connected
        self._begun = 0  # the newest utterance that the service knows of
        self._texts: dict[int, WrittenText] = {}
        self._finished = 0  # the newest utterance with a final text
        self._request: RequestText | None = None
        self._state = StreamState()

    async def open(self) -> None:
        """Connect to the service."""
        words = await self._service.open_words()
        words.follow(self._note_text, self._note_late, self._note_turn_over)
        for pcm in self._waiting:
            words.hear(pcm)
        self._waiting.clear()
        self._words = words
        self._begin_new()

    async def close(self) -> None:
        if self._words is not None:
            await self._words.close()

    def add(self, frame: Samples) -> None:
        """Pass the next frame of the stream to the service. Until the service is connected, frames are queued."""
        if self._words is not None:
            self._words.hear(to_pcm(frame))
        elif len(self._waiting) < QUEUE_FRAMES_MAX:
            self._waiting.append(to_pcm(frame))

    def follow(self, state: StreamState) -> None:
        """Tell the service which utterances have begun or were discarded."""
        before = {one.number for one in self._state.utterances}
        self._state = state
        self._begin_new()
        asked = self._request.utterance if self._request is not None else 0
        for number in before - {one.number for one in state.utterances} - {asked, self._finished}:
            self._texts.pop(number, None)
            if self._words is not None:
                self._words.discard(number)

    def ask(self, request: RequestText) -> None:
        """Request a transcript."""
        self._request = request

    def withdraw(self) -> None:
        """Cancel the newest request. If the service is already working on it, that work goes on."""
        self._request = None

    @property
    def is_asked(self) -> bool:
        return self._request is not None

    async def work(self) -> TextWritten | None:
        """Answer the newest request. Returns None if there is no request. Raises an exception if the service fails."""
        request, words = self._request, self._words
        if request is None or words is None:
            return None
        number = request.utterance
        if request.work is not TextWork.FINAL:
            self._request = None
            return TextWritten(number, request.work, self._hypothesis(number), self._state.frames)
        end_ms, voiced_ms = request.end * FRAME_MS, request.voiced_end * FRAME_MS
        written = await words.finish(number, end_ms, min(voiced_ms, end_ms))
        if self._request is request:
            self._request = None
        self._texts.pop(number, None)
        self._finished = number
        return TextWritten(number, request.work, _hypothesis_of(written), request.end)

    # -- What the service tells

    def _note_text(self, utterance: int, text: WrittenText) -> None:
        self._texts[utterance] = text
        oldest = self._state.utterances[0] if self._state.utterances else None
        if oldest is not None and oldest.number == utterance and not oldest.is_over:
            self._take(TextWritten(utterance, TextWork.PARTIAL, _hypothesis_of(text), self._state.frames))

    def _note_late(self, utterance: int, text: WrittenText) -> None:
        if text.text and not any(one.number == utterance for one in self._state.utterances):
            self._report(Final(text.text, text.confidence, utterance, text.last_confidence))

    def _note_turn_over(self) -> None:
        if self._turn_end_by_service and self._begun:
            self._report(TurnOver(self._begun))

    def _begin_new(self) -> None:
        if self._words is None:
            return
        for one in self._state.utterances:
            if one.number > self._begun:
                self._begun = one.number
                self._words.begin(one.number, one.first * FRAME_MS)

    def _hypothesis(self, utterance: int) -> Hypothesis:
        return _hypothesis_of(self._texts.get(utterance, WrittenText()))


def _hypothesis_of(text: WrittenText) -> Hypothesis:
    return Hypothesis(text.text, text.confidence, text.stability, last_confidence=text.last_confidence)
