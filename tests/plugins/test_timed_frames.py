"""Frames of a TTS plugin: their sound, and the words that come with them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from duologue.plugins.timed_frames import feed_frame
from duologue.ports import ServiceError, Word
from duologue.voice.timed_sound import TimedSound


class Timed(str):
    """A word with times, like LiveKit's."""

    start_time: object
    end_time: object


def timed(text: str, start: object, end: object) -> Timed:
    word = Timed(text)
    word.start_time, word.end_time = start, end
    return word


def frame(ms: int, *words: Timed, channels: int = 1) -> Any:
    data = memoryview(bytearray(48 * ms)).cast("h")
    userdata = {"lk.timed_transcripts": list(words)} if words else {}
    return SimpleNamespace(sample_rate=24_000, num_channels=channels, data=data, userdata=userdata)


def test_words_come_with_their_frame_and_those_without_times_are_left_out() -> None:
    sound = TimedSound("Vendor")
    words = timed("one ", 0.0, 0.08), timed("none", None, None), timed("nan", 0, float("nan")), timed("end", None, 0.1)
    found = [*feed_frame(sound, frame(100, *words), "Vendor"), *feed_frame(sound, frame(20), "Vendor"), *sound.rest()]
    assert sum(one.ms for one in found) == 120
    assert [word for one in found for word in one.words] == [Word("one", 0, 80), Word("end", 20, 20)]


def test_two_channels_are_refused_with_what_to_do() -> None:
    with pytest.raises(ServiceError, match="2 channels: ask it for 1 channel"):
        feed_frame(TimedSound("Vendor"), frame(20, channels=2), "Vendor")


def test_the_key_of_the_words_is_that_of_the_package() -> None:
    from tests.needs import needs_package

    types = needs_package("livekit.agents.types", "pip install 'duologue[dev]'")
    assert types.USERDATA_TIMED_TRANSCRIPT == "lk.timed_transcripts"
