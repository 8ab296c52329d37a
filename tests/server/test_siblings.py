"""A process without siblings serves everything itself."""

from __future__ import annotations

import asyncio

from duologue.server.limit_news import PlaceLeft, RoomWanted
from duologue.server.siblings import ALONE, Siblings


def test_alone_every_client_belongs_here_and_nothing_is_given_away() -> None:
    siblings: Siblings = ALONE
    assert asyncio.run(siblings.find("alice", "c")) is None
    assert asyncio.run(siblings.metrics("own")) == "own"
    assert not siblings.give_socket(object(), 1, "alice")
    assert not siblings.give_request({}, 1)
    siblings.leave_seat("alice")
    siblings.note_begun("c", "alice")
    siblings.note_ended("c")
    siblings.note_forgotten("c")
    siblings.want_calls(True)
    siblings.share_calls([])
    siblings.tell_limit(PlaceLeft(1))
    siblings.ask_for_room(1, RoomWanted(1))
