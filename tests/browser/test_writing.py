"""A person writes: without a microphone, with a correction, with nothing but the keyboard."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.agents_here import desk
from tests.browser.panel_page import OWN_MICROPHONE, Panel


async def answered(panel: Panel, words: str, answer: str) -> None:
    """Write this, and read that."""
    await panel.write(words)
    await expect(panel.said_by("assistant").filter(has_text=answer).last).to_be_visible()


@pytest.mark.req("C-UI")
async def test_a_user_who_refuses_the_microphone_can_book_in_writing(visit: Any) -> None:
    here = await visit(desk(greeting=""), OWN_MICROPHONE, permissions=[])
    panel = here.panel
    await panel.start()
    trouble = panel.button("microphone-trouble")
    await expect(trouble).to_be_visible()
    await expect(trouble).to_contain_text("The microphone is blocked for this page")
    await expect(panel.hint).to_have_text("Write something below")
    await answered(panel, "I want to book a flight", "Where would you like to fly from?")
    await answered(panel, "New York", "Where would you like to fly to?")
    await answered(panel, "actually, change the origin to Boston", "updated your origin to Boston")
    await panel.slot("origin", "Boston")
    await answered(panel, "Los Angeles", "When would you like to depart?")
    await answered(panel, "next Friday", "How many people")
    await answered(panel, "two", "From Boston to Los Angeles")
    await panel.state("listening")  # a yes counts once the question was heard, or shown for a moment
    await answered(panel, "yes", "It is booked")
    await panel.state("listening")
    await expect(panel.task).to_contain_text(re.compile(r"BK\d{4}"))  # the reference can be read
    await answered(panel, "is my flight on time", "Your flight is on time")
    await expect(panel.task).not_to_contain_text("BK")
    await expect(panel.page.locator(".receipt")).to_contain_text(re.compile(r"BK\d{4}"))  # and stays
    await panel.state("listening")
    await expect(panel.page.locator("body")).to_have_attribute("data-hearing", "none")
    await expect(trouble).to_be_visible()  # it can still be tried again
    await expect(trouble.get_by_role("button", name="Try the microphone again")).to_be_visible()


@pytest.mark.req("C-UI")
async def test_a_booking_needs_nothing_but_the_keyboard(visit: Any) -> None:
    here = await visit(desk(greeting=""))
    panel, keys = here.panel, here.panel.page.keyboard
    await expect(panel.button("start")).to_be_enabled()
    await _tab_to(panel, "start")
    await keys.press("Enter")
    await panel.is_on()
    await _tab_to(panel, "typed")
    for words, answer in (
        ("I want to book a flight", "fly from"),
        ("New York", "fly to"),
        ("Los Angeles", "depart"),
        ("next Friday", "How many people"),
        ("two", "Shall I book it?"),
        ("yes", "It is booked"),
    ):
        await expect(panel.button("send")).to_be_enabled()
        if words == "yes":  # it counts once the question was heard, or shown for a moment
            await panel.state("listening")
        await keys.type(words)
        await keys.press("Enter")
        await expect(panel.said_by("assistant").filter(has_text=answer).last).to_be_visible()
    await panel.state("listening")
    await _tab_to(panel, "end")
    await keys.press("Enter")
    await expect(panel.page.locator("#over")).to_be_visible()
    await expect(panel.page.locator("#start")).to_be_focused()


@pytest.mark.req("H-05")
async def test_a_goodbye_is_heard_and_hangs_up(visit: Any) -> None:
    panel = (await visit(desk(greeting=""))).panel
    await panel.start()
    await panel.write("No, that's all. Goodbye!")
    await expect(panel.page.locator("#over")).to_be_visible()
    await expect(panel.page.locator("#over p")).to_have_text("The conversation has ended")
    assert [line for line in await panel.transcript() if line[0] == "assistant"] == [("assistant", "Goodbye!", "")]
    await expect(panel.button("start")).to_be_enabled()
    assert set(panel.plays) <= {"finish"}, "it was neither held nor cut off"


async def _tab_to(panel: Panel, name: str) -> None:
    """Press Tab until the focus is there, and see that it can be seen."""
    for _ in range(40):
        if await panel.js("document.activeElement.id") == name:
            break
        await panel.page.keyboard.press("Tab")
    await expect(panel.button(name)).to_be_focused()
    assert await panel.js(
        """(() => {
          const seen = getComputedStyle(document.activeElement);
          const form = getComputedStyle(document.activeElement.closest("form") ?? document.activeElement);
          return [seen, form].some((style) => style.outlineStyle !== "none" || style.boxShadow !== "none");
        })()"""
    ), f"nobody sees that the focus is on {name}"
