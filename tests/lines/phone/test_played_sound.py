"""What the carrier plays, next to what the caller says at the same time."""

from __future__ import annotations

import numpy as np
import pytest

from duologue.lines.phone.carriers import TELNYX, TWILIO
from duologue.lines.phone.codecs import FRAME_MS, codec_of
from duologue.lines.phone.played_sound import EARLY_MS, TRIP_MS_MAX, PlayedSound

pytestmark = pytest.mark.req("H-12")

ULAW = codec_of(TWILIO, "PCMU", 8_000)
FRAME = 160  # samples in 20 ms
EARLY = EARLY_MS // FRAME_MS  # frames


def coded(level: int) -> bytes:
    """A frame of this level."""
    return ULAW.encode(np.full(FRAME, level, "<i2").tobytes())


def level_of(pcm: bytes) -> int:
    """The level of a frame, rounded to 1000; 0 for silence."""
    return round(int(np.frombuffer(pcm, "<i2").max()), -3) if pcm else 0


class Carrier:
    """Plays what it gets, `trip` frames of the caller after it was sent, and returns a mark after every fifth frame."""

    def __init__(self, trip: int, marks: bool = True) -> None:
        self.played = PlayedSound(ULAW, 8_000)
        self._trip, self._are_returned = trip, marks
        self._wire: list[tuple[int, int, int]] = []  # when it arrives, level, frames sent by then
        self._now = 0

    def send(self, *levels: int) -> None:
        for level in levels:
            self.played.add(coded(level))
            self._wire.append((self._now + self._trip, level, self.played.sent))

    def clear(self) -> None:
        self.played.clear()
        self._are_returned = False

    def tick(self) -> tuple[int, int]:
        """One frame of the caller: what the carrier really plays, and what the line reports."""
        real = 0
        if self._wire and self._wire[0][0] <= self._now:
            _, real, sent = self._wire.pop(0)
            if self._are_returned and sent % 5 == 0:
                self.played.confirm(sent)
        self._now += 1
        return real, level_of(self.played.take(FRAME))

    def ticks(self, count: int) -> tuple[list[int], list[int]]:
        found = [self.tick() for _ in range(count)]
        return [real for real, _ in found], [told for _, told in found]


def lead(real: list[int], told: list[int]) -> int:
    """How many frames earlier than the real sound the last level is reported."""
    return real.index(max(real)) - told.index(max(real))


RISING = tuple(range(1_000, 11_000, 1_000))


def test_nothing_is_reported_while_nothing_plays() -> None:
    played = PlayedSound(ULAW, 8_000)
    assert played.take(FRAME) == b""
    played.add(ULAW.silence)
    assert played.take(FRAME) == b"", "silence causes no echo"


def test_without_a_mark_sound_is_reported_as_soon_as_it_is_sent() -> None:
    carrier = Carrier(trip=10, marks=False)
    carrier.send(*RISING)
    assert carrier.ticks(10)[1] == list(RISING)


@pytest.mark.parametrize("trip", [1, 4, 12, 40])
def test_a_mark_aligns_the_sound_a_little_early(trip: int) -> None:
    carrier = Carrier(trip)
    carrier.send(*[1_000] * 20)
    carrier.ticks(80)
    carrier.send(*RISING)
    real, told = carrier.ticks(80)
    assert 0 <= lead(real, told) <= EARLY + 1, "from the second voice on, the round trip is known"


def test_sound_that_the_carrier_still_waits_for_is_reported_after_the_round_trip() -> None:
    carrier = Carrier(trip=8)
    carrier.send(*[1_000] * 10)
    carrier.ticks(60)
    carrier.send(9_000)
    told = carrier.ticks(20)[1]
    assert 8 - EARLY - 1 <= told.index(9_000) <= 8


def test_after_a_clear_only_what_was_already_playing_is_reported() -> None:
    carrier = Carrier(trip=5)
    carrier.send(*[1_000] * 10)
    carrier.ticks(40)
    carrier.send(*[2_000] * 50)
    carrier.ticks(10)
    carrier.clear()
    told = carrier.ticks(30)[1]
    assert 0 < sum(level > 0 for level in told) <= 6
    assert not any(told[6:])


def test_a_mark_from_before_a_clear_changes_nothing() -> None:
    played = PlayedSound(ULAW, 8_000)
    for _ in range(10):
        played.add(coded(1_000))
    sent = played.sent
    played.clear()
    played.confirm(sent)
    assert played.take(FRAME) == b""


def test_a_carrier_that_never_returns_a_mark_fills_no_memory() -> None:
    played = PlayedSound(ULAW, 8_000)
    for _ in range(TRIP_MS_MAX // FRAME_MS * 3):
        played.add(coded(1_000))
        played.take(FRAME)
    played.confirm(played.sent)
    assert level_of(played.take(FRAME)) == 0
    played.confirm(1)


def test_frames_of_the_caller_may_have_another_length() -> None:
    played = PlayedSound(ULAW, 8_000)
    for level in (1_000, 2_000, 3_000):
        played.add(coded(level))
    assert [len(played.take(240)) for _ in range(2)] == [480, 480]
    assert played.take(240) == b""


def test_sound_is_reported_at_the_callers_rate() -> None:
    wide = codec_of(TELNYX, "L16", 16_000)
    played = PlayedSound(wide, 8_000)
    tone = (np.sin(np.arange(320 * 10) / 20) * 8_000).astype("<i2")
    for at in range(0, tone.size, 320):
        played.add(wide.encode(tone[at : at + 320].tobytes()))
    told = b"".join(played.take(FRAME) for _ in range(8))
    assert len(told) == 8 * FRAME * 2
    assert 7_000 < np.abs(np.frombuffer(told, "<i2")).max() < 9_000
