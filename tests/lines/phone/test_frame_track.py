"""The sound of a voice as frames: sent, heard, and sent again from what wasn't heard."""

from __future__ import annotations

from duologue.lines.phone.carriers import TWILIO
from duologue.lines.phone.codecs import codec_of
from duologue.lines.phone.frame_track import FrameTrack
from duologue.ports.sound import Sound

CODEC = codec_of(TWILIO, "PCMU", 8_000)


def track(ms: int) -> FrameTrack:
    made = FrameTrack(1, CODEC)
    made.add(Sound(ms, bytes(ms * 48), 24_000))
    made.complete()
    return made


def test_the_last_frame_is_filled_up_and_its_silence_is_not_counted() -> None:
    made = track(50)
    assert made.total == 3
    assert {len(made.next()) for _ in range(3)} == {160}
    made.note_heard(3)
    assert made.heard_ms == 50


def test_after_a_hold_the_first_unheard_frame_is_next() -> None:
    made = track(100)
    frames = [made.next() for _ in range(4)]
    made.note_heard(2)
    made.rewind()
    assert made.is_out
    assert made.next() == frames[2]
    assert made.take == 2


def test_what_was_heard_never_goes_back() -> None:
    made = track(100)
    for _ in range(5):
        made.next()
    made.note_heard(4)
    made.note_heard(1)
    assert made.heard == 4
    assert not made.is_out
    assert not made.has_more


def test_sound_that_has_only_a_length_becomes_silence() -> None:
    made = FrameTrack(1, CODEC)
    made.add(Sound(40))
    assert (made.total, made.has_more, made.is_all_sent) == (2, True, False)
