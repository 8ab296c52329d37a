"""Which way the sound goes: every row is taken, sound has one carrier, and every way leads back to the socket."""

from __future__ import annotations

from duologue.server.carrier import ROWS, CarrierAct, CarrierInput, CarrierPlace, step

OVER_PEER = (CarrierPlace.PEER,)


def test_sound_moves_exactly_when_its_place_does() -> None:
    for place in CarrierPlace:
        for given in CarrierInput:
            done = step(place, given)
            enters = done.place in OVER_PEER and place not in OVER_PEER
            leaves = place in OVER_PEER and done.place not in OVER_PEER
            assert (CarrierAct.USE_PEER in done.acts) == enters
            # A client that has left gets no sound at all.
            assert (CarrierAct.USE_SOCKET in done.acts) == (leaves and given is not CarrierInput.CLIENT_LEFT)


def test_a_connection_that_is_left_is_closed() -> None:
    closing = {CarrierAct.CLOSE_PEER, CarrierAct.CLOSE_FORMER}
    for place in CarrierPlace:
        for given in CarrierInput:
            done = step(place, given)
            is_left = done.place is CarrierPlace.SOCKET or given is CarrierInput.OFFER_CAME
            if place is not CarrierPlace.SOCKET and is_left and (done.place, done.acts) != (place, ()):
                assert closing & set(done.acts), (place, given)


def test_every_place_falls_back_to_the_socket_and_every_row_is_reached() -> None:
    for place in CarrierPlace:
        for given in (CarrierInput.PATH_LOST, CarrierInput.SOCKET_ASKED, CarrierInput.CLIENT_LEFT):
            assert step(place, given).place is CarrierPlace.SOCKET
    seen, reached = {CarrierPlace.SOCKET}, [CarrierPlace.SOCKET]
    while reached:
        place = reached.pop()
        found = {step(place, given).place for given in CarrierInput} - seen
        seen |= found
        reached += found
    assert seen == set(CarrierPlace)
    assert {source for row in ROWS for source in row.sources} == set(CarrierPlace)


def test_sound_moves_only_while_the_agent_is_silent() -> None:
    waiting = step(CarrierPlace.CONNECTING, CarrierInput.PATH_UP)
    assert waiting.place is CarrierPlace.WAITING
    assert waiting.acts == ()
    assert step(CarrierPlace.WAITING, CarrierInput.SILENCE_CAME).acts == (CarrierAct.USE_PEER,)
