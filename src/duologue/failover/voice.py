"""Uses several voices as one: if one fails, the next one goes on.

If a voice fails before its first sound, the next one says the same sentence. While the listener still hears earlier
sentences, the sound of a sentence is held back until the sentence is complete, so that another voice can still say the
whole sentence. A voice that reports the times of its words can also be replaced in the middle of a sentence: its sound
is passed on only up to the end of a word, so the next voice can go on with the next word. Rule: no word is said twice
or cut off.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from duologue.ports.markup import TaggedText, speak_tagged
from duologue.ports.playback_lead import playback_lead_ms
from duologue.ports.sound import Sound
from duologue.ports.streams import reading, with_heartbeats
from duologue.ports.switches import Switch
from duologue.ports.voice import Voice
from duologue.voice.ledger import Ledger

from .first_part import first_part
from .services import Services

LEAD_MS_MIN = 700  # earlier sound that must be left: the line tells some hundred milliseconds late what was heard
LOOK_MS = 100


class FallbackVoice(Voice):
    """Several voices that are used as one: the first healthy voice speaks. Made by `Fallback`."""

    def __init__(self, services: Services[Voice], after_ms: int | None) -> None:
        self._services, self._after_ms = services, after_ms
        self._times_words: set[int] = set()  # the voices that have reported word times

    @property
    def in_use(self) -> str:
        """The name of the voice that spoke last."""
        return self._services.in_use

    def speak(self, text: str) -> AsyncGenerator[Sound, None]:
        """Yield the sound of a sentence, spoken by the first voice that works."""
        return self._speak(TaggedText(text))

    def speak_tagged(self, tagged: TaggedText) -> AsyncGenerator[Sound, None]:
        """Yield the sound of a sentence with tags, spoken by the first voice that works. Each voice gets only the tags
        that it supports."""
        return self._speak(tagged)

    async def _speak(self, rest: TaggedText) -> AsyncGenerator[Sound, None]:
        tried = set[int]()
        while rest.text:
            won = await first_part(self._services, tried, partial(_say, rest), self._after_ms)
            told = SpokenSound(rest.text, holds_back=won.index in self._times_words)
            async with reading(won.stream) as sounds:
                try:
                    for sound in won.parts:
                        for piece in told.feed(sound):
                            yield piece
                    async with aclosing(_while_leading(sounds, told)) as ready:
                        async for piece in ready:
                            yield piece
                except Exception as failure:
                    self._services.note_failed(won.index, failure)
                    tried.add(won.index)
                    if not told.is_at_a_word or len(tried) == len(self._services.all):
                        raise
                    rest = rest.after(len(rest.text.rstrip()) - len(told.rest))
                    continue
            if told.has_words:
                self._times_words.add(won.index)
            for piece in told.end():
                yield piece
            return

    def follow_switches(self, notify: Callable[[Switch], None]) -> Callable[[], None]:
        """Call `notify` after each switch. Returns a function that unsubscribes."""
        return self._services.follow(notify)


def _say(tagged: TaggedText, voice: Voice) -> AsyncIterator[Sound]:
    return speak_tagged(voice, tagged)


async def _while_leading(sounds: AsyncIterator[Sound], told: SpokenSound) -> AsyncGenerator[Sound, None]:
    """Add the sounds, and yield those that may be passed on. If the listener runs out of sound before a new sound
    comes, the sounds that are held back are yielded too."""
    if not told.waits:
        async for sound in sounds:
            for piece in told.feed(sound):
                yield piece
        return
    async with reading(with_heartbeats(sounds, LOOK_MS / 1000)) as beats:
        async for beat in beats:
            for piece in told.feed(beat) if beat is not None else told.look():
                yield piece


class SpokenSound:
    """The part of a sentence that one voice has said. No sound is passed on while the listener still has LEAD_MS_MIN of
    earlier sound. With `holds_back`, or once the voice has reported a word time, sound is passed on only up to the end
    of the last word whose time is known. The sound after that waits."""

    def __init__(self, text: str, holds_back: bool) -> None:
        self._ledger = Ledger()
        self._ledger.begin(text)
        self._holds_back = holds_back
        self._held: list[Sound] = []
        self._given_ms = 0
        self._word_ms = 0  # where the last known word ends
        self.has_words = False
        self.waits = playback_lead_ms() > LEAD_MS_MIN  # for the whole sentence

    @property
    def is_at_a_word(self) -> bool:
        """Can another voice go on from here? True if no sound was passed on yet, or if the sound that was passed on
        ends with a whole word."""
        return self._given_ms == 0 or (self._holds_back and self._given_ms == self._word_ms)

    @property
    def rest(self) -> str:
        """The text that has not been said yet."""
        return self._ledger.split(self._given_ms).unheard.strip()

    def feed(self, sound: Sound) -> Iterator[Sound]:
        """Add a sound, and return the sounds that may be passed on now."""
        start_ms = self._ledger.total_ms
        self._ledger.add(sound)
        if sound.words:
            self.has_words = self._holds_back = True
            self._word_ms = max(self._word_ms, start_ms + sound.words[-1].end_ms)
        self._held.append(sound)
        return self.look()

    def look(self) -> Iterator[Sound]:
        """Return the sounds that may be passed on now."""
        self.waits = self.waits and playback_lead_ms() > LEAD_MS_MIN
        if self.waits:
            return iter(())
        return self._release(self._word_ms if self._holds_back else self._ledger.total_ms)

    def end(self) -> Iterator[Sound]:
        """Return the sound that was held back, because the sentence is over."""
        return self._release(self._ledger.total_ms)

    def _release(self, until_ms: int) -> Iterator[Sound]:
        while self._held and self._given_ms < until_ms:
            sound = self._held.pop(0)
            room_ms = until_ms - self._given_ms
            if sound.ms > room_ms:
                sound, later = split_sound(sound, room_ms)
                self._held.insert(0, later)
            self._given_ms += sound.ms
            yield sound


def split_sound(sound: Sound, ms: int) -> tuple[Sound, Sound]:
    """Split a sound into its first `ms` milliseconds and the rest. A word belongs to the part in which it ends."""
    size = sound.rate_hz * ms // 1000 * 2
    first = tuple(word for word in sound.words if word.end_ms <= ms)
    later = tuple(
        replace(word, start_ms=word.start_ms - ms, end_ms=word.end_ms - ms) for word in sound.words if word.end_ms > ms
    )
    return (
        replace(sound, ms=ms, pcm=sound.pcm[:size], words=first),
        replace(sound, ms=sound.ms - ms, pcm=sound.pcm[size:], words=later),
    )
