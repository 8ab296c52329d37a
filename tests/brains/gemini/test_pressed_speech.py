"""Push-to-talk: onsets by level, texts by the server, one final text for each turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from duologue.brains.gemini import client_messages as cm
from duologue.brains.gemini.answer import GeminiAnswer
from duologue.brains.gemini.pressed_speech import PressedSpeech
from duologue.brains.gemini.server_copy import ServerCopy
from duologue.brains.gemini.server_messages import ModelSound, UserTranscribed
from duologue.brains.gemini.settings import GeminiSettings
from duologue.brains.gemini.user_speech import UserSpeech
from duologue.ports.ears import Commit, Discard, Final, Frame, Heard, Incoming, Partial, SpeechBegan
from duologue.runtime.simulated_clock import run_simulated

LOUD = Frame(b"\x00\x20" * 320)


class FakeSession:
    """The part of a session that push-to-talk needs."""

    def __init__(self) -> None:
        self.copy = ServerCopy()
        self.is_answering = False
        self.answer: GeminiAnswer | None = None
        self.sent: list[Any] = []

    def send(self, message: cm.ClientMessage) -> None:
        self.sent.append(message)

    def begin_activity(self) -> cm.ClientMessage:
        return cm.begin_activity()

    def request(self, answer: GeminiAnswer, messages: list[cm.ClientMessage]) -> None:
        self.answer = answer
        self.sent += messages


def press(act: Callable[[PressedSpeech, FakeSession, asyncio.Queue[Any]], Awaitable[None]]) -> list[Heard]:
    """What is heard while this happens, in simulated time."""

    async def run() -> list[Heard]:
        live = FakeSession()
        speech = UserSpeech(GeminiSettings(), lambda: None)
        pressed = PressedSpeech(GeminiSettings(transcript_ms_max=1_000), speech)
        speech.use(live)  # type: ignore[arg-type]
        pressed.use(live)  # type: ignore[arg-type]
        audio: asyncio.Queue[Any] = asyncio.Queue()

        async def incoming() -> AsyncIterator[Incoming]:
            while (item := await audio.get()) is not None:
                if isinstance(item, Frame):
                    speech.feed(item.pcm)
                yield item

        async def drive() -> None:
            await act(pressed, live, audio)
            await asyncio.sleep(2)
            audio.put_nowait(None)

        driving = asyncio.ensure_future(drive())
        async with aclosing(pressed.listen(incoming())) as stream:
            found = [heard async for heard in stream]
        await driving
        return found

    return run_simulated(run())


async def hold_key(audio: asyncio.Queue[Any]) -> None:
    for _ in range(20):
        audio.put_nowait(LOUD)
    audio.put_nowait(Commit(1))
    await asyncio.sleep(0.1)


def test_the_transcript_is_final_when_the_answer_begins() -> None:
    async def act(pressed: PressedSpeech, live: FakeSession, audio: asyncio.Queue[Any]) -> None:
        await hold_key(audio)
        assert next(iter(live.sent[-1]["realtimeInput"])) == "activityEnd"
        pressed.note_transcript(UserTranscribed(" hello"))
        pressed.note_transcript(UserTranscribed(" you"))
        assert live.answer is not None
        live.answer.take(ModelSound(bytes(960)))
        pressed.note_change()
        pressed.note_transcript(UserTranscribed(" too late"))

    began, first, second, final = press(act)
    assert isinstance(began, SpeechBegan)
    assert [part.text for part in (first, second) if isinstance(part, Partial)] == ["hello", "hello you"]
    assert final == Final("hello you", utterance=1)


def test_the_server_can_say_that_a_transcript_is_complete() -> None:
    async def act(pressed: PressedSpeech, live: FakeSession, audio: asyncio.Queue[Any]) -> None:
        await hold_key(audio)
        pressed.note_transcript(UserTranscribed("yes", is_final=True))

    assert press(act)[-1] == Final("yes", utterance=1)


def test_a_transcript_that_never_comes_is_said_to_be_missing() -> None:
    async def act(pressed: PressedSpeech, live: FakeSession, audio: asyncio.Queue[Any]) -> None:
        await hold_key(audio)

    assert press(act)[-1] == Final("[not transcribed]", utterance=1)


def test_a_lost_session_ends_an_open_turn() -> None:
    async def act(pressed: PressedSpeech, live: FakeSession, audio: asyncio.Queue[Any]) -> None:
        await hold_key(audio)
        pressed.note_transcript(UserTranscribed("half a"))
        pressed.lose()

    assert press(act)[-1] == Final("half a", utterance=1)


def test_a_discarded_sound_requests_nothing() -> None:
    async def act(pressed: PressedSpeech, live: FakeSession, audio: asyncio.Queue[Any]) -> None:
        for item in (*[LOUD] * 10, Discard(1)):
            audio.put_nowait(item)
        await asyncio.sleep(0.1)
        assert live.answer is None

    assert [type(heard) for heard in press(act)] == [SpeechBegan]
