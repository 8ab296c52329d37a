"""The places that addresses hold in other processes."""

from __future__ import annotations

from duologue.server.limit_news import PlaceHeld, PlaceKind
from duologue.server.sibling_places import SiblingPlace, SiblingPlaces


def held(number: int, address: str = "a", kind: PlaceKind = PlaceKind.UNSPOKEN, since_ms: int = 0) -> PlaceHeld:
    return PlaceHeld(number, kind, address, since_ms)


def counts(places: SiblingPlaces, address: str = "a") -> tuple[int, int, int]:
    """How many sockets, unspoken and spoken conversations the address has."""
    socket, unspoken, spoken = (places.count(kind, address) for kind in PlaceKind)
    return socket, unspoken, spoken


def test_places_of_all_processes_are_counted_by_kind_and_address() -> None:
    places = SiblingPlaces()
    places.hold(1, held(1))
    places.hold(2, held(1))
    places.hold(2, held(2, kind=PlaceKind.SOCKET))
    places.hold(2, held(3, "b"))
    assert counts(places) == (1, 2, 0)
    assert counts(places, "b") == (0, 1, 0)
    assert [places.total(kind) for kind in PlaceKind] == [1, 3, 0]
    places.leave(1, 1)
    assert counts(places) == (1, 1, 0)


def test_the_newest_counts_and_telling_it_twice_changes_nothing() -> None:
    places = SiblingPlaces()
    for place in (held(1), held(1), held(1, kind=PlaceKind.SPOKEN), held(1, kind=PlaceKind.SPOKEN)):
        places.hold(1, place)
    assert counts(places) == (0, 0, 1)
    for _ in range(2):
        places.leave(1, 1)
        places.leave(2, 1)
    assert counts(places) == (0, 0, 0)
    assert places.total(PlaceKind.SPOKEN) == 0


def test_a_process_that_has_ended_holds_nothing_and_the_others_keep_theirs() -> None:
    places = SiblingPlaces()
    for number in range(5):
        places.hold(1, held(number))
        places.hold(2, held(number, kind=PlaceKind.SPOKEN))
    places.drop(1)
    places.drop(3)
    assert counts(places) == (0, 0, 5)
    places.leave(1, 0)
    places.hold(1, held(0))  # its successor
    assert counts(places) == (0, 1, 5)


def test_conversations_without_a_word_are_found_by_age() -> None:
    places = SiblingPlaces()
    old, new = held(1, since_ms=10), held(2, since_ms=20)
    places.hold(1, old)
    places.hold(1, new)
    places.hold(1, held(3, kind=PlaceKind.SPOKEN, since_ms=1))
    places.hold(1, held(4, kind=PlaceKind.SOCKET, since_ms=1))
    assert places.unspoken_until(9) == []
    assert places.unspoken_until(10) == [SiblingPlace(1, old)]
    assert places.unspoken_until(20) == [SiblingPlace(1, old), SiblingPlace(1, new)]
