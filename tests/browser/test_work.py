"""Running work on the page: slots, jobs, questions and waits."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.fake_server import FakeServer
from tests.browser.scenes import begin, talked


def test_slots_fill_in_and_jobs_can_be_answered_and_cancelled(page: Page, server: FakeServer) -> None:
    talked(page, server)
    expect(page.locator("#task .slot[data-state=asked]")).to_contain_text("Asking now")
    server.say("work", event="started", call=7, tool="order_flowers", mode="dispatch")
    server.say("work", event="progressed", call=7, tool="order_flowers", text="halfway", fraction=0.5)
    expect(page.locator("#work [role=progressbar]")).to_have_attribute("aria-valuenow", "50")
    server.say("work", event="asked", call=7, tool="order_flowers", question="Roses or tulips?")
    page.get_by_label("Roses or tulips?").fill("tulips")
    page.keyboard.press("Enter")
    assert server.wait("answer") == {"call": 7, "text": "tulips"}
    expect(page.get_by_label("Roses or tulips?")).to_be_hidden()
    page.get_by_role("button", name="Cancel order flowers").click()
    assert server.wait("cancel") == {"call": 7}
    server.say("work", event="ended", call=7, tool="order_flowers", outcome="cancelled", durationMs=1200)
    expect(page.locator("#work .job-note")).to_have_text("Cancelled · 1.2 s")


@pytest.mark.req("L-10", "C-GUD-003")
def test_a_wait_shows_its_tool_and_progress(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.state("working", "thinking", "ToolCalled")
    server.say("work", event="started", call=1, tool="find_tables", mode="tool")
    server.say("wait", call=1, stage=1, label="Still working", detail="room two")
    shown = r"^Waiting for find tables(\s· \d+ s)?\s· %s$"
    expect(page.locator("#state-hint")).to_have_text(re.compile(shown % "Still working: room two"))
    server.say("work", event="progressed", call=1, tool="find_tables", text="room three", fraction=0.6)
    expect(page.locator("#state-hint")).to_have_text(re.compile(shown % "Still working: room three"))
    server.say("wait", call=1, stage=0, label="Working on it", detail="")
    expect(page.locator("#state-hint")).to_have_text(re.compile(shown % "room three"))
    server.state("speaking", "working")
    expect(page.locator("#state-hint")).not_to_contain_text("Still working")
