"""Packets in any order, and what is heard of them."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.lines.opus import PACKET_CLOCKS
from duologue.lines.webrtc.arrival_order import (
    CONCEALED_MS_MAX,
    WAIT_MS_MAX,
    ArrivalState,
    Conceal,
    Heard,
    HearPacket,
    step,
    unwrap,
)


def arrive(packets: list[tuple[int, int]], first: int = 0) -> tuple[ArrivalState, list[tuple[int, Heard]]]:
    """Packets by number and time of arrival: what was heard, and when."""
    state, heard = ArrivalState(), []
    for number, now_ms in packets:
        state, now = step(state, (first + number * PACKET_CLOCKS) % (1 << 32), PACKET_CLOCKS, now_ms)
        heard += [(now_ms, one) for one in now]
    return state, heard


def numbers(heard: list[tuple[int, Heard]], first: int = 0) -> list[int | str]:
    return [(one.stamp - first) // PACKET_CLOCKS if isinstance(one, HearPacket) else "made up" for _, one in heard]


def test_packets_in_order_are_heard_at_once() -> None:
    _, heard = arrive([(number, number * 20) for number in range(50)])
    assert [now_ms for now_ms, _ in heard] == [number * 20 for number in range(50)]


def test_a_packet_that_is_late_is_waited_for() -> None:
    _, heard = arrive([(0, 0), (1, 20), (3, 60), (2, 65), (4, 80)])
    assert numbers(heard) == [0, 1, 2, 3, 4]


def test_a_lost_packet_is_made_up_from_the_next_one_and_delays_little() -> None:
    state, heard = arrive([(0, 0), (1, 20), *((number, number * 20) for number in range(3, 10))])
    assert numbers(heard) == [0, 1, "made up", 3, 4, 5, 6, 7, 8, 9]
    assert heard[2][1] == Conceal(PACKET_CLOCKS, 3 * PACKET_CLOCKS)
    assert heard[2][0] <= 80
    assert state.concealed == 1


def test_a_packet_that_comes_twice_or_too_late_is_heard_once() -> None:
    packets = [(0, 0), (1, 20), (1, 21), *((number, number * 20) for number in range(3, 10)), (2, 200), (10, 201)]
    state, heard = arrive(packets)
    assert numbers(heard) == [0, 1, "made up", *range(3, 11)]
    assert state.late == 2


def test_a_long_gap_is_made_up_only_in_part() -> None:
    _, heard = arrive([(0, 0), (150, 3_000), (151, 3_020)])
    assert numbers(heard).count("made up") == CONCEALED_MS_MAX // 20


def test_another_stream_begins_anew() -> None:
    _, heard = arrive([(0, 0), (1, 20), (5_000, 40), (5_001, 60)])
    assert numbers(heard) == [0, 1, 5_000, 5_001]


def test_timestamps_wrap_around() -> None:
    first = (1 << 32) - 2 * PACKET_CLOCKS
    _, heard = arrive([(number, number * 20) for number in range(6)], first)
    assert numbers(heard, first) == [0, 1, 2, 3, 4, 5]
    assert unwrap(5, (1 << 32) + 7) == (1 << 32) + 5
    assert unwrap((1 << 32) - 5, 7) == -5


@pytest.mark.parametrize("seed", range(5))
def test_with_80_ms_of_jitter_and_10_percent_loss_almost_every_packet_is_heard_in_time(seed: int) -> None:
    rng = random.Random(seed)
    count = 3_000
    sent = [(number, number * 20 + rng.randrange(80)) for number in range(count) if rng.random() >= 0.1]
    state, heard = arrive(sorted(sent, key=lambda one: one[1]))
    real = [(now_ms, one.stamp // PACKET_CLOCKS) for now_ms, one in heard if isinstance(one, HearPacket)]
    assert [number for _, number in real] == sorted(number for _, number in real)
    assert len(real) > 0.985 * len(sent)  # the others came too late
    assert max(now_ms - number * 20 for now_ms, number in real[200:]) <= 80 + WAIT_MS_MAX
    assert abs(len(heard) - count) < 10  # time doesn't shrink
    assert state.concealed < 0.12 * count


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 300)), max_size=80))
def test_whatever_arrives_is_heard_in_order_and_once(packets: list[tuple[int, int]]) -> None:
    _, heard = arrive(sorted(packets, key=lambda one: one[1]))
    stamps = [one.stamp for _, one in heard if isinstance(one, HearPacket)]
    assert stamps == sorted(set(stamps))
