"""An operator watches a telephone call in a real page: from the list under the hood to the call's end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from playwright.async_api import expect

from duologue import Phrases
from duologue.lab.sim.dial import dial
from duologue.lines.phone.carriers import TWILIO
from duologue.server.phone.routes import PhoneSettings, phone_routes
from tests.browser.agents_here import scripted
from tests.browser.panel_page import until


@pytest.mark.req("V-09", "L-22", "C-UI")
async def test_a_simulated_telephone_call_is_watched_in_the_panel(visit: Any) -> None:
    agent = scripted(["You pressed some keys."], phrases=Phrases(greeting="Good day."), profile="words")
    here = await visit(agent, search="?debug")
    page, conversations = here.panel.page, here.host.server.conversations
    url = here.host.url.rstrip("/")
    settings = PhoneSettings(url, allow_unsigned=True)
    here.host.server.add_routes(phone_routes(lambda: replace(agent), settings, conversations.watch))
    calls = page.locator(".call")
    await expect(page.locator(".calls-panel")).to_contain_text("No calls right now.")

    async with dial(url, TWILIO) as caller:
        await expect(calls).to_have_count(1)
        await expect(calls).to_contain_text("Phone")
        await calls.get_by_role("button", name="Watch Phone").click()
        banner = page.locator("#watching")
        await expect(banner).to_contain_text("Watching a phone call")
        await expect(here.panel.said_by("assistant").filter(has_text="Good day.")).to_have_count(1)
        await here.panel.state("listening")
        for key in "4711#":
            caller.press(key)
        await expect(here.panel.said_by("user").filter(has_text="4711")).to_have_count(1)
        await expect(here.panel.said_by("assistant").filter(has_text="You pressed some keys.")).to_have_count(1)
        await expect(page.locator("ol.steps button").filter(has_text="TextTyped")).to_have_count(1)
        await expect(page.locator("svg .lit").first).to_be_attached()
        await expect(page.locator("#composer")).to_be_hidden()
        assert not here.panel.plays, "its sound stays in the call"

        second = await here.tabs.open("?watch=" + page.url.partition("watch=")[2])  # the address can be passed on
        await expect(second.page.locator("#watching")).to_contain_text("Watching a phone call")
        await expect(second.said_by("user").filter(has_text="4711")).to_have_count(1)
        await second.page.close()
        caller.hang_up()
        await expect(banner).to_contain_text("This call has ended")
    await expect(calls).to_have_count(0)
    await banner.get_by_role("button", name="Stop watching").click()
    await expect(banner).to_be_hidden()
    await until(lambda: not conversations.served, "nobody else has a conversation")
    await here.panel.start()
    await expect(calls).to_contain_text("this page")
