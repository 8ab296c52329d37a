"""The panel as a user sees it, and the real server behind it: one class for each.

Everything is found by what it is (an id, a role, a data attribute), never by where it stands. Rule: whatever is
waited for is an event of the page or the server, with a generous limit; nothing waits for a fixed time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, WebSocket, expect

from duologue.observe import signals as sg
from duologue.ports.history import AgentSaid, Item
from duologue.runtime.agent import Agent
from duologue.server.app import Server
from duologue.server.listening import bind_socket, server_url
from duologue.server.run import serving
from duologue.server.served_conversation import ServedConversation
from duologue.server.settings import Limits, ServerSettings, many_at_one_address
from tests.browser import spoken

LIMIT_S = 40.0
LIMIT_MS = LIMIT_S * 1000
expect.set_options(timeout=LIMIT_MS)
MICROPHONE = Path(__file__).with_name("microphone.js").read_text(encoding="utf-8")
OWN_MICROPHONE = "/* the browser's own */"
# What the browser writes by itself if a page loses its server or may not sound yet. Nothing else may be in the console.
_BROWSERS_OWN = (
    "The AudioContext was not allowed to start",
    "WebSocket connection to",
    "ERR_INTERNET_DISCONNECTED",
    "ERR_CONNECTION_REFUSED",
    "ERR_CONNECTION_RESET",
    "ERR_EMPTY_RESPONSE",
)
_TIMES_IN = "window.duologue.timings.filter(({ phase }) => phase === '%s').length"


class Host:
    """A real server with an agent, and what its conversations did."""

    def __init__(self, server: Server) -> None:
        self.server = server
        listening = bind_socket("127.0.0.1", 0)
        self.url = server_url(listening)
        listening.close()
        self._serving = contextlib.AsyncExitStack()
        self._running: Any = None

    @property
    def served(self) -> ServedConversation:
        """The running conversation, or the newest."""
        served = list(self.server.conversations.served.values()) or list(self.server.conversations.past.values())
        return served[-1]

    @property
    def history(self) -> tuple[Item, ...]:
        return self.served.conversation.history

    @property
    def said(self) -> list[AgentSaid]:
        return [item for item in self.history if isinstance(item, AgentSaid)]

    def watch_states(self) -> list[str]:
        """The states of every conversation from now on, as they are entered."""
        entered: list[str] = []
        watch = self.server.conversations.watch

        def watched(conversation: Any) -> None:
            watch(conversation)
            conversation.on(
                sg.StateEntered, lambda found: entered.append(found.state) if found.view == "phase" else None
            )

        self.server.conversations.watch = watched  # type: ignore[method-assign]
        return entered

    def drop_sockets(self) -> None:
        """Cut every connection at the server's end, without a close frame, as a network failure would."""
        assert self._running is not None
        for protocol in tuple(self._running.server_state.connections):
            protocol.transport.abort()  # type: ignore[union-attr]

    async def go_up(self) -> None:
        """Listen at the address."""
        listening = bind_socket("127.0.0.1", int(self.url.rstrip("/").rpartition(":")[2]))
        await self._open(listening)

    async def go_down(self) -> None:
        """Stop listening, as if the network were gone; conversations stay."""
        if self._running is not None:
            self.drop_sockets()
        await self._serving.aclose()
        self._serving, self._running = contextlib.AsyncExitStack(), None

    async def _open(self, listening: Any) -> None:
        self._running = await self._serving.enter_async_context(serving(self.server, listening))


@contextlib.asynccontextmanager
async def hosting(agent: Agent | Callable[[], Agent], **settings: Any) -> AsyncIterator[Host]:
    """A server with this agent, on its own port."""
    settings.setdefault("limits", many_at_one_address(Limits(), 1_000))
    host = Host(Server(agent, ServerSettings(port=0, **settings)))
    await host.go_up()
    try:
        yield host
    finally:
        for served in tuple(host.server.conversations.served.values()):
            await served.end("the test is over")
        await host.go_down()


async def until(holds: Callable[[], bool], what: str, limit_s: float = LIMIT_S) -> None:
    """Wait for a condition of the server, by polling."""
    try:
        async with asyncio.timeout(limit_s):
            while not holds():
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(f"not within {limit_s:.0f} s: {what}") from None


@dataclass
class Watch:
    """Records what a page must not do: violate its security policy, fail in a script, contact another host."""

    host: str
    wrong: list[str] = field(default_factory=list)

    def follow(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.wrong.append(f"script: {error}"))
        page.on("request", lambda request: self._request(request.url))
        page.on("websocket", lambda socket: self._request(socket.url))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(_BROWSERS_OWN):
            if any(part in message.text for part in _BROWSERS_OWN):
                return
            self.wrong.append(f"console: {message.text}")

    def _request(self, url: str) -> None:
        if not url.startswith(("http://" + self.host, "ws://" + self.host, "blob:", "data:")):
            self.wrong.append(f"another host: {url}")


class Panel:
    """One tab."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.plays: list[str] = []  # what the player was told, in order
        self.sound_sent = 0  # messages with sound of the microphone
        page.on("websocket", self._follow)
        self.label = page.locator("#state-label")
        self.hint = page.locator("#state-hint")
        self.lines = page.locator("#lines > li.line")
        self.notices = page.locator("#notices > li")
        self.banner = page.locator("#banner")
        self.gate = page.locator("#gate")
        self.task = page.locator("#task")
        self.jobs = page.locator("#work li.job")
        self.typed = page.locator("#typed")

    def _follow(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._note)
        socket.on("framesent", self._count)

    def _count(self, frame: str | bytes) -> None:
        self.sound_sent += isinstance(frame, bytes)

    def _note(self, frame: str | bytes) -> None:
        if isinstance(frame, str) and '"duologue.play"' in frame:
            self.plays.append(json.loads(frame)["payload"]["action"])

    def button(self, name: str) -> Locator:
        return self.page.locator(f"#{name}")

    def said_by(self, role: str) -> Locator:
        """Lines of the transcript: role is user or assistant."""
        return self.page.locator(f'#lines > li[data-role="{role}"]')

    async def start(self) -> None:
        """Press start; returns when the conversation is running."""
        await expect(self.button("start")).to_be_enabled()
        await self.button("start").click()
        await self.is_on()

    async def is_on(self) -> None:
        await expect(self.page.locator("body")).to_have_attribute("data-on", "true")

    async def state(self, *states: str) -> None:
        """Wait until the page shows one of these states."""
        wanted = ", ".join(f'body[data-phase="{state}"]' for state in states)
        await expect(self.page.locator(wanted)).to_have_count(1)

    async def times_in(self, state: str) -> int:
        """How often the page has shown this state since it was loaded."""
        return int(await self.js(_TIMES_IN % state))

    async def been(self, state: str, times: int = 1) -> None:
        """Wait until the page has shown this state this often, even if it shows another by now."""
        await self.when(f"{_TIMES_IN % state} >= {times}")

    async def write(self, text: str) -> None:
        """A typed turn."""
        await expect(self.button("send")).to_be_enabled()
        await self.typed.fill(text)
        await self.typed.press("Enter")
        await expect(self.typed).to_have_value("")

    async def say(self, text: str) -> None:
        """A spoken turn; returns after its last sample."""
        await self.play(await spoken.sentence(text))

    async def play(self, samples: spoken.Samples) -> None:
        await self.when("window.scripted.isOpen && window.duologue.frames() > 0")
        await self.page.evaluate("sound => window.scripted.say(sound)", spoken.in_base64(samples))

    async def slots(self) -> dict[str, str]:
        """What the card of the task shows."""
        rows = await self.task.locator("dl > div").all()
        found = {}
        for row in rows:
            value = (await row.locator(".value").inner_text()).strip()
            found[(await row.locator("dt").inner_text()).strip().lower()] = value
        return found

    async def slot(self, label: str, value: str | None = None) -> None:
        """Wait until this slot is filled."""
        known = 'div[data-state="filled"], div[data-state="confirmed"]'
        row = self.task.locator(known).filter(has=self.page.get_by_text(label, exact=True))
        await expect(row).to_have_count(1)
        if value is not None:
            await expect(row.locator(".value")).to_have_text(value)

    async def transcript(self) -> list[tuple[str, str, str]]:
        """Role, what was heard, what is struck through, for each line."""
        return [line for line, _ in await self.lines_read()]

    async def lines_read(self) -> list[tuple[tuple[str, str, str], bool]]:
        """Each line of the transcript, and whether it is marked as overheard."""
        found: list[tuple[str, str, str, bool]] = await self.page.evaluate(
            """() => [...document.querySelectorAll("#lines > li.line")].map((line) => {
              const cut = line.querySelector("del");
              return [line.dataset.role, line.querySelector(".heard").textContent,
                cut.hidden ? "" : cut.dataset.text, line.dataset.overheard === "true"];
            })"""
        )
        return [
            ((role, " ".join(heard.split()), " ".join(cut.split())), overheard) for role, heard, cut, overheard in found
        ]

    async def js(self, code: str) -> Any:
        return await self.page.evaluate(code)

    async def when(self, code: str) -> None:
        """Wait until this expression is true in the page."""
        async with asyncio.timeout(LIMIT_S):  # a function that the page polls itself would break its own policy
            while not await self.page.evaluate(code):
                await asyncio.sleep(0.03)

    async def watch_player(self) -> None:
        """Record the messages of the audio thread from now on, except positions."""
        await self.page.evaluate(
            """() => {
              const { player } = window.duologue;
              const { heard } = player;
              window.told = [];
              player.heard = (report) => {
                if (report.kind !== "position") window.told.push(report.kind);
                heard.call(player, report);
              };
            }"""
        )

    async def player_told(self) -> list[str]:
        found: list[str] = await self.page.evaluate("window.told")
        return found

    async def rendered_ms(self) -> int:
        found: int = await self.page.evaluate("window.duologue.player.ms(window.duologue.player.samples)")
        return found


@contextlib.asynccontextmanager
async def browsing(browser: Browser, host: Host, init: Iterable[str] = (), **options: Any) -> AsyncIterator[Tabs]:
    """A new browser profile: empty storage, the microphone allowed. Nothing moves, because drawing takes CPU time that
    servers and ears in real time need."""
    calm = {"viewport": {"width": 1100, "height": 760}, "reduced_motion": "reduce"}
    options = {**calm, "locale": "en-US", "permissions": ["microphone"], **options}
    context = await browser.new_context(**options)
    context.set_default_timeout(LIMIT_MS)
    for script in init:
        await context.add_init_script(script)
    watch = Watch(host.url.removeprefix("http://").rstrip("/"))
    context.on("page", watch.follow)
    try:
        yield Tabs(context, host)
    finally:
        await context.close()
    if watch.wrong:
        raise AssertionError("a page did what it may not: " + "; ".join(watch.wrong))


class Tabs:
    """The tabs of one profile."""

    def __init__(self, context: BrowserContext, host: Host) -> None:
        self.context = context
        self.host = host

    async def open(self, search: str = "") -> Panel:
        panel = Panel(await self.context.new_page())
        await panel.page.goto(self.host.url + search)
        return panel
