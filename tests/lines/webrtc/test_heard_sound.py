"""What was heard of a voice, by the packets that were sent and acknowledged."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from duologue.lines.webrtc import heard_sound as hs
from duologue.ports.line import Finished, Played, Stopped

PACKET = 960
PIECE = 480


def sent(voice: int, packets: int, start: int = 0, stamp: int = 0) -> list[hs.HeardInput]:
    return [hs.VoiceSent(stamp + at * PACKET, voice, start + at * PIECE, PIECE) for at in range(packets)]


def run(*given: hs.HeardInput) -> tuple[hs.HeardState, list[hs.Report]]:
    state, reports = hs.HeardState(), []
    for one in given:
        state, told = hs.step(state, one)
        reports += told
    return state, reports


def test_what_the_client_plays_is_heard() -> None:
    state, reports = run(*sent(1, 10), hs.StampHeard(3 * PACKET, 0), hs.StampHeard(3 * PACKET, 9))
    assert reports == [Played(1, 60)]
    assert len(state.spans) == 1


def test_a_voice_is_finished_when_its_last_sample_was_heard() -> None:
    _, reports = run(*sent(1, 10), hs.VoiceComplete(1, 10 * PIECE), hs.StampHeard(9 * PACKET, 0))
    assert reports == [Played(1, 180)]
    _, reports = run(*sent(1, 10), hs.VoiceComplete(1, 10 * PIECE), hs.StampHeard(99 * PACKET, 0))
    assert reports == [Finished(1, 200)]


def test_silence_between_two_parts_of_a_voice_is_not_heard_of_it() -> None:
    held = [*sent(1, 5), *sent(1, 5, start=5 * PIECE, stamp=20 * PACKET)]
    assert run(*held, hs.StampHeard(15 * PACKET, 0))[1] == [Played(1, 100)]
    assert run(*held, hs.StampHeard(22 * PACKET, 0))[1] == [Played(1, 140)]


def test_a_voice_that_is_cleared_counts_what_was_on_its_way() -> None:
    cleared = [*sent(1, 10), hs.StampHeard(4 * PACKET, 0), hs.VoiceCleared(1, 10 * PIECE, 0)]
    _, reports = run(*cleared, hs.StampHeard(7 * PACKET, 50), hs.StampHeard(10 * PACKET, 110))
    assert reports == [Played(1, 80), Stopped(1, 200)]


def test_a_voice_that_is_cleared_on_a_dead_path_counts_what_was_acknowledged() -> None:
    cleared = [*sent(1, 10), hs.StampHeard(4 * PACKET, 0), hs.VoiceCleared(1, 10 * PIECE, 0)]
    _, reports = run(*cleared, hs.StampHeard(4 * PACKET, 100), hs.StampHeard(4 * PACKET, hs.STOP_MS_MAX))
    assert reports == [Played(1, 80), Stopped(1, 80)]


def test_a_new_voice_ends_one_that_was_cleared() -> None:
    _, reports = run(*sent(1, 10), hs.VoiceCleared(1, 10 * PIECE, 0), *sent(2, 1, stamp=10 * PACKET))
    assert reports == [Stopped(1, 200)]


def test_a_voice_of_which_nothing_was_sent_here_ends_where_it_was() -> None:
    assert run(hs.VoiceCleared(3, 0, 0))[1] == [Stopped(3, 0)]
    assert run(hs.VoiceComplete(3, 50 * PIECE))[1] == [Finished(3, 1_000)]


def test_another_carrier_takes_over() -> None:
    assert run(*sent(1, 10), hs.SpansDropped(), hs.StampHeard(9 * PACKET, 0)) == (hs.HeardState(), [])


@given(st.lists(st.integers(0, 40), max_size=20), st.integers(1, 20))
def test_no_more_is_heard_than_was_sent_and_never_less_than_before(stamps: list[int], packets: int) -> None:
    acknowledged = [hs.StampHeard(stamp * PACKET // 3, 0) for stamp in stamps]
    _, reports = run(*sent(1, packets), *acknowledged)
    heard = [report.heard_ms for report in reports]
    assert heard == sorted(set(heard))
    assert all(ms <= packets * 20 for ms in heard)
