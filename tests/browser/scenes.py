"""Every look of the panel, as scenes.

A scene is a name and what the server sends for it. Used by the tests and by `tools/take_screenshots.py`.
Rule: a scene starts from a page that was just opened.
"""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from playwright.sync_api import Page

from duologue.core.leaves import ErrorClass, FaultSource
from duologue.observe.fault_hints import hint
from duologue.observe.hearing_fact import EarsCondition
from duologue.observe.labels import WAITS, label
from duologue.phrases.texts import notice
from tests.browser.demo_call import demo_steps, table
from tests.browser.fake_server import RATE_HZ, FakeServer

SLOTS = [
    {"name": "guests", "label": "guests", "value": "2", "state": "confirmed"},
    {"name": "day", "label": "day", "value": "Friday, 14 June", "state": "filled"},
    {"name": "time", "label": "time", "value": None, "state": "asked"},
    {"name": "name", "label": "name", "value": None, "state": "empty"},
]


BOOKED = [
    {"name": "origin", "label": "origin", "value": "Boston", "state": "confirmed"},
    {"name": "destination", "label": "destination", "value": "Los Angeles", "state": "confirmed"},
    {"name": "departure_date", "label": "date", "value": "Friday, 12 December", "state": "confirmed"},
    {"name": "passengers", "label": "passengers", "value": "3", "state": "confirmed"},
    {"name": "booking_ref", "label": "booking ref", "value": "BK1234", "state": "result"},
]
RESULTS = [{"turn": 1, "title": "book a flight", "slots": [{"label": "booking ref", "value": "BK1234"}]}]
SUGGESTIONS = ["I want to book a flight", "is my flight on time"]


class Scene(NamedTuple):
    name: str
    play: Callable[[Page, FakeServer], None]
    settles_ms: int = 900


def tone(seconds: float, hertz: float = 196.0) -> bytes:
    """A sound whose level changes roughly like speech."""
    samples = range(int(seconds * RATE_HZ))
    wave = (
        9000 * math.sin(2 * math.pi * hertz * n / RATE_HZ) * (0.55 + 0.45 * math.sin(n / RATE_HZ * 17)) for n in samples
    )
    return struct.pack(f"<{len(samples)}h", *(int(value) for value in wave))


def begin(page: Page, server: FakeServer) -> None:
    page.locator("#start:not([disabled])").click()
    server.wait("start")
    page.locator("#end").wait_for()


def user(server: FakeServer, turn: int, text: str, final: bool = True) -> None:
    server.say("caption", role="user", text=text, unheard="", final=final, turn=turn, reply=0)


def agent(server: FakeServer, reply: int, text: str, unheard: str = "", final: bool = True) -> None:
    server.say("caption", role="assistant", text=text, unheard=unheard, final=final, turn=reply, reply=reply)


def talked(page: Page, server: FakeServer) -> None:
    """A running conversation."""
    begin(page, server)
    agent(server, 1, "Good evening, this is Ada at the Lantern. How can I help?")
    user(server, 1, "Hi, I'd like a table for two on Friday")
    server.say("dialogue", flow="book_table", title="A table", state="waiting_for_slot", question="time", slots=SLOTS)


def idle(page: Page, server: FakeServer) -> None:
    page.locator("#start:not([disabled])").wait_for()


def preparing(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.state("starting", "idle", "StartRequested")


def listening(page: Page, server: FakeServer) -> None:
    talked(page, server)
    agent(server, 2, "Friday the fourteenth, for two. What time would suit you?")
    server.state("listening", "speaking", "PlaybackFinished")
    server.say("hearing", on=True)
    user(server, 2, "around half past", final=False)


def processing(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.state("thinking", "listening", "TurnEnded")


def waiting(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.state("working", "thinking", "ToolCalled")
    server.say("work", event="started", call=1, tool="find_tables", mode="delegate")
    server.say("work", event="progressed", call=1, tool="find_tables", text="3 of 5 rooms checked", fraction=0.6)
    making_progress = label(WAITS[2], server.language)
    server.say("wait", call=1, stage=2, label=making_progress, detail="3 of 5 rooms checked")


def speaking(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.state("speaking", "thinking", "AudioBuffered")
    agent(server, 2, "Friday the fourteenth, for two. What", "time would suit you?", final=False)
    server.voice(1, 1, tone(3))


def interrupted(page: Page, server: FakeServer) -> None:
    talked(page, server)
    cut = "There is a table at seven, one at half past seven,"
    agent(server, 2, cut, "and one by the window at nine, which is the nicest one.")
    server.state("interrupted", "speaking", "OverlapJudged")
    server.say("hearing", on=True)
    user(server, 2, "half past seven is fine", final=False)


def overheard(page: Page, server: FakeServer) -> None:
    talked(page, server)
    user(server, 2, "can you pass me the salt")
    server.say("turn", event="turn-dropped", turnId="turn-2", role="user", why="overheard")
    agent(server, 2, "What time would suit you?")
    server.state("listening", "speaking", "PlaybackFinished")


def suspended(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.state("paused", "listening", "SuspendRequested")


def faulted(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.state("error", "thinking", "ReplyFailed")
    told = hint(FaultSource.BRAIN, ErrorClass.NETWORK_TIMEOUT, server.language)
    server.say(
        "notification",
        level="error",
        code="NETWORK_TIMEOUT",
        message=told,
        actions=["retry", "dismiss"],
        fatal=False,
    )
    server.status(why="fault", inMs=9_000)
    lost = notice(server.language, "lost", said="half past seven")
    server.say("notification", level="warning", code="lost", message=lost, actions=[], fatal=False)


def terminating(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.state("ending", "listening", "EndRequested")


def ended(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.say("ended", reason="hung up", canRestart=True)


def working(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.state("listening", "speaking", "PlaybackFinished")
    server.say("work", event="started", call=1, tool="check_calendar", mode="tool")
    server.say("work", event="ended", call=1, tool="check_calendar", outcome="done", durationMs=820)
    server.say("work", event="started", call=2, tool="send_invitations", mode="dispatch")
    server.say("work", event="progressed", call=2, tool="send_invitations", text="2 of 4 sent", fraction=0.5)
    server.say("work", event="started", call=3, tool="order_flowers", mode="dispatch")
    server.say("work", event="asked", call=3, tool="order_flowers", question="Roses or tulips?")


def pushing(page: Page, server: FakeServer) -> None:
    talked(page, server)
    page.locator("#modes input[value=push]").click()
    server.state("listening", "speaking", "PlaybackFinished")


def muted(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.state("listening", "speaking", "PlaybackFinished")
    page.locator("#mute").click()
    page.locator('body[data-hearing="muted"]').wait_for()


def pressed(page: Page, server: FakeServer) -> None:
    """Muted and paused: both buttons are pressed."""
    muted(page, server)
    server.state("paused", "listening", "SuspendRequested")


def loading_ears(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.state("listening", "speaking", "PlaybackFinished")
    server.status(hearing="loading")


def broken_ears(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.state("listening", "speaking", "PlaybackFinished")
    server.status(hearing="broken")


def writing_only(page: Page, server: FakeServer) -> None:
    server.agent = {**server.agent, "hears": False}
    server.ears = EarsCondition.NONE
    page.reload()
    talked(page, server)
    server.state("listening", "speaking", "PlaybackFinished")


def offered(page: Page, server: FakeServer) -> None:
    """Before the first words: what one could say."""
    server.agent = {**server.agent, "name": "Flight desk", "suggestions": SUGGESTIONS}
    page.reload()
    idle(page, server)


def offered_in_a_call(page: Page, server: FakeServer) -> None:
    offered(page, server)
    begin(page, server)
    agent(server, 1, "Hello! I can book a flight for you. Where would you like to go?")
    server.state("listening", "speaking", "PlaybackFinished")


def booked(page: Page, server: FakeServer) -> None:
    """A completed task, with its result."""
    offered(page, server)
    begin(page, server)
    agent(server, 1, "From Boston to Los Angeles on Friday, seats for three. Shall I book it?")
    user(server, 1, "yes please")
    agent(server, 2, "It is booked. Your reference is B K 1 2 3 4. Is there anything else?")
    server.say("dialogue", flow="book_flight", title="book a flight", state="completed", question=None, slots=BOOKED)
    server.say("results", results=RESULTS)
    server.state("listening", "speaking", "PlaybackFinished")


def booked_before(page: Page, server: FakeServer) -> None:
    """A task after a completed one, whose result stays."""
    booked(page, server)
    user(server, 2, "is my flight on time")
    agent(server, 3, "On which day is it?")
    slots = [{"name": "day", "label": "day", "value": None, "state": "asked"}]
    server.say(
        "dialogue", flow="look_up", title="look up a flight", state="waiting_for_slot", question="day", slots=slots
    )


def retrying(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.state("thinking", "listening", "TurnEnded")
    server.status(why="rate_limit", attempt=2, attemptsMax=3, inMs=4_000)


def told_why(page: Page, server: FakeServer) -> None:
    """Words of a cue: what is heard while the answer takes long."""
    talked(page, server)
    server.state("thinking", "listening", "TurnEnded")
    server.say("cue", action="play", cue="words", text="I'm still looking, one moment please.")


def queueing(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.state("working", "thinking", "ToolCalled")
    server.say("work", event="started", call=1, tool="find_tables", mode="tool", ranMs=12_000)
    user(server, 2, "and a high chair, please")
    server.status(queued=[2])


def session_lost(page: Page, server: FakeServer) -> None:
    """The server has lost the session, not the page its connection."""
    talked(page, server)
    server.state("reconnecting", "speaking", "LinkClosed")
    server.status(why="reconnecting", attempt=2, attemptsMax=3, inMs=3_000)


def beyond_repair(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.state("error", "thinking", "ReplyFailed")
    told = hint(FaultSource.BRAIN, ErrorClass.AUTH_FAILURE, server.language)
    server.say("notification", level="error", code="AUTH_FAILURE", message=told, actions=["restart"], fatal=True)


def reconnecting(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.refusal = (4503, "stopping")
    server.close(1012)
    page.locator("#banner:not([hidden])").wait_for()


def elsewhere(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.close(4410, "taken over")
    page.locator("#gate:not([hidden])").wait_for()


def token(page: Page, server: FakeServer) -> None:
    idle(page, server)
    server.token = "open sesame"
    server.close(1012)
    page.locator("#token").wait_for()


def hood(page: Page, server: FakeServer) -> None:
    talked(page, server)
    page.locator("#hood-toggle").click()
    server.wait("debug")
    steps = demo_steps()
    server.say("debug", **table(), settings={}, moments=list(steps[:60]))
    for text, token_ms, audio, played in ((210, 350, 190, 30), (150, 250, 120, 40), (180, 420, 150, 35)):
        stages = {"speechEndToText": text, "textToToken": token_ms, "tokenToAudio": audio, "audioToPlayed": played}
        server.say("metrics", **METRICS, stages=stages)
    reasons = ["the sentence is complete", "the pitch falls"]
    at = steps[44]["at"]
    server.say("decision", decision="end_of_turn", reasons=reasons, confidence=0.91, at=at)
    at = steps[55]["at"]
    server.say("decision", decision="barge_in", reasons=["words of substance"], confidence=0.84, at=at)
    server.say("context", summary="", activeFiles=[])
    for step in steps[60:63]:
        server.say("moment", **step)
    page.locator(".diagram svg").wait_for()


CALLS: list[dict[str, Any]] = [
    {"id": "5f2ad01b77c3", "line": "phone", "agent": "Ada", "phase": "speaking", "private": False, "own": False},
    {
        "id": "0c8814aa92e0",
        "line": "browser",
        "agent": "Ada",
        "phase": "working",
        "private": False,
        "own": False,
    },
    {"id": "d7d3b1c05a6f", "line": "phone", "agent": "Grace", "phase": "error", "private": True, "own": False},
]
for number, call in enumerate(CALLS):
    call["since"] = f"2030-01-01T12:0{number}:00Z"


def calls(page: Page, server: FakeServer) -> None:
    """The list of calls, and the steps of the user's own ended conversation."""
    server.calls = CALLS
    page.reload()
    hood(page, server)
    server.say("ended", reason="hung up", canRestart=True)
    page.locator(".call").first.wait_for()


def watching(page: Page, server: FakeServer) -> None:
    server.calls = CALLS
    server.history = [{"role": "assistant", "text": "Good evening, this is Ada at the Lantern.", "reply": 1}]
    page.goto(f"{server.url}?watch={CALLS[0]['id']}")
    page.locator("#watching:not([hidden])").wait_for()
    user(server, 1, "Hi, I'd like a table for two on Friday")
    server.say("dialogue", flow="book_table", title="A table", state="waiting_for_slot", question="time", slots=SLOTS)
    server.say("work", event="started", call=3, tool="order_flowers", mode="dispatch")
    server.say("work", event="asked", call=3, tool="order_flowers", question="Roses or tulips?")
    server.state("speaking", "thinking", "AudioBuffered")
    agent(server, 2, "Friday the fourteenth, for two. What", "time would suit you?", final=False)


def watching_the_machine(page: Page, server: FakeServer) -> None:
    watching(page, server)
    page.locator("#hood-toggle").click()
    server.wait("debug")
    server.say("debug", **table(), settings={}, moments=list(demo_steps()[:60]))
    page.locator(".diagram svg").wait_for()


def watched_to_the_end(page: Page, server: FakeServer) -> None:
    watching(page, server)
    server.say("ended", reason="hung up", canRestart=False)


METRICS: dict[str, Any] = {
    "sessionMs": 60_000,
    "turns": 5,
    "meanFirstTokenMs": 350,
    "meanFirstAudioMs": 564,
    "meanAnswerMs": 708,
    "interruptionRate": 0.06,
    "calls": 3,
    "callSuccessRate": 1.0,
    "errors": 1,
}

SCENES = tuple(
    Scene(scene.__name__, scene)
    for scene in (
        idle,
        preparing,
        listening,
        processing,
        waiting,
        speaking,
        interrupted,
        overheard,
        suspended,
        faulted,
        terminating,
        ended,
        working,
        pushing,
        muted,
        pressed,
        loading_ears,
        broken_ears,
        writing_only,
        offered,
        offered_in_a_call,
        booked,
        booked_before,
        retrying,
        told_why,
        queueing,
        session_lost,
        beyond_repair,
        reconnecting,
        elsewhere,
        token,
        hood,
        calls,
        watching,
        watching_the_machine,
        watched_to_the_end,
    )
)


def until(page: Page, fact: str) -> None:
    """Wait for a fact, by polling: Playwright's own wait evaluates in the page, which the security policy forbids."""
    deadline = time.monotonic() + 20
    while not page.evaluate(fact):
        assert time.monotonic() < deadline, f"never: {fact}"
        page.wait_for_timeout(20)
