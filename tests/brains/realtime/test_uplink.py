"""The user's audio on its way to the server: buffered within limits, resampled, and watched for onsets."""

from __future__ import annotations

from array import array

from duologue.brains.realtime.uplink import Onsets, RecentAudio, UplinkResampler
from duologue.ports.ears import Frame

MS_BYTES = 48  # of 16-bit samples at 24 kHz


def loud(ms: int) -> bytes:
    return array("h", [8_000, -8_000] * (12 * ms)).tobytes()


def quiet(ms: int) -> bytes:
    return bytes(ms * MS_BYTES)


def test_recent_audio_drops_the_oldest_when_it_is_full() -> None:
    recent = RecentAudio(ms_max=40)
    for number in range(5):
        recent.add(bytes([number]) * (20 * MS_BYTES))
    assert [piece[0] for piece in recent.take()] == [3, 4]
    assert recent.take() == [], "taking empties it"


def test_cleared_audio_is_gone_and_its_room_is_free() -> None:
    recent = RecentAudio(ms_max=40)
    recent.add(quiet(40))
    recent.clear()
    recent.add(quiet(20))
    recent.add(quiet(20))
    assert len(recent.take()) == 2


def test_audio_at_the_protocols_rate_is_sent_unchanged() -> None:
    assert UplinkResampler().convert(Frame(loud(20), 24_000)) == loud(20)


def test_audio_of_another_rate_keeps_its_length() -> None:
    resampler = UplinkResampler()
    sent = sum(len(resampler.convert(Frame(bytes(640), 16_000))) for _ in range(100))
    assert abs(sent // MS_BYTES - 2_000) <= 40, "two seconds, but for what the filter still holds"


def test_an_onset_needs_60_ms_of_sound_and_ends_after_400_ms_of_silence() -> None:
    onsets = Onsets()
    assert [onsets.feed(loud(20)) for _ in range(4)] == [None, None, True, None]
    assert onsets.is_on
    assert [onsets.feed(quiet(20)) for _ in range(19)] == [None] * 19
    assert onsets.feed(quiet(20)) is False
    assert not onsets.is_on


def test_a_click_is_no_onset() -> None:
    onsets = Onsets()
    assert [onsets.feed(pcm) for pcm in (loud(20), loud(20), quiet(20), loud(20), loud(20))] == [None] * 5
