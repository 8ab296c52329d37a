"""The agent on a page of another origin: it works, the page can't break it, and a page that may not have it is told."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright import async_api
from playwright.async_api import Page, expect

from duologue import Agent
from duologue.testing import ScriptedBrain, ScriptedEars, ScriptedVoice
from tests.browser.foreign_page import HOSTILE_CSS, KEY, SHOP_CSS, ForeignPage, foreign_page
from tests.browser.panel_page import LIMIT_MS, MICROPHONE, Host, hosting, until
from tests.browser.test_accessibility import SERIOUS
from tests.needs import needs_axe

pytestmark = pytest.mark.alone
ROOT = Path(__file__).parents[2]
DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 780}


def ada() -> Agent:
    brain = ScriptedBrain(lambda request: f"You ask: {request.text} We ship today.")
    return Agent(brain, ears=ScriptedEars(), voice=ScriptedVoice(), name="Ada", suggestions=("Where is my order?",))


@contextlib.asynccontextmanager
async def visiting(browser: async_api.Browser, **options: Any) -> AsyncIterator[tuple[Page, list[str]]]:
    """A page of a new profile, and what it wrote to its console."""
    given = {"permissions": ["microphone"], "locale": "en-US", "reduced_motion": "reduce", **options}
    context = await browser.new_context(**given)
    context.set_default_timeout(LIMIT_MS)
    await context.add_init_script(MICROPHONE)
    page = await context.new_page()
    written: list[str] = []
    page.on("console", lambda line: written.append(line.text) if line.type == "error" else None)
    page.on("pageerror", lambda problem: written.append(str(problem)))
    try:
        yield page, written
    finally:
        await context.close()


@contextlib.asynccontextmanager
async def embedded(css: str = SHOP_CSS, **settings: Any) -> AsyncIterator[tuple[ForeignPage, Host]]:
    """A server whose agent the page may embed, with tickets."""
    with foreign_page(css) as foreign:
        given = {"origins": (foreign.origin,), "ticket_key": KEY, **settings}
        async with hosting(ada, **given) as host:
            foreign.embed(host.url)
            yield foreign, host


async def is_accessible(page: Page) -> None:
    await page.evaluate(needs_axe())
    assert await page.evaluate(SERIOUS) == []


async def test_a_visitor_talks_with_the_keyboard_alone_and_a_reload_goes_on(
    shared_browser: async_api.Browser, one_at_a_time: None
) -> None:
    async with embedded() as (foreign, host), visiting(shared_browser, viewport=DESK) as (page, written):
        await page.goto(foreign.origin)
        launcher = page.get_by_role("button", name="Talk to Ada")
        await expect(launcher).to_be_visible()
        assert foreign.tickets == 0, "no ticket before the widget is opened"
        await is_accessible(page)
        await launcher.focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog", name="Ada")).to_be_visible()
        start = page.get_by_role("button", name="Start talking")
        await expect(start).to_be_enabled()
        await is_accessible(page)
        await page.keyboard.press("Escape")
        await expect(launcher).to_be_focused()
        await page.keyboard.press("Enter")
        for _ in range(12):
            if await start.evaluate("button => button.getRootNode().activeElement === button"):
                break
            await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(page.locator(".widget")).to_have_attribute("data-phase", "listening")
        await page.get_by_label("Write a message").fill("where is my order?")
        await page.keyboard.press("Enter")
        answer = page.locator("#lines > li").filter(has_text="You ask: where is my order? We ship today.")
        await expect(answer).to_have_attribute("data-live", "false")
        await expect(page.locator("#announcer")).to_contain_text("Ada: You ask: where is my order? We ship today.")
        await is_accessible(page)
        assert foreign.tickets == 1
        await page.reload()
        await page.get_by_role("button", name="Talk to Ada").click()
        await expect(answer).to_be_visible()
        await page.get_by_role("button", name="End", exact=True).click()
        await expect(page.get_by_role("button", name="Start again")).to_be_visible()
        assert written == []
        assert len(host.server.conversations.past) == 1


async def test_a_phone_gets_the_whole_screen_and_a_hostile_style_sheet_changes_nothing(
    shared_browser: async_api.Browser, one_at_a_time: None
) -> None:
    measure = """() => [...document.querySelector("duologue-agent").shadowRoot.querySelectorAll(
        "#launcher, #window, #start, #orb, #state-label, .captions")].map((one) => {
            const { x, y, width, height } = one.getBoundingClientRect();
            const { color, fontSize, fontFamily, display, visibility } = getComputedStyle(one);
            return [one.id || one.className, x, y, width, height, color, fontSize, fontFamily, display, visibility];
        })"""
    found = []
    for css in (SHOP_CSS, HOSTILE_CSS):
        async with embedded(css) as (foreign, _), visiting(shared_browser, viewport=PHONE, has_touch=True) as (page, _):
            await page.goto(foreign.origin)
            await page.get_by_role("button", name="Talk to Ada").tap()
            await expect(page.get_by_role("button", name="Start talking")).to_be_enabled()
            found.append(await page.evaluate(measure))
            await is_accessible(page)
    assert found[0] == found[1]
    window = next(one for one in found[0] if one[0] == "window")
    assert window[1:5] == [0, 0, PHONE["width"], PHONE["height"]]


LOOK = """() => {
    const host = document.querySelector("duologue-agent");
    const find = (id) => host.shadowRoot.getElementById(id);
    const { left, right } = find("launcher").getBoundingClientRect();
    return {
        ground: getComputedStyle(find("window")).backgroundColor,
        font: getComputedStyle(find("launcher")).fontFamily,
        orb: getComputedStyle(find("orb")).getPropertyValue("--orb-violet"),
        isLeft: left < innerWidth - right,
        parent: host.parentElement.id || host.parentElement.localName,
        position: getComputedStyle(host).position,
    };
}"""


async def test_the_page_chooses_theme_place_language_and_colours(
    shared_browser: async_api.Browser, one_at_a_time: None
) -> None:
    own = "--duologue-ground: rgb(250, 244, 238); --duologue-font: Georgia; --duologue-agent: #4b2a8f;"
    looks = {}
    for attributes, css, name in (
        ("", "", "Talk to Ada"),
        ('data-theme="light" data-position="left"', "", "Talk to Ada"),
        ('data-theme="dark" data-language="de"', "", "Mit Ada sprechen"),
        ('data-position="inline" data-target="main"', f"duologue-agent {{ {own} }}", "Talk to Ada"),
    ):
        async with embedded(SHOP_CSS + css) as (foreign, host), visiting(shared_browser, viewport=DESK) as (page, _):
            foreign.embed(host.url, f'data-ticket="/ticket" {attributes}')
            await page.goto(foreign.origin)
            await page.get_by_role("button", name=name).click()
            await expect(page.get_by_role("dialog", name="Ada")).to_be_visible()
            looks[attributes] = await page.evaluate(LOOK)
            await is_accessible(page)
    plain, left, dark, inline = looks.values()
    assert (plain["isLeft"], plain["parent"], plain["position"]) == (False, "body", "fixed")
    assert left == {**plain, "isLeft": True}
    assert dark == {**plain, "ground": dark["ground"], "orb": dark["orb"]}
    assert dark["ground"] != plain["ground"]
    assert (inline["parent"], inline["position"]) == ("main", "static")
    assert (inline["ground"], inline["font"], inline["orb"]) == ("rgb(250, 244, 238)", "Georgia", "#4b2a8f")


@pytest.mark.parametrize(
    ("settings", "attributes", "told"),
    [
        (
            {"origins": ("https://shop.example",)},
            'data-ticket="/ticket"',
            "may not use this agent: start its server with",
        ),
        ({"ticket_key": "", "token": "the-server-token-itself"}, 'data-ticket="/ticket"', "set DUOLOGUE_TICKET_KEY"),
        ({}, 'data-ticket="the-server-token-itself"', "The server's token doesn't belong in a page."),
        ({}, 'data-agent="Ada"', "this server wants a ticket: add data-ticket"),
        ({}, 'data-ticket="/ticket" data-agent="Bob"', 'data-agent is "Bob", and the agent of'),
    ],
    ids=["origin", "no tickets", "a token", "no ticket", "another agent"],
)
async def test_a_page_that_may_not_have_the_agent_is_told_why(
    shared_browser: async_api.Browser, one_at_a_time: None, settings: dict[str, Any], attributes: str, told: str
) -> None:
    async with embedded(**settings) as (foreign, host), visiting(shared_browser, viewport=DESK) as (page, written):
        foreign.embed(host.url, attributes)
        sockets: list[str] = []
        page.on("websocket", lambda socket: sockets.append(socket.url))
        await page.goto(foreign.origin)
        await expect(page.get_by_role("status")).to_have_text("This page can't use its voice agent.")
        assert [line for line in written if told in line], written
        assert not sockets


async def test_the_example_of_the_docs_for_a_page_of_your_own_works_on_one(
    shared_browser: async_api.Browser, one_at_a_time: None
) -> None:
    blocks = re.findall(r"```js\n(.*?)```", (ROOT / "docs" / "clients.md").read_text("utf-8"), re.DOTALL)
    async with embedded() as (foreign, host), visiting(shared_browser, viewport=DESK) as (page, written):
        (example,) = (block for block in blocks if 'from "duologue-client"' in block and "#talk" in block)
        code = example.replace('"duologue-client"', f'"{host.url}client/client.js"')
        foreign.example = code.replace("https://agent.example/", host.url)
        said: list[str] = []
        page.on("console", lambda line: said.append(line.text))
        await page.goto(f"{foreign.origin}/own")
        button = page.get_by_role("button")
        await expect(button).to_have_text("Ready")
        await button.click()
        await expect(button).to_have_text("Listening")
        host.served.conversation.type("hello")
        await until(lambda: "assistant: You ask: hello We ship today." in said, "a caption")
        assert written == []


async def test_a_ticket_that_is_over_is_told_and_a_new_one_works(
    shared_browser: async_api.Browser, one_at_a_time: None
) -> None:
    async with embedded() as (foreign, _), visiting(shared_browser, viewport=DESK) as (page, _):
        foreign.ticket_age_s = 600.0
        await page.goto(foreign.origin)
        await page.get_by_role("button", name="Talk to Ada").click()
        gate = page.locator("#gate")
        await expect(gate).to_contain_text("This page has no valid ticket.")
        foreign.ticket_age_s = 0.0
        await gate.get_by_role("button", name="Try again").click()
        await expect(page.get_by_role("button", name="Start talking")).to_be_enabled()
        assert foreign.tickets == 2
