"""Push-to-talk without local VAD and STT: sound is detected by its loudness, and the server transcribes.

The server transcribes a turn only when its activity ends, and the end of an activity also requests an answer. So the
server begins its answer when the turn is over, and the runtime's request later claims this answer. Rule: every
utterance gets exactly one final text. If no transcript arrives in time, the final text is "[not transcribed]".
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from duologue.brains.realtime.server_events import AudioCommitted, Happened, Transcribed, Transcribing, Untranscribed
from duologue.brains.realtime.uplink import Onsets
from duologue.brains.realtime.utterances import Utterances
from duologue.ports.ears import Commit, Discard, Frame, Heard, Incoming

from .answer import GeminiAnswer
from .live_session import GeminiSession
from .server_messages import UserTranscribed
from .settings import INPUT_HZ, GeminiSettings
from .user_speech import UserSpeech


class PressedSpeech:
    """The user's turns in one conversation with push-to-talk. A Commit from the runtime ends each turn."""

    def __init__(self, settings: GeminiSettings, speech: UserSpeech) -> None:
        self._settings = settings
        self._speech = speech
        self._heard: asyncio.Queue[Heard | None] = asyncio.Queue()
        self._utterances = Utterances(server_decides=False)
        self._onsets = Onsets(INPUT_HZ)
        self._turns = 0
        self._open = ""  # the turn whose text is still to come
        self._text = ""  # the transcript of this turn so far
        self._limit: asyncio.TimerHandle | None = None
        self._live: GeminiSession | None = None

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncGenerator[Heard, None]:
        pump = asyncio.get_running_loop().create_task(self._pump(audio), name="gemini turns")
        try:
            while (found := await self._heard.get()) is not None:
                yield found
            pump.result()
        finally:
            pump.cancel()

    async def _pump(self, audio: AsyncIterator[Incoming]) -> None:
        try:
            async for item in audio:
                match item:
                    case Frame():
                        self._feed(item.pcm)
                    case Commit():
                        self._commit()
                    case Discard():
                        self._utterances.forget_unnamed()
                        self._text = ""
                        self._speech.discard()
        finally:
            self._heard.put_nowait(None)

    def _feed(self, pcm: bytes) -> None:
        onset = self._onsets.feed(pcm)
        if onset is None:
            return
        if onset:
            self._speech.begin()
            self._speech.note_words("(sound)", is_final=False)  # speech while the key is pressed is for the model
        for heard in self._utterances.begin_unnamed() if onset else self._utterances.end_unnamed():
            self._heard.put_nowait(heard)

    def _commit(self) -> None:
        """End the turn. The message that tells the server about the end also requests the turn's transcript and an
        answer."""
        self._finish()
        self._turns += 1
        self._open = f"turn_{self._turns}"
        self._take(AudioCommitted(self._open))
        self._speech.end_turn()
        if self._live is None or not self._speech.requests:
            self._take(Transcribed(self._open, self._text))
            self._close_turn()
            return
        self._live.request(GeminiAnswer(), self._speech.request())
        self._limit = asyncio.get_running_loop().call_later(self._settings.transcript_ms_max / 1000, self._finish)

    # -- Notifications of the session

    def use(self, live: GeminiSession | None) -> None:
        """Use this session from now on."""
        self._live = live

    def note_transcript(self, said: UserTranscribed) -> None:
        self._text += said.text
        if not self._open:
            return
        self._take(Transcribing(self._open, said.text))
        if said.is_final:
            self._finish()

    def note_change(self) -> None:
        """Called when the server has begun or ended an answer. If it has begun one, a transcript of which some words
        have arrived is treated as complete."""
        answer = self._live.answer if self._live is not None else None
        if self._text.strip() and answer is not None and answer.begun.done():
            self._finish()

    def lose(self) -> None:
        """Called when the session is lost. An utterance that still waits for its transcript gets the words that have
        arrived so far as its final text."""
        self._live = None
        for heard in self._utterances.lose():
            self._heard.put_nowait(heard)
        self._close_turn()

    def forget(self) -> None:
        """Drop everything of the previous conversation."""
        while not self._heard.empty():
            self._heard.get_nowait()
        self._close_turn()

    # -- Inside

    def _finish(self) -> None:
        if self._open:
            done = Transcribed(self._open, self._text) if self._text.strip() else Untranscribed(self._open)
            self._take(done)
            self._close_turn()

    def _close_turn(self) -> None:
        self._open = self._text = ""
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _take(self, happened: Happened) -> None:
        for heard in self._utterances.take(happened):
            self._heard.put_nowait(heard)
