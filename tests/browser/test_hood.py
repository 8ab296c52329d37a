"""The debug view: live, backwards, and from a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.demo_call import demo_steps, table
from tests.browser.fake_server import FakeServer
from tests.browser.scenes import SCENES, begin

HOOD = next(scene for scene in SCENES if scene.name == "hood")


@pytest.mark.req("L-22")
def test_the_debug_view_shows_states_metrics_and_the_row_that_fired(page: Page, server: FakeServer) -> None:
    HOOD.play(page, server)
    last = demo_steps()[62]
    expect(page.locator(".detail h3")).to_have_text(last["cause"])
    figures = page.locator(".measure").all_inner_texts()
    assert any("708" in figure for figure in figures)
    assert any("100% succeeded" in figure for figure in figures)
    expect(page.locator(".where")).to_have_text("Step 63 of 63")
    expect(page.locator(".answer")).to_have_count(3)
    expect(page.locator(".decisions li")).to_have_count(2)
    assert page.locator(".diagram rect.here").count() >= 1


def test_the_arrow_of_the_row_that_fired_is_highlighted(page: Page, server: FakeServer) -> None:
    HOOD.play(page, server)
    steps = demo_steps()
    index = next(number for number, step in enumerate(steps[:60]) if step["cause"] == "SpeechStarted")
    page.locator(".scrub").focus()
    page.keyboard.press("Home")
    for _ in range(index):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".detail h3")).to_have_text("SpeechStarted")
    expect(page.locator(".diagram .title").first).to_have_text("user")
    lit = page.locator(".diagram g.lit").first.get_attribute("data-rows") or ""
    assert set(lit.split()) & {str(number) for number in steps[index]["fired"]}


def test_a_diagram_that_failed_to_load_is_requested_again(page: Page, server: FakeServer) -> None:
    # Once: a picture on its way when the line was lost was an error of the page, and never came.
    page.evaluate(
        """() => {
            const { fetch } = window;
            window.fetch = () => {
                window.fetch = fetch;
                return Promise.reject(new TypeError("the line is lost"));
            };
        }"""
    )
    begin(page, server)
    page.locator("#hood-toggle").click()
    server.wait("debug")
    server.say("debug", **table(), settings={}, moments=list(demo_steps()[:60]))
    page.locator(".diagram .quiet-line").wait_for()
    server.say("moment", **demo_steps()[60])
    expect(page.locator(".diagram svg")).to_be_visible()


def test_the_timeline_stands_still_while_the_user_looks_back_and_goes_live_again(
    page: Page, server: FakeServer
) -> None:
    HOOD.play(page, server)
    page.locator(".scrub").focus()
    page.keyboard.press("ArrowLeft")
    server.say("moment", **demo_steps()[63])
    expect(page.locator(".where")).to_have_text("Step 62 of 64")
    page.get_by_role("button", name="Live").click()
    expect(page.locator(".where")).to_have_text("Step 64 of 64")
    page.get_by_role("button", name="Under the hood").click()
    assert server.wait("debug", 2) == {"on": False}


def test_a_journal_from_disk_can_be_stepped_through(page: Page, server: FakeServer, tmp_path: Path) -> None:
    begin(page, server)
    page.locator("#hood-toggle").click()
    server.replayed = {**table(), "moments": list(demo_steps()), "agrees": True}
    file = tmp_path / "call.jsonl"
    file.write_text("{}\n", encoding="utf-8")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.locator(".replay-note")).to_have_text("Replaying call.jsonl · every step matches the journal")
    expect(page.locator(".where")).to_have_text(f"Step 1 of {len(demo_steps())}")
    page.get_by_role("button", name="Forward").click()
    expect(page.locator(".where")).to_have_text(f"Step 2 of {len(demo_steps())}")
    page.get_by_role("button", name="Back to the conversation").click()
    expect(page.locator(".replay-note")).to_have_text("")


def test_the_journal_is_saved_with_the_key_of_the_conversation(page: Page, server: FakeServer) -> None:
    begin(page, server)
    page.locator("#hood-toggle").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the journal").click()
    assert saved.value.suggested_filename == "c1.jsonl"
