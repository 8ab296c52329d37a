"""The status line: every state with the label that the server sends."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from duologue.core.views import PHASES
from duologue.observe.labels import label
from tests.browser.fake_server import FakeServer
from tests.browser.scenes import begin


def label_of(page: Page) -> str:
    return page.locator("#state-label").inner_text()


@pytest.mark.req("C-INT-003", "C-UI")
def test_every_state_is_shown_with_the_servers_label_at_once(page: Page, server: FakeServer) -> None:
    begin(page, server)
    for state in list(PHASES)[1:]:
        server.state(state)
        expect(page.locator("#state-label")).to_have_text(label(state))
        expect(page.locator("body")).to_have_attribute("data-phase", state)
    page.wait_for_function("count => duologue.timings.length >= count", arg=len(PHASES) - 1)  # noted behind a frame
    timings = page.evaluate("duologue.timings")
    assert all(timing["shownAt"] >= timing["receivedAt"] for timing in timings), "how long is told by the bench"


@pytest.mark.req("H-11.so")
def test_a_conversation_whose_tools_are_still_being_opened_is_starting_and_not_ready(
    page: Page, server: FakeServer
) -> None:
    begin(page, server)
    server.state("idle")
    expect(page.locator("#state-label")).to_have_text(label("starting"))
    expect(page.locator("body")).to_have_attribute("data-phase", "starting")
    server.say("ended", reason="it could not start", canRestart=True)
    expect(page.locator("#state-label")).to_have_text(label("idle"))
