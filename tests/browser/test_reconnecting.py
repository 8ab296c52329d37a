"""The line between page and server: reloads, lost sockets, a server that is gone, two tabs on one seat."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from duologue import profile
from tests.browser.agents_here import STORY, desk, scripted
from tests.browser.panel_page import until

GIVES_UP_SOON = profile("confirm", heal_ms_max=100, reconnect_ms_max=1_500, dismiss_ms=100, prepare_ms_max=100)


@pytest.mark.req("C-UI")
async def test_a_reloaded_page_continues_where_it_was(visit: Any) -> None:
    here = await visit(desk(greeting=""))
    panel = here.panel
    await panel.start()
    await panel.write("I want to book a flight")
    await expect(panel.said_by("assistant").filter(has_text="fly from")).to_have_count(1)
    await panel.write("New York")
    await expect(panel.said_by("assistant").filter(has_text="fly to")).to_have_count(1)
    await panel.state("listening")
    before, slots = await panel.transcript(), await panel.slots()
    await panel.page.reload()
    await panel.is_on()
    await expect(panel.lines).to_have_count(len(before))
    assert await panel.transcript() == before
    assert await panel.slots() == slots
    await panel.write("Los Angeles")
    await expect(panel.said_by("assistant").filter(has_text="depart")).to_have_count(1)
    await panel.slot("destination", "Los Angeles")
    assert len(here.host.server.conversations.served) == 1


@pytest.mark.req("C-INT-004")
@pytest.mark.parametrize("how", ["reload", "socket"])
async def test_a_sentence_survives_a_lost_connection_and_is_heard_to_its_end(visit: Any, how: str) -> None:
    here = await visit(scripted([STORY]))
    panel = here.panel
    await panel.start()
    await panel.write("tell me a story")
    await panel.when("window.duologue.player.ms(window.duologue.player.samples) > 2000")
    if how == "reload":
        await panel.page.reload()
    else:
        here.host.drop_sockets()
    await panel.state("speaking")
    await panel.state("listening")
    assert await panel.transcript() == [("user", "tell me a story", ""), ("assistant", STORY, "")]
    assert [(item.text, item.unheard) for item in here.host.said] == [(STORY, "")]


@pytest.mark.req("C-UI")
async def test_a_broken_socket_is_restored_with_its_conversation(visit: Any) -> None:
    here = await visit(desk(greeting=""))
    panel = here.panel
    await panel.start()
    await panel.write("I want to book a flight")
    await expect(panel.said_by("assistant").filter(has_text="fly from")).to_have_count(1)
    await panel.state("listening")
    served = here.host.served
    await panel.page.evaluate(
        """window.lines = []; new MutationObserver(() => window.lines.push(document.body.dataset.line))
          .observe(document.body, {attributes: true, attributeFilter: ["data-line"]})"""
    )
    here.host.drop_sockets()
    await panel.when('window.lines.includes("waiting") && document.body.dataset.line === "open"')
    await expect(panel.banner).to_be_hidden()
    assert here.host.served is served
    await panel.write("New York")
    await panel.slot("origin", "New York")


@pytest.mark.req("C-UI")
@pytest.mark.parametrize("server_waits", [True, False])
async def test_if_the_server_stays_away_the_page_offers_a_retry_and_the_transcript(
    visit: Any, server_waits: bool
) -> None:
    settings = profile("confirm") if server_waits else GIVES_UP_SOON
    here = await visit(scripted(["Good day.", "And to you."], profile=settings))
    panel = here.panel
    await panel.page.clock.install()
    await panel.page.reload()
    await panel.start()
    await panel.write("hello")
    await expect(panel.said_by("assistant").filter(has_text="Good day.")).to_have_count(1)
    await panel.state("listening")
    before = await panel.transcript()
    await here.host.go_down()
    await expect(panel.banner).to_contain_text("Connection lost")
    for _ in range(12):  # timers that are set meanwhile want their turn
        await panel.page.clock.fast_forward(5_000)
    await expect(panel.banner).to_contain_text("The transcript is still here")
    assert await panel.transcript() == before
    if not server_waits:
        await until(lambda: not here.host.server.conversations.served, "the server has given up")
    await here.host.go_up()
    await panel.banner.get_by_role("button", name="Try again").click()
    await expect(panel.banner).to_be_hidden()
    assert (await panel.transcript())[: len(before)] == before
    if server_waits:
        await panel.write("and to you")
        await expect(panel.said_by("assistant").filter(has_text="And to you.")).to_have_count(1)
    else:
        await expect(panel.notices.filter(has_text="That conversation has ended")).to_have_count(1)
        await expect(panel.button("start")).to_be_enabled()


@pytest.mark.req("C-UI")
async def test_two_tabs_share_one_seat_and_each_shows_it(visit: Any) -> None:
    here = await visit(scripted(["Good day.", "And to you."]))
    first = here.panel
    await first.start()
    await first.write("hello")
    await expect(first.said_by("assistant").filter(has_text="Good day.")).to_have_count(1)
    await first.state("listening")
    second = await here.tabs.open()
    await expect(second.gate).to_contain_text("This conversation is open in another tab")
    await second.gate.get_by_role("button", name="Use it here").click()
    await second.is_on()
    await expect(first.gate).to_contain_text("You continued in another tab")
    assert await second.transcript() == await first.transcript()
    await second.write("and to you")
    await expect(second.said_by("assistant").filter(has_text="And to you.")).to_have_count(1)
    await expect(first.said_by("assistant").filter(has_text="And to you.")).to_have_count(0)
    assert len(here.host.server.conversations.served) == 1
