"""Measures how long a person waits in a real browser: `duologue bench page` plays recordings to the panel in Chromium.

The recordings enter the page through a scripted microphone, in real time. The server has local ears; its brain and its
voice answer at once. The same recordings are played to the same agent in simulated time, as `duologue listen` does.
Rule: a wait begins when the browser's audio thread has rendered the last sample of the person's speech, as labelled in
the recording. It ends when the audio thread renders the first sample of the answer.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from playwright.async_api import Browser, Page, async_playwright

from duologue.audio.frames import Samples
from duologue.core.errors import DuologueError
from duologue.core.settings import with_changes
from duologue.core.step_record import StepRecord
from duologue.lab.recordings.busy_clock import run_timed
from duologue.lab.recordings.listener import AFTER_MS, Listener, ends_turn, read
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.server.app import Server
from duologue.server.listening import bind_socket, server_url
from duologue.server.run import serving
from duologue.server.settings import Limits, ServerSettings, many_at_one_address

from .chromium import FLAGS, find_chromium
from .page_pairs import BUDGETS, ComparedRecording, EndedTurn, PageTimes, compare, ended
from .page_sound import RATE_HZ, SCRIPT, ArrivedSound, ToneVoice, script_argument
from .talk import EARLY_MS, Expected, Talker, TimedBrain

LIMIT_S = 60.0
POLL_S = 0.02
SHIFT_MS = 16
TRANSPORTS = ("pcm", "opus")
NOTE = (
    "Milliseconds after the end of the person's speech. listen: simulated time in which models take their CPU time. "
    "page: real time, a headless Chromium and the server on one machine."
)


@dataclass
class PageCallNotes:
    """What the server did in one conversation, in milliseconds of the wall clock."""

    decided: list[float] = field(default_factory=list)  # a turn is over
    arrived: ArrivedSound = field(default_factory=ArrivedSound)

    def follow(self, record: StepRecord) -> None:
        if ends_turn(record):
            self.decided.append(time.time() * 1000)


class _Heard(NamedTuple):
    """What a page did with one recording, and what arrived at the server: the sound, and the number of the sample with
    which the speech ends."""

    ended: EndedTurn
    more: PageTimes
    arrived: Samples
    last: int | None


def bench_page(
    listener: Listener,
    recordings: list[Expected],
    transports: tuple[str, ...] = TRANSPORTS,
    progress: Callable[[str], None] = lambda what: None,  # noqa: ARG005
) -> dict[str, Any]:
    """Play these recordings to the page over each transport, and to the listener's agent in simulated time."""
    if not find_chromium():
        raise DuologueError("Chromium not found: install it, or set DUOLOGUE_CHROMIUM to its path")
    settings = with_changes(listener.settings, dead_air_ms=0)
    talker = Talker(listener.ears, listener.endpoint, settings)
    listened, shifted = [], []
    for number, one in enumerate(recordings, 1):
        progress(f"listen, {number} of {len(recordings)}")
        listened.append(_listen(talker, one, read(one.wav)))
        shifted.append(_listen_shifted(talker, one))
    heard = asyncio.run(_play_everything(talker, recordings, transports, progress))
    runs, details = [], []
    for transport, found in heard.items():
        progress(f"{transport}, listening to what arrived")
        again = (_listen_again(talker, one, page) for one, page in zip(recordings, found, strict=True))
        played = [
            ComparedRecording(
                one.id, page.ended, there, page.more._replace(replayed_ms=replayed_ms, shifted_ms=shifted_ms)
            )
            for one, page, there, replayed_ms, shifted_ms in zip(
                recordings, found, listened, again, shifted, strict=True
            )
        ]
        runs.append({"transport": transport} | compare(played))
        details += [_to_json(transport, one) for one in played]
    return {
        "load": round(os.getloadavg()[0], 1),
        "budget": {budget.key: budget.limit for budget in BUDGETS},
        "transports": runs,
        "recordings": details,
        "note": NOTE,
    }


def _listen(talker: Talker, expected: Expected, recording: Samples) -> EndedTurn:
    made = run_timed(talker.listen(recording)).decisions
    decided, speaks = ([one.t_ms for one in made if one.kind == kind] for kind in ("end_of_turn", "speaks"))
    return ended(expected, decided, speaks)


def _listen_shifted(talker: Talker, expected: Expected) -> int | None:
    """Play the recording again to the agent in simulated time, but let it begin half a frame later, so that its frames
    begin at other samples. Returns the time at which the agent decides that the turn is over."""
    silence = np.zeros(SHIFT_MS * RATE_HZ // 1000, np.float32)
    moved = expected._replace(end_ms=expected.end_ms + SHIFT_MS, forbidden=())
    return _listen(talker, moved, np.concatenate((silence, read(expected.wav)))).decided_ms


def _listen_again(talker: Talker, expected: Expected, page: _Heard) -> int | None:
    """Play the sound that has arrived at the server again, to the agent in simulated time. Returns the time at which
    the agent decides that the turn is over; None if the sound doesn't contain the end of the speech."""
    if page.last is None:
        return None
    moved = expected._replace(end_ms=page.last * 1000 // RATE_HZ, forbidden=())
    return _listen(talker, moved, page.arrived).decided_ms


async def _play_everything(
    talker: Talker, recordings: list[Expected], transports: tuple[str, ...], progress: Callable[[str], None]
) -> dict[str, list[_Heard]]:
    async with async_playwright() as play:
        browser = await play.chromium.launch(executable_path=find_chromium(), args=[*FLAGS])
        found = {one: await _play_all(browser, talker, recordings, one, progress) for one in transports}
        await browser.close()
    return found


def _to_json(transport: str, one: ComparedRecording) -> dict[str, Any]:
    sides = {"page": one.page._asdict(), "listen": one.listen._asdict()}
    return {"transport": transport, "id": one.id, **sides, **one.more._asdict()}


# -- One transport


async def _play_all(
    browser: Browser, talker: Talker, recordings: list[Expected], transport: str, progress: Callable[[str], None]
) -> list[_Heard]:
    agent = Agent(
        TimedBrain(0, []),
        name="Bench",
        ears=talker.ears,
        voice=ToneVoice(),
        profile=talker.settings,
        endpoint=talker.endpoint,
        speculation=talker.speculation,
    )
    limits = many_at_one_address(Limits(), 1_000)
    server = Server(agent, ServerSettings(port=0, opus=transport == "opus", limits=limits))
    listening = bind_socket("127.0.0.1", 0)
    found = []
    async with serving(server, listening):
        context = await browser.new_context(viewport={"width": 1280, "height": 800}, bypass_csp=True)
        await context.add_init_script(SCRIPT)
        page = await context.new_page()
        await page.goto(server_url(listening))
        for number, one in enumerate(recordings, 1):
            progress(f"{transport}, {number} of {len(recordings)}")
            found.append(await _play(page, server, one))
        await context.close()
    return found


def _watch(server: Server) -> PageCallNotes:
    """Note what the next conversation of this server does."""
    notes = PageCallNotes()

    def observe(conversation: Conversation) -> None:
        conversation.engine.watchers.append(notes.follow)
        line: Any = conversation.engine.line
        hear = line.hear

        def noted_hear(pcm: bytes) -> None:
            notes.arrived.add(pcm, time.time() * 1000)
            hear(pcm)

        line.hear = noted_hear

    server.conversations.observers[:] = [observe]
    return notes


async def _play(page: Page, server: Server, expected: Expected) -> _Heard:
    """Start a conversation, play one recording, and end the conversation after the answer."""
    notes = _watch(server)
    recording = read(expected.wav)
    after = np.zeros(AFTER_MS * RATE_HZ // 1000, np.float32)
    await page.evaluate("window.bench.starts = []")
    await page.locator("#start:not([disabled])").click()
    await page.locator('body[data-on="true"]').wait_for(timeout=LIMIT_S * 1000)
    await _until(page, "window.duologue.player.node && window.duologue.microphone.status !== 'asking'")
    await _until(page, "window.duologue.frames() > 0")
    await page.evaluate("window.bench.watch()")
    said = script_argument(np.concatenate((recording, after)), expected.end_ms)
    spoken_at = float(await page.evaluate("said => window.bench.say(said)", said))
    with suppress(TimeoutError):
        async with asyncio.timeout(AFTER_MS / 1000):
            await _until(page, f"window.bench.starts.some((at) => at >= {spoken_at - EARLY_MS})")
            await _until(page, "document.body.dataset.phase === 'listening'")
    starts = [float(at) for at in await page.evaluate("window.bench.starts")]
    await page.evaluate("window.bench.hush()")
    await page.locator("#end").click()
    await page.locator("#start:not([disabled])").wait_for(timeout=LIMIT_S * 1000)
    stages: dict[str, int | None] = (await page.evaluate("window.duologue.model.metrics?.stages")) or {}
    return _read(expected, recording, notes, spoken_at, starts, stages)


async def _until(page: Page, condition: str) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not await page.evaluate(f"Boolean({condition})"):
            await asyncio.sleep(POLL_S)


# -- Reading


def _read(
    expected: Expected,
    recording: Samples,
    notes: PageCallNotes,
    spoken_at: float,
    starts: list[float],
    stages: dict[str, int | None],
) -> _Heard:
    def in_recording(at: float) -> int:
        return round(at - spoken_at) + expected.end_ms

    found = ended(expected, map(in_recording, notes.decided), map(in_recording, starts))
    place, last, line_ms, audio_ms = notes.arrived.place_of(recording), None, None, None
    if place is not None:
        last = place + expected.end_ms * RATE_HZ // 1000
        arrived_at = notes.arrived.arrival_of(last)
        line_ms = None if arrived_at is None else round(arrived_at - spoken_at)
        if found.decided_ms is not None:
            had = notes.arrived.samples_at(spoken_at + found.decided_ms)
            audio_ms = (had - last) * 1000 // RATE_HZ
    sent_ms = None
    if found.decided_ms is not None and found.heard_ms is not None:
        sent_ms = found.heard_ms - found.decided_ms
    known = [ms for ms in stages.values() if ms is not None]
    more = PageTimes(line_ms, audio_ms, sent_ms, sum(known) if known else None)
    return _Heard(found, more, notes.arrived.samples, last)
