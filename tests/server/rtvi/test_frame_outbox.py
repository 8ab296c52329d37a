"""The queue of frames for one client."""

from __future__ import annotations

import json
from typing import Any

from duologue.lab.sim.jumping_clock import run_jumping
from duologue.server.close_codes import CloseCode
from duologue.server.rtvi.frame_outbox import FrameOutbox
from duologue.server.rtvi.frames import AudioOfClient, TextOfClient, UnusedFrame, read_frame

OVER = CloseCode(1000, "over", "It is over.")


def written(fill: Any, unread_bytes_max: int = 10_000) -> list[Any]:
    """What is sent of what `fill` queues."""
    sent: list[Any] = []

    async def send(event: dict[str, Any]) -> None:
        sent.append(read_frame(event["bytes"]) if "bytes" in event else (event["code"], event["reason"]))

    async def whole() -> None:
        outbox = FrameOutbox(send, unread_bytes_max)
        fill(outbox)
        outbox.disconnect(OVER)
        await outbox.write()

    run_jumping(whole())
    return sent


def test_frames_are_sent_in_order_and_then_the_socket_is_closed() -> None:
    def fill(outbox: FrameOutbox) -> None:
        outbox.send_message({"type": "bot-ready"})
        outbox.send_sound(b"\x01\x02")

    assert written(fill) == [
        TextOfClient('{"type": "bot-ready"}'),
        AudioOfClient(b"\x01\x02", 24_000, 1),
        tuple(OVER[::2]),
    ]


def test_dropped_sound_isnt_sent_and_the_client_is_told() -> None:
    def fill(outbox: FrameOutbox) -> None:
        outbox.send_sound(b"\x01\x02")
        outbox.send_message({"a": 1})
        outbox.drop_sound()

    assert written(fill)[:-1] == [TextOfClient('{"a": 1}'), UnusedFrame("interruption")]


def test_a_client_that_reads_nothing_is_disconnected() -> None:
    def fill(outbox: FrameOutbox) -> None:
        for _ in range(100):
            outbox.send_sound(bytes(200))
        assert outbox.is_closing
        outbox.send_message({})

    assert written(fill, 1_000)[-1][0] == 1008


def test_what_json_cant_hold_becomes_an_error() -> None:
    def fill(outbox: FrameOutbox) -> None:
        outbox.send_message({"type": "server-response", "id": "q", "data": {"d": object()}})
        outbox.send_message({"type": "server-message", "id": "s1", "data": float("nan")})

    first, second, _ = written(fill)
    assert (json.loads(first.json)["type"], json.loads(first.json)["id"]) == ("error-response", "q")
    assert json.loads(second.json)["type"] == "error"
