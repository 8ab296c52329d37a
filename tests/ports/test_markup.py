"""A text with speech tags: what is left of it, and which voices get the tags."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from duologue.ports import Sound
from duologue.ports.markup import SpeechTag, TaggedText, speak_tagged
from duologue.runtime.simulated_clock import run_simulated

TEXT = TaggedText(
    "one two three",
    (SpeechTag("speed", "0.8", 0, 13), SpeechTag("phonemes", "a", 0, 7), SpeechTag("break", "300", 8, 8)),
)


def test_the_rest_of_a_text_keeps_the_tags_that_still_apply() -> None:
    assert TEXT.after(0) == TEXT
    rest = TEXT.after(4)
    assert rest.text == "two three"
    assert rest.tags == (SpeechTag("speed", "0.8", 0, 9), SpeechTag("break", "300", 4, 4))
    assert TEXT.after(13) == TaggedText("")


class Plain:
    def __init__(self) -> None:
        self.said: list[object] = []

    async def speak(self, text: str) -> AsyncGenerator[Sound, None]:
        self.said.append(text)
        yield Sound(20)


class Tagged(Plain):
    async def speak_tagged(self, tagged: TaggedText) -> AsyncGenerator[Sound, None]:
        self.said.append(tagged)
        yield Sound(20)


def test_only_a_voice_that_takes_markup_gets_tags() -> None:
    async def said(voice: Plain) -> list[object]:
        async for _ in speak_tagged(voice, TEXT):
            pass
        return voice.said

    assert run_simulated(said(Plain())) == [TEXT.text]
    assert run_simulated(said(Tagged())) == [TEXT]
