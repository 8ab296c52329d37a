"""The limits of addresses over several processes. The messages between the processes are played by the test."""

from __future__ import annotations

import random

import pytest

from duologue.fairness.bucket import Rate
from duologue.server.limit_news import LimitNews, PlaceKind, RoomWanted
from duologue.server.settings import Limits
from duologue.server.shared_limits import CONNECTIONS, FILE_REQUEST, REQUEST, REQUESTS, STARTS, SharedLimits
from duologue.server.wrong_credentials import FIRST_WAIT_S

LIMITS = Limits(starts=Rate(1, 1_000, 10), connections=Rate(1, 1_000, 30), requests=Rate(1, 1_000, 5))


class Machine:
    """Several processes. What one tells is delivered to the others when the test says so."""

    def __init__(self, count: int) -> None:
        self.now_ms = 0
        self.told = 0
        self._unread: list[tuple[int, LimitNews]] = []
        self.processes: dict[int, SharedLimits] = {}
        for process in range(count):
            self.start(process)

    def start(self, process: int) -> None:
        made = SharedLimits(LIMITS, lambda news: self._unread.append((process, news)))
        for at, other in self.processes.items():
            for news in other.everything(self.now_ms):
                made.note(at, news, self.now_ms)
        self.processes[process] = made

    def kill(self, process: int) -> None:
        self.deliver()
        del self.processes[process]
        for other in self.processes.values():
            other.drop(process)

    def deliver(self) -> None:
        unread, self._unread = self._unread, []
        self.told += len(unread)
        for teller, news in unread:
            for at, other in self.processes.items():
                if at != teller:
                    other.note(teller, news, self.now_ms)

    def take(self, process: int, bucket: str = STARTS, address: str = "a", amount: int = 1) -> bool:
        return self.processes[process].take(bucket, address, self.now_ms, amount) == 0


def test_a_file_counts_as_a_quarter_of_a_request_in_every_process() -> None:
    machine = Machine(2)
    granted = [machine.take(0, REQUESTS, amount=amount) for amount in (REQUEST,) * 4 + (FILE_REQUEST,) * 3]
    machine.deliver()
    assert all(granted)
    assert [machine.take(1, REQUESTS, amount=amount) for amount in (REQUEST, FILE_REQUEST)] == [False, True]
    machine.deliver()
    assert not machine.take(0, REQUESTS, amount=FILE_REQUEST)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_an_address_that_asks_all_processes_gets_what_one_process_would_grant(count: int) -> None:
    machine, granted = Machine(count), 0
    for number in range(200):
        granted += machine.take(number % count)
        machine.deliver()
    assert granted == 10
    assert machine.told == 10, "refusals cause no messages"
    assert machine.take(0, address="b"), "another address has its own bucket"
    assert machine.take(0, CONNECTIONS), "another limit has its own bucket"


def test_what_was_granted_too_much_at_once_is_refilled_before_more_is_granted() -> None:
    machine = Machine(4)
    at_once = sum(machine.take(process) for process in range(4) for _ in range(20))
    assert at_once == 40, "the processes haven't heard of each other yet"
    machine.deliver()
    seconds = []
    for second in range(1, 20):
        machine.now_ms += 1_000
        if sum(machine.take(process) for process in range(4)):
            seconds.append(second)
        machine.deliver()
    assert seconds == [11, 15, 19], "first a debt of one burst, and then each round of four costs four"


def test_in_the_long_run_a_client_that_is_always_faster_than_the_messages_gains_nothing() -> None:
    machine, granted = Machine(4), 0
    for _ in range(1_000):
        machine.now_ms += 1_000
        granted += sum(machine.take(process) for process in range(4))
        machine.deliver()
    assert granted <= 1_000 + 4 * 10


def test_a_process_that_starts_later_knows_who_has_used_up_what() -> None:
    machine = Machine(2)
    for number in range(10):
        assert machine.take(number % 2)
        machine.processes[0].note_wrong("a", 0.0)
        machine.deliver()
    machine.processes[1].hold(PlaceKind.SOCKET, "a", 0)
    machine.start(2)
    assert not machine.take(2)
    assert machine.processes[2].elsewhere.count(PlaceKind.SOCKET, "a") == 1
    assert machine.processes[2].wrong_count("a") == 10
    assert machine.take(2, address="b")


def test_wrong_credentials_are_slowed_over_all_processes() -> None:
    machine = Machine(2)
    waits_s = []
    for number in range(4):
        waits_s.append(machine.processes[number % 2].note_wrong("a", 0.0))
        machine.deliver()
    assert waits_s == [FIRST_WAIT_S * n for n in (1, 2, 4, 8)]
    assert machine.processes[1].note_wrong("b", 0.0) == FIRST_WAIT_S


def test_a_process_that_dies_gives_its_places_back_and_what_it_granted_stays_granted() -> None:
    machine = Machine(3)
    for process in machine.processes.values():
        process.hold(PlaceKind.UNSPOKEN, "a", 0)
    for _ in range(10):
        assert machine.take(1)
    machine.deliver()
    assert machine.processes[0].elsewhere.count(PlaceKind.UNSPOKEN, "a") == 2
    machine.kill(1)
    assert machine.processes[0].elsewhere.count(PlaceKind.UNSPOKEN, "a") == 1
    assert not machine.take(0), "dying doesn't fill the bucket again"
    machine.start(1)
    assert machine.processes[1].elsewhere.count(PlaceKind.UNSPOKEN, "a") == 2
    assert not machine.take(1)


def test_a_place_causes_at_most_three_messages() -> None:
    machine = Machine(2)
    number = machine.processes[0].hold(PlaceKind.UNSPOKEN, "a", 0)
    for _ in range(5):
        machine.processes[0].change(number, PlaceKind.SPOKEN)
    for _ in range(5):
        machine.processes[0].leave(number)
    machine.processes[0].change(number, PlaceKind.UNSPOKEN)
    machine.deliver()
    assert machine.told == 3
    assert machine.processes[1].elsewhere.total(PlaceKind.UNSPOKEN) == 0


def test_a_request_for_room_reaches_the_one_that_can_make_it() -> None:
    asked: list[int] = []
    shared = SharedLimits(LIMITS)
    shared.note(1, RoomWanted(6), 0)  # without a listener, nothing happens
    shared.on_room_wanted = asked.append
    shared.note(1, RoomWanted(7), 0)
    assert asked == [7]


@pytest.mark.parametrize("seed", range(20))
def test_whatever_happens_each_process_knows_the_places_of_all_others(seed: int) -> None:
    dice, machine = random.Random(seed), Machine(3)
    held: dict[int, list[int]] = {at: [] for at in range(3)}
    for _ in range(300):
        process = dice.randrange(3)
        shared, numbers = machine.processes[process], held[process]
        match dice.randrange(5):
            case 0 | 1:
                numbers.append(shared.hold(PlaceKind.UNSPOKEN, dice.choice("ab"), 0))
            case 2 if numbers:
                shared.change(dice.choice(numbers), PlaceKind.SPOKEN)
            case 3 if numbers:
                shared.leave(numbers.pop(dice.randrange(len(numbers))))
            case 4 if dice.random() < 0.1:
                machine.kill(process)
                machine.start(process)
                held[process] = []
        if dice.random() < 0.5:
            machine.deliver()
    machine.deliver()
    for at, shared in machine.processes.items():
        known = sum(shared.elsewhere.total(kind) for kind in PlaceKind)
        assert known == sum(len(numbers) for other, numbers in held.items() if other != at)
        assert known == sum(shared.elsewhere.count(kind, address) for kind in PlaceKind for address in "ab")
