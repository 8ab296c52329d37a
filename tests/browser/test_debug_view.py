"""Under the hood, with a real conversation: lanes, steps, the row that fired, journals out and in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from duologue.replay.journal import read_journal, replay
from tests.browser.agents_here import scripted


@pytest.mark.req("L-22", "C-UI")
async def test_the_debug_view_shows_each_step_and_its_journal_replays(visit: Any, tmp_path: Path) -> None:
    here = await visit(scripted(["Good day.", "And to you."]), search="?debug")
    panel = here.panel
    hood = panel.page.locator("#hood")
    await expect(hood).to_be_visible()
    await panel.start()
    await panel.write("hello")
    await expect(panel.said_by("assistant").filter(has_text="Good day.")).to_have_count(1)
    await panel.state("listening")
    steps = hood.locator("ol.steps button")
    await expect(steps.filter(has_text="TextTyped")).to_have_count(1)
    await expect(hood.locator("canvas.lanes")).to_be_visible()
    await expect(hood.locator("svg .lit").first).to_be_attached()
    await expect(hood.locator("ul.fired li").first).to_be_visible()

    await steps.filter(has_text="TextTyped").click()  # look back
    await expect(steps.filter(has_text="TextTyped")).to_have_attribute("aria-current", "step")
    await expect(hood.locator(".detail h3")).to_have_text("TextTyped")
    await expect(hood.locator("svg .lit").first).to_be_attached()
    where = hood.locator("output.where")
    at = await where.inner_text()
    await hood.get_by_role("button", name="Back", exact=True).click()
    await expect(where).not_to_have_text(at)
    await hood.locator("button.live").click()
    await expect(hood.locator("button.live")).to_have_attribute("aria-pressed", "true")

    await panel.button("end").click()
    await expect(panel.page.locator("#over")).to_be_visible()
    async with panel.page.expect_download() as saving:
        await hood.locator(".hood-tools button:visible").first.click()
    journal = tmp_path / "call.jsonl"
    await (await saving.value).save_as(journal)
    records = list(replay(read_journal(journal.read_text(encoding="utf-8").splitlines(keepends=True))))
    assert records[-1].after.link.value == "idle"
    assert "hello" not in journal.read_text(encoding="utf-8")  # a journal holds no word

    second = await here.tabs.open("?debug")
    hood = second.page.locator("#hood")
    await hood.locator('input[type="file"]').set_input_files(journal)
    await expect(hood.locator(".replay-note")).to_contain_text("call.jsonl")
    await expect(hood.locator("ol.steps button").filter(has_text="TextTyped")).to_have_count(1)
    current = hood.locator('ol.steps button[aria-current="step"]')
    first = await current.inner_text()
    await hood.get_by_role("slider").press("ArrowRight")
    await expect(current).not_to_have_text(first)
    await hood.get_by_role("button", name="Back to the conversation").click()
    await expect(hood.locator(".replay-note")).to_have_text("")
