"""Captions: words that were heard, words that were not, and partial words."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.fake_server import FakeServer
from tests.browser.scenes import agent, begin, user


def test_the_agents_words_are_dim_until_they_are_heard_and_struck_through_when_cut_off(
    page: Page, server: FakeServer
) -> None:
    begin(page, server)
    agent(server, 1, "There is a table", "at seven or at nine.", final=False)
    expect(page.locator(".unheard")).to_have_text("at seven or at nine.")
    agent(server, 1, "There is a table at seven", "or at nine.")
    expect(page.locator(".heard")).to_have_text("There is a table at seven")
    expect(page.locator("del.cut")).to_have_text("not heard: or at nine.")
    expect(page.locator("#announcer")).to_have_text("Ada: There is a table at seven, not heard: or at nine.")
    expect(page.locator(".line")).to_have_count(1)


def test_each_line_keeps_the_name_of_the_agent_that_said_it(page: Page, server: FakeServer) -> None:
    begin(page, server)
    agent(server, 1, "Front desk, good evening.")
    server.say("agent", name="Grace")
    expect(page.locator("#agent-name")).to_have_text("Grace")
    agent(server, 2, "Billing, this is Grace.")
    expect(page.locator(".line .who")).to_have_text(["Ada", "Grace"])
    agent(server, 1, "Front desk, good evening.")  # a late correction of the first line
    expect(page.locator(".line .who")).to_have_text(["Ada", "Grace"])


def test_partial_words_of_the_person_are_replaced_and_noise_goes_away(page: Page, server: FakeServer) -> None:
    begin(page, server)
    user(server, 1, "a tab", final=False)
    user(server, 1, "a table for two")
    expect(page.locator(".said")).to_have_text("a table for two")
    user(server, 2, "hm", final=False)
    expect(page.locator(".line")).to_have_count(2)
    server.say("turn", event="turn-dropped", turnId="turn-2", role="user", why="noise")
    expect(page.locator(".line")).to_have_count(1)
    server.say("turn", event="turn-dropped", turnId="turn-1", role="user", why="overheard")
    expect(page.locator(".mark-of")).to_have_text("overheard")


def test_text_that_is_corrected_after_its_turn_does_not_look_as_if_the_user_still_talked(
    page: Page, server: FakeServer
) -> None:
    begin(page, server)
    user(server, 1, "I'd like a plain ticket")
    user(server, 1, "I'd like a plane ticket.", final=False)
    line = page.locator('#lines > li[data-role="user"]')
    expect(line.locator(".heard")).to_have_text("I'd like a plane ticket.")
    expect(line).to_have_attribute("data-live", "false")
