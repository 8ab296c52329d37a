"""Which of the user's audio goes to the server, and which words count as heard by it."""

from __future__ import annotations

from typing import Any

from duologue.brains.gemini import client_messages as cm
from duologue.brains.gemini.server_copy import ServerCopy
from duologue.brains.gemini.settings import GeminiSettings
from duologue.brains.gemini.user_speech import UserSpeech
from duologue.ports import UserSaid

FRAME = b"\x01\x00" * 320  # 20 ms


class FakeSession:
    """The part of a session that the user's speech needs."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.copy = ServerCopy()
        self.is_answering = False

    def send(self, message: cm.ClientMessage) -> None:
        self.sent.append(next(iter(message["realtimeInput"])))

    def begin_activity(self) -> cm.ClientMessage:
        return cm.begin_activity()

    def has_heard(self, text: str) -> bool:
        return self.copy.snapshot().catch_up((UserSaid(1, text),), 1).told == ()


def speech_to(live: FakeSession, preroll_ms: int = 40) -> UserSpeech:
    speech = UserSpeech(GeminiSettings(preroll_ms=preroll_ms), lambda: None)
    speech.use(live)  # type: ignore[arg-type]
    return speech


def test_speech_with_words_streams_from_a_little_before_its_onset() -> None:
    live = FakeSession()
    speech = speech_to(live)
    for _ in range(10):
        speech.feed(FRAME)
    speech.begin()
    speech.feed(FRAME)
    assert live.sent == []
    speech.note_words("hello", is_final=False)
    speech.feed(FRAME)
    assert live.sent == ["activityStart", *["audio"] * 4], "40 ms before the onset, 20 ms held, 20 ms live"
    speech.note_words("hello there", is_final=True)
    assert live.has_heard("hello there")
    speech.end_turn()
    speech.feed(FRAME)
    assert len(live.sent) == 5, "nothing between two turns"
    assert speech.request() == [cm.end_activity()]
    assert speech.is_quiet


def test_speech_over_an_answer_waits_and_can_still_be_dropped() -> None:
    live = FakeSession()
    live.is_answering = True
    speech = speech_to(live)
    speech.begin()
    speech.feed(FRAME)
    speech.note_words("mhm", is_final=True)
    speech.discard()
    assert live.sent == []
    assert not live.has_heard("mhm")
    speech.begin()
    speech.feed(FRAME)
    speech.note_words("wait", is_final=True)
    live.is_answering = False
    speech.note_free()
    assert live.sent == ["activityStart", "audio"]
    assert live.has_heard("wait")


def test_a_turn_that_was_held_goes_with_the_request_and_what_is_told_before_its_end() -> None:
    live = FakeSession()
    live.is_answering = True
    speech = speech_to(live)
    speech.begin()
    speech.feed(FRAME)
    speech.note_words("late", is_final=True)
    speech.end_turn()
    assert speech.requests
    told = cm.text_in_activity([cm.note("x")])
    assert speech.request(told) == [cm.begin_activity(), cm.audio(FRAME), told, cm.end_activity()]
    assert live.has_heard("late")
    assert not speech.requests


def test_audio_that_a_lost_session_got_is_not_sent_again() -> None:
    first, second = FakeSession(), FakeSession()
    speech = speech_to(first)
    speech.begin()
    speech.feed(FRAME)
    speech.note_words("hello", is_final=False)
    speech.use(None)
    speech.note_words("hello you", is_final=True)
    speech.use(second)  # type: ignore[arg-type]
    assert second.sent == []
    assert not second.has_heard("hello you"), "so it is told as text"


def test_audio_that_no_session_got_goes_to_the_next_one() -> None:
    live = FakeSession()
    speech = UserSpeech(GeminiSettings(), lambda: None)
    speech.begin()
    speech.feed(FRAME)
    speech.note_words("hello", is_final=True)
    speech.use(live)  # type: ignore[arg-type]
    assert live.sent == ["activityStart", "audio"]
    assert live.has_heard("hello")


def test_a_new_conversation_gets_nothing_of_the_last_one() -> None:
    live = FakeSession()
    speech = UserSpeech(GeminiSettings(), lambda: None)
    speech.begin()
    speech.feed(FRAME)
    speech.note_words("secret", is_final=True)
    speech.forget()
    speech.use(live)  # type: ignore[arg-type]
    assert live.sent == []
    assert speech.is_quiet
