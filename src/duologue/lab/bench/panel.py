"""Measures how soon the panel shows what the server sends, in a real browser: `duologue bench panel`.

Types to a scripted agent, pauses it and interrupts it. The agent's brain and TTS answer immediately. Server and page
are on one computer, and their clocks are compared through the browser's control channel. Rule: a delay begins when the
server sends something, and ends when the page has painted the label or rendered the sound.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Page, async_playwright

from duologue.brains.scripted import ScriptedBrain
from duologue.core.errors import DuologueError
from duologue.core.settings import profile
from duologue.observe import signals as sg
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.server.app import Server
from duologue.server.listening import bind_socket, server_url
from duologue.server.run import serving
from duologue.server.settings import ServerSettings
from duologue.voice.scripted import ScriptedVoice

from .budget import Budget
from .chromium import FLAGS, find_chromium

ANSWER = "There is a table at seven, by the window."
LIMIT_S = 30.0
QUANTUM = 64  # samples at 24 kHz (the voice) in one quantum of the browser: 128 samples at 48 kHz
BUDGETS = (
    Budget("label_ms_p95", "state sent → label shown, 95 %", 150, "ms"),
    Budget("label_ms_max", "state sent → label shown, slowest", 150, "ms"),
)
NOTE = (
    "A headless Chromium and the server on one machine. label_ms counts from the server's change of state to the frame "
    "in which its label was painted; audio_start_ms from the first chunk sent to the first sample rendered; "
    "hold_quanta, of 128 samples each, from the page's hold command to silence."
)
# Records when a voice is first rendered, and how many samples were still rendered after a hold command.
_WATCH = """() => {
  const { player } = window.duologue;
  const { heard, post } = player;
  const seconds = (samples) => samples / player.rate;
  window.measured = { starts: [], holds: [] };
  let voice = 0;
  let anchor = -Infinity;
  let heldAt = null;
  player.heard = (report) => {
    const clock = player.sound.context.currentTime;
    if (report.voice !== voice && report.samples > 0) {
      voice = report.voice;
      anchor = -Infinity;
      window.measured.starts.push({ voice, at: performance.now() - 1000 * seconds(report.samples) });
    }
    if (report.kind === "position") anchor = Math.max(anchor, seconds(report.samples) - clock);
    if (report.kind === "held" && heldAt !== null && anchor > -Infinity) {
      window.measured.holds.push(report.samples - (heldAt + anchor) * player.rate);
    }
    if (report.kind === "held") heldAt = null;
    heard.call(player, report);
  };
  player.post = (message) => {
    if (message.do === "hold") heldAt = player.sound.context.currentTime;
    post.call(player, message);
  };
}"""


@dataclass
class PanelNotes:
    """The times at which the server entered each state, and at which it sent the first sound of each voice (utterance
    of the agent). Times are in milliseconds of the server's clock."""

    entered: list[tuple[str, float]] = field(default_factory=list)
    sounds: dict[int, float] = field(default_factory=dict)  # when the first chunk of each voice was sent


def bench_panel(
    turns: int = 40,
    progress: Callable[[str], None] = lambda what: None,  # noqa: ARG005
    opus: bool = True,
) -> dict[str, Any]:
    """Measure the panel over this many turns. With `opus`, the server sends the sound as Opus."""
    if not find_chromium():
        raise DuologueError("Chromium not found: install it, or set DUOLOGUE_CHROMIUM to its path")
    return asyncio.run(_measure(turns, progress, opus))


async def _measure(turns: int, progress: Callable[[str], None], opus: bool) -> dict[str, Any]:
    noted = PanelNotes()
    settings = profile("confirm", dead_air_ms=0)
    agent = Agent(ScriptedBrain(otherwise=ANSWER), name="Bench", voice=ScriptedVoice(char_ms=20), profile=settings)
    server = Server(agent, ServerSettings(port=0, opus=opus))
    _watch(server, noted)
    listening = bind_socket("127.0.0.1", 0)
    url = server_url(listening)
    async with serving(server, listening), async_playwright() as play:
        progress("starting the browser")
        browser = await play.chromium.launch(executable_path=find_chromium(), args=[*FLAGS])
        page = await browser.new_page(viewport={"width": 1280, "height": 800})
        await page.goto(url)
        await page.locator("#start:not([disabled])").click()
        await _state(page, "listening")
        await page.evaluate(_WATCH)
        _watch_sound(server, noted)
        before = await _clock(page)
        for turn in range(turns):
            progress(f"turn {turn + 1} of {turns}")
            await _turn(page, turn)
        after = await _clock(page)
        timings = await _timings(page, len(noted.entered))
        measured = await page.evaluate("window.measured")
        result = _result(noted, timings, measured, before, after)
        for served in tuple(server.conversations.served.values()):
            await served.end("measured")
        await browser.close()
    return result


def _watch(server: Server, noted: PanelNotes) -> None:
    watch = server.conversations.watch

    def watched(conversation: Conversation) -> None:
        watch(conversation)
        conversation.on(sg.StateEntered, note)

    def note(signal: sg.StateEntered) -> None:
        if signal.view == "phase":  # the page shows phases
            noted.entered.append((signal.state, time.perf_counter() * 1000))

    server.conversations.watch = watched  # type: ignore[method-assign]


def _watch_sound(server: Server, noted: PanelNotes) -> None:
    (served,) = server.conversations.served.values()
    client = served.client
    assert client is not None
    send = client.send_sound

    def noted_send(voice: int, chunk: int, pcm: bytes) -> None:
        noted.sounds.setdefault(voice, time.perf_counter() * 1000)
        send(voice, chunk, pcm)

    client.send_sound = noted_send  # type: ignore[method-assign]


# -- Driving


async def _turn(page: Page, turn: int) -> None:
    """Type a message and wait until the answer is over. In every second turn, pause and resume the answer. In every
    fourth turn, also interrupt it."""
    await page.locator("#typed").fill("a table, please")
    await page.locator("#typed").press("Enter")
    await _state(page, "speaking")
    if turn % 2:
        await page.locator("#pause").click()
        await _state(page, "paused")
        await page.locator("#pause").click()
        await _state(page, "speaking")
    if turn % 4 == 3:
        await page.locator("#interrupt").click()
    await _state(page, "listening")


async def _state(page: Page, state: str) -> None:
    await page.locator(f'body[data-phase="{state}"]').wait_for(timeout=LIMIT_S * 1000)


async def _timings(page: Page, count: int) -> list[dict[str, Any]]:
    """Wait until the page has shown `count` states. Returns, for each state, the time when it arrived and the time when
    it was shown. The page stores only the newest 500 states."""
    async with asyncio.timeout(LIMIT_S):
        while len(found := await page.evaluate("window.duologue.timings")) < min(count, 500):
            await asyncio.sleep(0.05)
    return list(found)


async def _clock(page: Page) -> tuple[float, float]:
    """How many milliseconds this process's clock is ahead of the page's clock, and the largest possible error of that
    number."""
    found = []
    for _ in range(40):
        sent = time.perf_counter() * 1000
        theirs = await page.evaluate("performance.now()")
        received = time.perf_counter() * 1000
        found.append(((received - sent) / 2, (sent + received) / 2 - theirs))
    error, offset = min(found)
    return offset, error


# -- Reading


def _result(
    noted: PanelNotes,
    timings: list[dict[str, Any]],
    measured: dict[str, Any],
    before: tuple[float, float],
    after: tuple[float, float],
) -> dict[str, Any]:
    offset, error = (before[0] + after[0]) / 2, max(before[1], after[1])
    entered = [phase for phase, _ in noted.entered]
    shown = [timing["phase"] for timing in timings]
    if shown != entered[-len(shown) :]:
        raise DuologueError(f"the page showed {shown[-5:]}, but the server sent {entered[-5:]}")
    pairs = zip(noted.entered[-len(shown) :], timings, strict=True)
    labels = [timing["shownAt"] + offset - sent for (_, sent), timing in pairs]
    starts = [
        start["at"] + offset - noted.sounds[start["voice"]]
        for start in measured["starts"]
        if start["voice"] in noted.sounds
    ]
    quanta = [max(0.0, samples / QUANTUM) for samples in measured["holds"]]
    result: dict[str, Any] = {
        "transitions": len(labels),
        "label_ms_p50": _share(labels, 50),
        "label_ms_p95": _share(labels, 95),
        "label_ms_max": round(max(labels), 1),
        "audio_starts": len(starts),
        "audio_start_ms_p50": _share(starts, 50),
        "audio_start_ms_p95": _share(starts, 95),
        "holds": len(quanta),
        "hold_quanta_p50": _share(quanta, 50),
        "hold_quanta_max": round(max(quanta, default=0.0), 1),
        "clock_error_ms": round(error, 2),
    }
    result["budget"] = {budget.key: budget.limit for budget in BUDGETS}
    result["within_budget"] = {budget.key: budget.holds(result[budget.key]) for budget in BUDGETS}
    result["note"] = NOTE
    return result


def _share(values: list[float], percent: int) -> float:
    if len(values) < 2:
        return round(values[0], 1) if values else float("nan")
    return round(statistics.quantiles(values, n=100, method="inclusive")[percent - 1], 1)


def report(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The result as rows of (what, measured, budget). The budget may be empty."""
    more = [
        (f"state sent → label shown, median of {result['transitions']}", f"{result['label_ms_p50']} ms", ""),
        ("first chunk sent → first sample rendered, median", f"{result['audio_start_ms_p50']} ms", ""),
        (
            "hold command → silence, median and slowest",
            f"{result['hold_quanta_p50']}, {result['hold_quanta_max']} quanta",
            "",
        ),
    ]
    return [*(budget.row(result) for budget in BUDGETS), *more]
