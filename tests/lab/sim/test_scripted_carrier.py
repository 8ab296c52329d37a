"""A simulated carrier: frames on time, network faults, marks and clears."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from duologue.lab.sim.scripted_carrier import FRAME_MS, Network, ScriptedCarrier
from duologue.lines.phone.carriers import CARRIERS
from duologue.runtime.simulated_clock import run_simulated

SOUND = b"\x10" * 160  # one frame


def run(
    seconds: float, act: Callable[[ScriptedCarrier], None] | None = None, **options: Any
) -> tuple[Any, list[dict[str, Any]]]:
    """A call of this many seconds: the carrier, and what it sent."""

    async def call() -> tuple[Any, list[dict[str, Any]]]:
        sent: list[dict[str, Any]] = []
        carrier = ScriptedCarrier(lambda text: sent.append(json.loads(text)), **options)
        carrier.connect()
        if act is not None:
            act(carrier)
        await asyncio.sleep(seconds)
        carrier.end()
        return carrier, sent

    return run_simulated(call())


def media(payload: bytes) -> str:
    return json.dumps({"event": "media", "media": {"payload": base64.b64encode(payload).decode()}})


def mark(name: str) -> str:
    return json.dumps({"event": "mark", "mark": {"name": name}})


def marks(sent: list[dict[str, Any]]) -> list[str]:
    return [message["mark"]["name"] for message in sent if message["event"] == "mark"]


def chunks(sent: list[dict[str, Any]]) -> list[int]:
    return [int(message["media"]["chunk"]) for message in sent if message["event"] == "media"]


@pytest.mark.parametrize("name", CARRIERS)
def test_a_call_begins_with_connected_and_start(name: str) -> None:
    _, sent = run(0.1, carrier=CARRIERS[name], parameters={"token": "x"})
    assert [message["event"] for message in sent[:3]] == ["connected", "start", "media"]
    assert sent[1]["start"][CARRIERS[name].parameters] == {"token": "x"}


def test_a_frame_is_sent_every_20_ms() -> None:
    _, sent = run(0.999)
    assert chunks(sent) == list(range(1, 1_000 // FRAME_MS + 1))


def test_what_the_caller_says_is_sent_before_silence() -> None:
    carrier, sent = run(0.1, lambda carrier: carrier.speak(SOUND * 2))
    payloads = [base64.b64decode(message["media"]["payload"]) for message in sent if message["event"] == "media"]
    assert payloads[1:4] == [SOUND, SOUND, b"\xff" * 160]  # the first frame left before
    assert not carrier.is_speaking


def test_a_key_is_sent() -> None:
    _, sent = run(0.1, lambda carrier: carrier.press("5"))
    assert [message["dtmf"]["digit"] for message in sent if message["event"] == "dtmf"] == ["5"]


@pytest.mark.parametrize("says_so", [True, False])
def test_nothing_is_sent_after_hanging_up(says_so: bool) -> None:
    carrier, sent = run(1, lambda carrier: carrier.hang_up(says_so))
    assert carrier.is_over
    assert [message["event"] for message in sent][2:] == ["media", *(["stop"] if says_so else [])]


def test_a_network_loses_repeats_and_reorders_frames() -> None:
    _, sent = run(10, network=Network(loss=0.1))
    assert 400 < len(chunks(sent)) < 480
    _, sent = run(10, network=Network(duplicates=0.1))
    assert 520 < len(chunks(sent)) < 600
    _, sent = run(10, network=Network(reordered=0.1))
    assert chunks(sent) != sorted(chunks(sent))
    _, again = run(10, network=Network(reordered=0.1))
    assert again == sent, "the same seed gives the same faults"


def test_sound_is_played_in_time_and_marks_return_after_it() -> None:
    def play(carrier: ScriptedCarrier) -> None:
        for text in (media(SOUND), media(SOUND), mark("end")):
            carrier.receive(text)
        assert carrier.is_sounding

    carrier, sent = run(0.2, play)
    assert carrier.played_ms == 40
    assert bytes(carrier.recording) == SOUND * 2
    assert marks(sent) == ["end"]
    assert [(heard.what, heard.ms) for heard in carrier.log] == [("sound", 40)]


@pytest.mark.parametrize(("name", "returned"), [("twilio", ["end"]), ("telnyx", [])])
def test_a_clear_drops_the_sound_and_only_twilio_returns_the_marks(name: str, returned: list[str]) -> None:
    def clear(carrier: ScriptedCarrier) -> None:
        for text in (media(SOUND), mark("end"), json.dumps({"event": "clear"})):
            carrier.receive(text)

    carrier, sent = run(0.2, clear, carrier=CARRIERS[name])
    assert carrier.clears == 1
    assert carrier.played_ms == 0
    assert marks(sent) == returned


def test_each_frame_that_was_heard_is_kept_with_its_time() -> None:
    def act(carrier: ScriptedCarrier) -> None:
        for _ in range(3):
            carrier.receive(media(SOUND))

    carrier, _ = run(0.2, act)
    assert [frame.coded for frame in carrier.frames] == [SOUND] * 3
    starts = [frame.at_ms for frame in carrier.frames]
    assert [late - early for early, late in pairwise(starts)] == [FRAME_MS, FRAME_MS]
