"""What is to be played, sample by sample: held, resumed, cleared and finished, and never a sample twice or lost."""

from __future__ import annotations

import threading
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.lines.playout import PlayedAmount, Playout
from tests.limits import WAIT_S

RATE_HZ = 16_000
MS = RATE_HZ // 1000  # samples


def pcm(*values: int) -> bytes:
    return b"".join(value.to_bytes(2, "little", signed=True) for value in values)


def run_of(start: int, samples: int) -> bytes:
    """Distinct samples: start, start + 1, …, and never silence."""
    return pcm(*(1 + value % 30_000 for value in range(start, start + samples)))


def values(data: bytes) -> list[int]:
    return [int.from_bytes(data[at : at + 2], "little", signed=True) for at in range(0, len(data), 2)]


def sounding(data: bytes) -> list[int]:
    """Without the silence in between."""
    return [value for value in values(data) if value]


def playout(*pieces: int, voice: int = 1) -> Playout:
    made, start = Playout(RATE_HZ), 0
    for samples in pieces:
        made.play(voice, run_of(start, samples))
        start += samples
    return made


# -- Playing


@pytest.mark.req("V-01")
def test_pieces_are_one_stream_whatever_is_taken_at_a_time() -> None:
    out = playout(5, 1, 7)
    assert out.take(4) + out.take(4) + out.take(5) == run_of(0, 13)


def test_where_there_is_nothing_it_is_silent_and_a_gap_is_not_played() -> None:
    out = playout(3)
    assert values(out.take(5)) == [1, 2, 3, 0, 0]
    assert values(out.take(2)) == [0, 0]
    out.play(1, run_of(3, 2))
    assert values(out.take(3)) == [4, 5, 0]
    assert out.heard() == PlayedAmount(1, 0, False)


def test_nothing_at_all_is_silence() -> None:
    out = Playout(RATE_HZ)
    assert out.take(4) == bytes(8)
    assert out.take(0) == b""
    assert out.heard() is None


def test_an_empty_piece_is_nothing() -> None:
    out = playout(0, 2, 0, 2)
    assert values(out.take(6)) == [1, 2, 3, 4, 0, 0]


@pytest.mark.req("V-01")
def test_what_was_heard_is_counted_in_samples() -> None:
    out = playout(100 * MS)
    for taken_ms in (1, 2, 7, 90):
        out.take(taken_ms * MS)
    assert out.heard() == PlayedAmount(1, 100, False)
    out = playout(10 * MS)
    out.take(MS - 1)
    assert out.heard() == PlayedAmount(1, 0, False)
    out.take(1)
    assert out.heard() == PlayedAmount(1, 1, False)


# -- Holding


@pytest.mark.req("V-03", "M-14")
def test_held_is_silent_from_the_next_sample_and_goes_on_from_the_very_one() -> None:
    out = playout(10)
    assert values(out.take(3)) == [1, 2, 3]
    out.hold(1)
    assert out.take(100) == bytes(200)
    assert out.heard() == PlayedAmount(1, 0, False)
    out.resume(1)
    assert values(out.take(8)) == [4, 5, 6, 7, 8, 9, 10, 0]


def test_what_comes_while_it_is_held_is_kept() -> None:
    out = playout(2)
    out.hold(1)
    out.play(1, run_of(2, 2))
    out.finish(1)
    assert out.take(4) == bytes(8)
    assert out.heard() == PlayedAmount(1, 0, False)
    out.resume(1)
    assert values(out.take(4)) == [1, 2, 3, 4]
    assert out.heard() == PlayedAmount(1, 0, True)


def test_holding_twice_and_resuming_twice_is_the_same_as_once() -> None:
    out = playout(4)
    out.hold(1)
    out.hold(1)
    out.resume(1)
    assert values(out.take(2)) == [1, 2]
    out.resume(1)
    assert values(out.take(2)) == [3, 4]


@pytest.mark.req("V-05")
def test_another_voice_is_not_held_by_the_hold_of_the_last() -> None:
    out = playout(4)
    out.hold(1)
    out.play(2, run_of(100, 2))
    assert values(out.take(3)) == [101, 102, 0]


def test_of_another_voice_nothing_is_held_resumed_or_finished() -> None:
    out = playout(4)
    out.hold(7)
    assert values(out.take(1)) == [1]
    out.hold(1)
    out.resume(7)
    assert out.take(1) == bytes(2)
    out.finish(7)
    out.resume(1)
    out.take(4)
    assert out.heard() == PlayedAmount(1, 0, False)


# -- Clearing


@pytest.mark.req("V-03", "V-05")
def test_cleared_is_gone_and_tells_what_was_heard() -> None:
    out = playout(10 * MS)
    out.take(4 * MS)
    assert out.clear(1) == 4
    assert out.take(8) == bytes(16)
    assert out.heard() is None
    assert out.clear(1) == 0


def test_cleared_while_held_is_gone_too() -> None:
    out = playout(10 * MS)
    out.take(3 * MS)
    out.hold(1)
    assert out.clear(1) == 3
    out.resume(1)
    assert out.take(8) == bytes(16)
    out.play(2, run_of(0, 2))
    assert values(out.take(2)) == [1, 2]


@pytest.mark.req("V-05")
def test_clearing_an_old_voice_leaves_the_new_one_alone() -> None:
    out = playout(4)
    out.play(2, run_of(100, 3))
    assert out.clear(1) == 0
    assert values(out.take(3)) == [101, 102, 103]


# -- Finishing


@pytest.mark.req("V-01")
def test_the_end_is_returned_once_and_not_before_the_last_sample() -> None:
    out = playout(3 * MS)
    out.finish(1)
    out.take(3 * MS - 1)
    assert out.heard() == PlayedAmount(1, 2, False)
    out.take(1)
    assert out.heard() == PlayedAmount(1, 3, True)
    assert out.heard() is None


def test_an_end_that_is_known_after_the_last_sample_is_returned_too() -> None:
    out = playout(3 * MS)
    out.take(10 * MS)
    assert out.heard() == PlayedAmount(1, 3, False)
    out.finish(1)
    assert out.heard() == PlayedAmount(1, 3, True)


@pytest.mark.req("V-05")
def test_two_voices_are_two_counts() -> None:
    out = playout(4 * MS)
    out.take(4 * MS)
    out.finish(1)
    out.play(2, run_of(0, 2 * MS))
    out.take(MS)
    assert out.heard() == PlayedAmount(2, 1, False)
    assert out.clear(2) == 1


# -- Whatever the sizes


@given(
    pieces=st.lists(st.integers(0, 700), max_size=20),
    takes=st.lists(st.integers(0, 900), max_size=40),
    held=st.sets(st.integers(0, 40)),
)
def test_every_sample_is_taken_exactly_once_and_in_order(pieces: list[int], takes: list[int], held: set[int]) -> None:
    """Pieces are queued between the takes, and some takes happen while it is held."""
    out, total = Playout(RATE_HZ), sum(pieces)
    left, queued, got = list(pieces), 0, list[int]()
    for number in count():
        if left:
            out.play(1, run_of(queued, left[0]))
            queued += left.pop(0)
        if number in held:
            out.hold(1)
        wanted = takes[number] if number < len(takes) else 500
        taken = out.take(wanted)
        assert len(taken) == 2 * wanted
        if number in held:
            assert not any(taken)
            out.resume(1)
        got += sounding(taken)
        if not left and number >= len(takes) and len(got) >= total:
            break
        assert number < 200
    assert got == values(run_of(0, total))
    if pieces:
        assert out.heard() == PlayedAmount(1, total * 1000 // RATE_HZ, False)


class Model:
    """The same, as plainly as it can be written."""

    def __init__(self) -> None:
        self.begin(0)

    def begin(self, voice: int) -> None:
        self.voice, self.queue, self.played = voice, list[int](), 0
        self.is_held = self.is_complete = False

    def take(self, samples: int) -> list[int]:
        some = [] if self.is_held else self.queue[:samples]
        self.queue = self.queue[len(some) :]
        self.played += len(some)
        return some + [0] * (samples - len(some))


acts = st.lists(
    st.tuples(
        st.sampled_from(["play", "take", "hold", "resume", "finish", "clear", "heard", "next"]), st.integers(0, 400)
    ),
    max_size=60,
)


@given(acts)
def test_whatever_is_done_it_does_what_the_plainest_model_does(script: list[tuple[str, int]]) -> None:
    out, model, newest, start = Playout(RATE_HZ), Model(), 1, 0
    for what, size in script:
        voice = newest if size % 4 else newest - 1  # now and then an old one
        match what:
            case "next":
                newest += 1
            case "play":
                out.play(newest, run_of(start, size))
                if model.voice != newest:
                    model.begin(newest)
                model.queue += values(run_of(start, size))
                start += size
            case "take":
                assert values(out.take(size)) == model.take(size)
            case "hold":
                out.hold(voice)
                model.is_held |= voice == model.voice
            case "resume":
                out.resume(voice)
                model.is_held &= voice != model.voice
            case "finish":
                out.finish(voice)
                model.is_complete |= voice == model.voice
            case "clear":
                expected = model.played * 1000 // RATE_HZ if voice == model.voice else 0
                assert out.clear(voice) == expected
                if voice == model.voice:
                    model.begin(0)
            case "heard":
                is_all = model.is_complete and not model.queue
                expected_heard = (
                    PlayedAmount(model.voice, model.played * 1000 // RATE_HZ, is_all) if model.voice else None
                )
                assert out.heard() == expected_heard
                if is_all and model.voice:
                    model.begin(0)


# -- Two threads


@settings(max_examples=5, deadline=None)
@given(st.integers(1, 97), st.integers(1, 97))
def test_while_one_thread_queues_and_holds_the_other_takes_every_sample_once(piece: int, taken: int) -> None:
    out, got, total = Playout(RATE_HZ), list[int](), 5_000
    is_over = threading.Event()

    def play() -> None:
        while not is_over.is_set():
            got.extend(sounding(out.take(taken)))
        while some := sounding(out.take(taken)):
            got.extend(some)

    thread = threading.Thread(target=play)
    thread.start()
    for start in range(0, total, piece):
        out.play(1, run_of(start, min(piece, total - start)))
        out.hold(1)
        out.resume(1)
    out.finish(1)
    is_over.set()
    thread.join(WAIT_S)
    assert not thread.is_alive()
    assert got == values(run_of(0, total))
    assert out.heard() == PlayedAmount(1, total * 1000 // RATE_HZ, True)


# -- Cues and ambient sound


def test_a_cue_is_heard_while_there_is_no_voice_and_counts_as_none() -> None:
    out = Playout(RATE_HZ)
    out.play_cue(1, pcm(7, 7, 7))
    assert values(out.take(2)) == [7, 7]
    assert out.heard() is None
    assert values(out.take(2)) == [7, 0]


def test_the_first_sample_of_a_voice_drops_the_rest_of_the_cue() -> None:
    out = Playout(RATE_HZ)
    out.play_cue(1, pcm(*[7] * 10))
    out.take(2)
    out.play(1, run_of(0, 3))
    assert values(out.take(4)) == [1, 2, 3, 0]
    assert values(out.take(2)) == [0, 0]


def test_a_held_voice_leaves_room_for_a_cue_and_loses_nothing() -> None:
    out = playout(4)
    out.take(1)
    out.hold(1)
    out.play_cue(1, pcm(*[7] * 10))
    assert values(out.take(3)) == [7, 7, 7]
    out.resume(1)
    assert values(out.take(4)) == [2, 3, 4, 0]
    assert values(out.take(1)) == [0]


def test_a_stopped_cue_is_silent_with_the_next_sample_and_another_cue_replaces_it() -> None:
    out = Playout(RATE_HZ)
    out.play_cue(1, pcm(7, 7))
    out.play_cue(1, pcm(8))
    out.play_cue(2, pcm(9, 9))
    assert values(out.take(1)) == [9]
    out.stop_cue()
    assert values(out.take(1)) == [0]


def test_ambient_sound_is_under_everything_and_counts_as_nothing() -> None:
    out = playout(2)
    out.set_ambient(pcm(100, 200, 300))
    assert values(out.take(2)) != [1, 2]
    assert values(out.take(320))[:3] != [0, 0, 0]
    assert out.heard() == PlayedAmount(1, 0, False)
    out.set_ambient(b"")
    assert values(out.take(2)) == [0, 0]
