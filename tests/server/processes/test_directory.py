"""Where seats and conversations are, and which process gets the next socket."""

from __future__ import annotations

import random

import pytest

from duologue.server.processes.directory import Directory, Loads


def test_all_sockets_of_a_seat_belong_to_one_process() -> None:
    directory = Directory()
    assert directory.find("alice", "") is None
    directory.enter(1, "alice")
    assert directory.find("alice", "") == 1
    assert directory.find("bob", "") is None
    directory.enter(1, "alice")
    directory.leave(1, "alice")
    assert directory.find("alice", "") == 1
    directory.leave(1, "alice")
    assert directory.find("alice", "") is None


def test_a_client_belongs_to_the_process_that_has_its_conversation() -> None:
    directory = Directory()
    directory.enter(0, "alice")
    directory.begin(1, "c", "bob")
    assert directory.find("alice", "c") == 1
    assert directory.find("bob", "") == 1, "its seat is there too, although no socket is"
    assert directory.find("alice", "another") == 0


def test_of_a_conversation_that_is_over_only_the_journal_has_a_place() -> None:
    directory = Directory()
    directory.begin(1, "c", "bob")
    directory.end(1, "c")
    assert directory.find("", "c") == 1
    assert directory.find("bob", "") is None
    directory.forget(1, "c")
    assert directory.find("bob", "c") is None
    assert len(directory) == 0


def test_a_conversation_that_moved_has_one_place_whatever_its_former_process_says_later() -> None:
    directory = Directory()
    directory.begin(0, "c", "bob")
    directory.begin(1, "c", "bob")
    directory.end(0, "c")
    directory.forget(0, "c")
    assert directory.find("bob", "c") == 1
    assert directory.find("bob", "") == 1
    directory.forget(1, "c")
    assert len(directory) == 0


def test_what_a_process_had_is_forgotten_when_it_ends() -> None:
    directory = Directory()
    directory.begin(0, "c", "bob")
    directory.enter(0, "alice")
    directory.enter(1, "carol")
    directory.drop(0)
    assert [directory.find(*asked) for asked in (("bob", "c"), ("alice", ""), ("carol", ""))] == [None, None, 1]


def test_a_late_farewell_of_a_seat_changes_nothing() -> None:
    directory = Directory()
    directory.leave(0, "alice")
    directory.enter(1, "alice")
    directory.leave(0, "alice")
    assert directory.find("alice", "") == 1


@pytest.mark.parametrize("seed", range(20))
def test_whatever_comes_and_goes_nothing_is_left_in_the_end(seed: int) -> None:
    dice, directory = random.Random(seed), Directory()
    sockets: list[tuple[int, str]] = []
    conversations: dict[str, int] = {}
    for number in range(200):
        seat, process = f"seat-{dice.randrange(5)}", dice.randrange(3)
        match dice.randrange(4):
            case 0:
                directory.enter(process, seat)
                sockets.append((process, seat))
            case 1 if sockets:
                directory.leave(*sockets.pop(dice.randrange(len(sockets))))
            case 2:
                directory.begin(process, f"c{number % 7}", seat)
                conversations[f"c{number % 7}"] = process
            case 3 if conversations:
                name, owner = conversations.popitem()
                directory.forget(owner, name)
    for left in sockets:
        directory.leave(*left)
    for name, owner in conversations.items():
        directory.forget(owner, name)
    assert len(directory) == 0


# -- Loads


def test_the_process_with_the_fewest_sockets_gets_the_next_one() -> None:
    loads = Loads(3)
    for _ in range(6):
        least = loads.least((0, 1, 2))
        assert least is not None
        loads.send(least)
    assert [loads[at] for at in range(3)] == [2, 2, 2]
    loads.report(1, open_=0, received=2)  # both have disconnected
    assert loads.least((0, 1, 2)) == 1
    assert loads.least((0, 2)) in (0, 2)
    assert loads.least(()) is None


def test_sockets_on_their_way_count() -> None:
    loads = Loads(2)
    loads.send(0)
    loads.send(0)
    assert loads[0] == 2
    loads.report(0, open_=1, received=1)
    assert loads[0] == 2, "one is open, and one is on its way"
    loads.report(0, open_=2, received=2)
    assert loads[0] == 2


def test_a_replaced_process_starts_with_nothing() -> None:
    loads = Loads(2)
    for _ in range(5):
        loads.send(1)
    loads.drop(1)
    assert loads[1] == 0
    assert loads.least((0, 1)) in (0, 1)
