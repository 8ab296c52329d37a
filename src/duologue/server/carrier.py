"""Decides whether a client's sound goes over its socket or over a WebRTC peer connection. The decisions are rows of a
table, which the pure function `step` applies.

State, captions and commands always go over the socket. Sound moves to a peer connection when that connection works and
the agent is silent. It moves back to the socket as soon as the connection fails, and continues there after the last
sample that the client heard. Rule: at any time, sound goes over exactly one of the two, which is called its carrier.
The sound of a client that can't use WebRTC simply stays on the socket.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class CarrierPlace(Enum):
    """A state of the table: whether the sound goes over the socket or over a peer connection, and whether a peer
    connection is being set up."""

    SOCKET = "socket"
    CONNECTING = "connecting"  # over the socket, and an offer was answered
    WAITING = "waiting"  # over the socket, until the agent is silent
    PEER = "peer"


class CarrierInput(Enum):
    """Something that happened to the client or its connections: an input of `step`."""

    OFFER_CAME = "an offer of the client was answered"
    PATH_UP = "the peer connection works"
    PATH_QUIET = "nothing comes over the peer connection"
    PATH_LOST = "the peer connection is over"
    SILENCE_CAME = "the agent says nothing"
    SOCKET_ASKED = "the client wants its socket back"
    CLIENT_LEFT = "the client's socket is gone"


class CarrierAct(Enum):
    """An action that `step` returns."""

    USE_PEER = "send sound over the peer connection"
    USE_SOCKET = "send sound over the socket"
    CLOSE_FORMER = "close the peer connection before the newest"
    CLOSE_PEER = "close the peer connection"
    TELL_FAILED = "tell the client that it could not be connected"


class CarrierRow(NamedTuple):
    sources: tuple[CarrierPlace, ...]
    on: CarrierInput
    target: CarrierPlace
    acts: tuple[CarrierAct, ...] = ()


_P, _I, _A = CarrierPlace, CarrierInput, CarrierAct
_OVER_SOCKET = (_P.CONNECTING, _P.WAITING)
ROWS: tuple[CarrierRow, ...] = (
    CarrierRow((_P.SOCKET,), _I.OFFER_CAME, _P.CONNECTING),
    CarrierRow(_OVER_SOCKET, _I.OFFER_CAME, _P.CONNECTING, (_A.CLOSE_FORMER,)),
    CarrierRow((_P.PEER,), _I.OFFER_CAME, _P.CONNECTING, (_A.USE_SOCKET, _A.CLOSE_FORMER)),
    CarrierRow((_P.CONNECTING,), _I.PATH_UP, _P.WAITING),
    CarrierRow((_P.WAITING,), _I.SILENCE_CAME, _P.PEER, (_A.USE_PEER,)),
    CarrierRow(_OVER_SOCKET, _I.PATH_LOST, _P.SOCKET, (_A.CLOSE_PEER, _A.TELL_FAILED)),
    CarrierRow((_P.WAITING,), _I.PATH_QUIET, _P.SOCKET, (_A.CLOSE_PEER, _A.TELL_FAILED)),
    CarrierRow((_P.PEER,), _I.PATH_QUIET, _P.SOCKET, (_A.USE_SOCKET, _A.CLOSE_PEER)),
    CarrierRow((_P.PEER,), _I.PATH_LOST, _P.SOCKET, (_A.USE_SOCKET, _A.CLOSE_PEER)),
    CarrierRow(_OVER_SOCKET, _I.SOCKET_ASKED, _P.SOCKET, (_A.CLOSE_PEER,)),
    CarrierRow((_P.PEER,), _I.SOCKET_ASKED, _P.SOCKET, (_A.USE_SOCKET, _A.CLOSE_PEER)),
    CarrierRow((*_OVER_SOCKET, _P.PEER), _I.CLIENT_LEFT, _P.SOCKET, (_A.CLOSE_PEER,)),
)


@dataclass(frozen=True, slots=True)
class CarrierStep:
    place: CarrierPlace
    acts: tuple[CarrierAct, ...] = ()


def step(place: CarrierPlace, given: CarrierInput) -> CarrierStep:
    """Take one input. Returns the next state (`CarrierPlace`), and the actions to perform, in order. If the table has
    no row for this input in this state, the state stays the same and there are no actions."""
    found = next((row for row in ROWS if place in row.sources and given is row.on), None)
    return CarrierStep(found.target, found.acts) if found is not None else CarrierStep(place)
