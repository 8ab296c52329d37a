"""Sends the user's audio and words to the server, when `speech_floor` allows it.

Rule: audio is sent once and in order. Words are recorded as heard by the server only when the audio with these words
was sent.
"""

from __future__ import annotations

from collections.abc import Callable

from duologue.brains.realtime.uplink import RecentAudio

from . import client_messages as cm
from .client_messages import ClientMessage
from .live_session import GeminiSession
from .settings import INPUT_HZ, GeminiSettings
from .speech_floor import ACTIVE, HOLDS, FloorInput, FloorOutput, SpeechFloor, step


class UserSpeech:
    """The user's speech in one conversation, across its sessions. `on_change` is called when the state in
    `speech_floor` may have changed."""

    def __init__(self, settings: GeminiSettings, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._floor = SpeechFloor.QUIET
        self._preroll = RecentAudio(settings.preroll_ms, INPUT_HZ)
        self._held = RecentAudio(settings.held_ms_max, INPUT_HZ)
        self._unsent: list[str] = []  # words whose audio is held
        self._live: GeminiSession | None = None

    @property
    def is_quiet(self) -> bool:
        """Is the user silent, and is no audio held back?"""
        return self._floor is SpeechFloor.QUIET

    @property
    def requests(self) -> bool:
        """Is there speech that the server has not answered yet? If so, `request` returns messages that end this
        speech."""
        return FloorOutput.END in step(self._floor, FloorInput.ASKED)[1]

    def use(self, live: GeminiSession | None) -> None:
        """Send audio to this session from now on. Audio that was sent to the previous session isn't sent again."""
        self._live = live
        self._take(FloorInput.LOST)
        self.note_free()

    def forget(self) -> None:
        """Drop everything of the previous conversation."""
        self._floor = SpeechFloor.QUIET
        self._preroll.clear()
        self._drop()

    # -- What is heard

    def feed(self, pcm: bytes) -> None:
        """Take the next piece of audio: PCM at 16 kHz."""
        if self._floor is SpeechFloor.OPEN and self._live is not None:
            self._live.send(cm.audio(pcm))
        elif self._floor in HOLDS:
            self._held.add(pcm)
        else:
            self._preroll.add(pcm)

    def begin(self) -> None:
        """Record that a sound has begun. It may be speech."""
        before = self._floor
        self._take(FloorInput.SPEECH)
        if self._floor is not before:
            for pcm in self._preroll.take():
                self._held.add(pcm)

    def note_words(self, text: str, is_final: bool) -> None:
        """Record that the ears have found these words in the sound."""
        if not text.strip():
            return
        self._take(FloorInput.WORDS)
        self.note_free()
        if is_final and self._floor in ACTIVE and self._live is not None:
            self._live.copy.hear(text)
        elif is_final and self._floor is not SpeechFloor.QUIET:
            self._unsent.append(text)

    def end_turn(self) -> None:
        self._take(FloorInput.TURN_OVER)

    def discard(self) -> None:
        """Record that the sound was only noise, or wasn't meant for the model."""
        self._take(FloorInput.NOISE)

    def note_free(self) -> None:
        """If the server isn't answering any more, send it the user's words that were held back as audio until now."""
        if self._live is not None and not self._live.is_answering:
            self._take(FloorInput.FREED)

    def request(self, told: ClientMessage | None = None) -> list[ClientMessage]:
        """End the user's speech, and return the messages which tell the server to answer it; an empty list if there is
        no speech to answer. The texts in `told` come right before the message that ends the speech."""
        self._floor, outputs = step(self._floor, FloorInput.ASKED)
        messages: list[ClientMessage] = []
        for output in outputs:
            if output is FloorOutput.END:
                messages += [told] if told is not None else []
                messages.append(cm.end_activity())
            else:
                messages += self._messages(output)
        self._on_change()
        return messages

    # -- Inside

    def _take(self, heard: FloorInput) -> None:
        self._floor, outputs = step(self._floor, heard)
        for output in outputs:
            for message in self._messages(output):
                assert self._live is not None, output
                self._live.send(message)
        self._on_change()

    def _messages(self, output: FloorOutput) -> list[ClientMessage]:
        match output:
            case FloorOutput.BEGIN:
                assert self._live is not None
                return [self._live.begin_activity()]
            case FloorOutput.HELD:
                for text in self._unsent:
                    if self._live is not None:
                        self._live.copy.hear(text)
                self._unsent = []
                return [cm.audio(pcm) for pcm in self._held.take()]
            case FloorOutput.DROP:
                self._drop()
        return []

    def _drop(self) -> None:
        self._held.clear()
        self._unsent = []
