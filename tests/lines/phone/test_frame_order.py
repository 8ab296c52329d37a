"""The frames of a call, put into order."""

from __future__ import annotations

import random

import pytest

from duologue.lines.phone.frame_order import RESTART, SILENCE_MAX, WINDOW, Order

SILENCE = b"\xff" * 4


def frame(number: int) -> bytes:
    return bytes([number % 250]) * 4


def test_frames_in_order_are_never_held_back() -> None:
    order = Order(SILENCE)
    assert [order.feed(number, frame(number)) for number in (1, 2, 3)] == [[frame(1)], [frame(2)], [frame(3)]]


def test_frames_out_of_order_are_put_in_order() -> None:
    order = Order(SILENCE)
    heard = [each for number in (1, 3, 2, 4, 6, 7, 5, 8) for each in order.feed(number, frame(number))]
    assert heard == [frame(number) for number in range(1, 9)]
    assert (order.lost, order.dropped, order.reordered) == (0, 0, 3)


def test_a_lost_frame_is_replaced_by_silence_of_its_length() -> None:
    order = Order(SILENCE)
    numbers = [1, 2, *range(4, 4 + WINDOW)]
    heard = [each for number in numbers for each in order.feed(number, frame(number))]
    assert heard == [frame(1), frame(2), SILENCE, *(frame(number) for number in range(4, 4 + WINDOW))]
    assert order.lost == 1


def test_frames_that_come_twice_or_too_late_are_dropped() -> None:
    order = Order(SILENCE)
    numbers = [1, 1, 2, *range(4, 5 + WINDOW), 3, 2]
    heard = [each for number in numbers for each in order.feed(number, frame(number))]
    assert len(heard) == 4 + WINDOW
    assert order.dropped == 3


def test_frames_that_still_wait_are_passed_on_at_the_end() -> None:
    order = Order(SILENCE)
    assert order.feed(1, frame(1)) == [frame(1)]
    assert order.feed(3, frame(3)) == []
    assert order.finish() == [SILENCE, frame(3)]
    assert order.finish() == []


def test_a_huge_gap_becomes_at_most_a_second_of_silence() -> None:
    order = Order(SILENCE)
    order.feed(1, frame(1))
    heard = [each for number in range(10**9, 10**9 + WINDOW) for each in order.feed(number, frame(number))]
    assert len(heard) == SILENCE_MAX + WINDOW


def test_a_carrier_that_restarts_its_count_is_heard() -> None:
    order = Order(SILENCE)
    for number in range(1, RESTART + 10):
        order.feed(number, frame(number))
    assert order.feed(1, frame(1)) == [frame(1)]
    assert order.feed(2, frame(2)) == [frame(2)]


def test_frames_without_a_number_are_passed_on_at_once() -> None:
    order = Order(SILENCE)
    assert order.feed(0, frame(9)) == [frame(9)]


@pytest.mark.parametrize("seed", range(20))
def test_on_any_network_times_stay_right_and_no_frame_is_heard_twice(seed: int) -> None:
    dice = random.Random(seed)
    sent = [(number + dice.uniform(0, 3.5), number) for number in range(1, 500) if dice.random() > 0.03]
    sent += [(at + dice.uniform(0, 3), number) for at, number in sent if dice.random() < 0.05]
    order = Order(b"\xff")
    numbers = [number for _, number in sorted(sent)]
    heard = [each for number in numbers for each in order.feed(number, number.to_bytes(2, "big"))] + order.finish()
    found = [int.from_bytes(each, "big") for each in heard if each != b"\xff\xff"]
    assert found == sorted(set(found))
    assert len(heard) == found[-1] - found[0] + 1
    assert len(found) > 450
