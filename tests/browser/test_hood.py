"""The debug view: live, backwards, and from a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from duologue.core.views import VIEWS
from tests.browser.demo_call import demo_steps, table
from tests.browser.fake_server import FakeServer
from tests.browser.scenes import METRICS, SCENES, begin

UNKNOWN = "\N{EN DASH}"
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


@pytest.mark.req("L-01", "L-22")
def test_the_hood_shows_the_eight_lifecycle_names_and_the_age_of_the_session(page: Page, server: FakeServer) -> None:
    HOOD.play(page, server)
    names = page.locator(".lifecycle li").all_inner_texts()
    assert names == list(VIEWS["lifecycle"].states)
    expect(page.locator('.lifecycle li[aria-current="step"]')).to_have_count(1)
    server.status(sessionAt=20_000)
    expect(page.locator(".measure", has_text="Session")).to_contain_text("in all")


@pytest.mark.req("L-20")
def test_the_hood_shows_what_the_next_session_will_know_also_while_that_is_nothing(
    page: Page, server: FakeServer
) -> None:
    HOOD.play(page, server)
    server.say("context", summary="", activeFiles=[])
    expect(page.locator(".summary")).to_have_text(UNKNOWN)
    expect(page.locator(".files")).to_have_text(UNKNOWN)
    server.say("context", summary="A table for two.", activeFiles=["menu.md"])
    expect(page.locator(".summary")).to_have_text("A table for two.")
    expect(page.locator(".files")).to_have_text("menu.md")


def test_a_figure_of_now_is_not_shown_beside_an_earlier_step(page: Page, server: FakeServer) -> None:
    HOOD.play(page, server)
    errors = page.locator(".measure", has_text="Errors").locator(".figure")
    server.say("metrics", **{**METRICS, "errors": 2}, stages=None)
    expect(errors).to_have_text("2")
    page.locator(".scrub").focus()
    page.keyboard.press("Home")
    expect(errors).to_have_text(UNKNOWN)
    page.get_by_role("button", name="Live").click()
    expect(errors).to_have_text("2")


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
            window.fetch = () => Promise.reject(new TypeError("the line is lost"));
            window.lineIsBack = () => { window.fetch = fetch; };
        }"""
    )
    begin(page, server)
    page.locator("#hood-toggle").click()
    server.wait("debug")
    server.say("debug", **table(), settings={}, moments=list(demo_steps()[:60]))
    page.locator(".diagram .quiet-line").wait_for()
    page.evaluate("window.lineIsBack()")
    server.say("moment", **demo_steps()[60])
    expect(page.locator(".diagram svg")).to_be_visible()


def test_the_debug_view_can_be_opened_before_a_conversation(page: Page, server: FakeServer) -> None:
    # Once, the page asked for the steps of a conversation that didn't run, and showed the server's error.
    page.locator("#hood-toggle").click()
    expect(page.locator(".no-steps")).to_be_visible()
    page.locator("#hood-toggle").click()
    begin(page, server)
    assert not server.all("debug")


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


def test_a_failure_of_the_developers_code_is_shown_with_its_traceback(page: Page, server: FakeServer) -> None:
    HOOD.play(page, server)
    expect(page.locator(".tracebacks")).to_be_hidden()
    server.say("traceback", at=1_200, where="brain", error="KeyError", text="File agent.py\nKeyError: '<b>Anna</b>'")
    expect(page.locator(".tracebacks summary")).to_contain_text("brain: KeyError")
    expect(page.locator(".tracebacks pre")).to_contain_text("KeyError: '<b>Anna</b>'")


def test_usage_is_a_figure_with_its_cost_if_prices_are_known(page: Page, server: FakeServer) -> None:
    HOOD.play(page, server)
    used = page.locator(".measure", has_text="Usage")
    server.say("metrics", **METRICS, stages=None, usage={"tokens": 1234, "characters": 9, "cost": None, "currency": ""})
    expect(used).to_contain_text("1234")
    expect(used).to_contain_text("tokens")
    costs = {"tokens": 1234, "characters": 9, "cost": 0.00125, "currency": "EUR"}
    server.say("metrics", **METRICS, stages=None, usage=costs)
    expect(used).to_contain_text("0.0013 EUR")


def test_without_tokens_the_usage_is_what_was_spoken_in_the_language_of_the_page(
    page: Page, server: FakeServer
) -> None:
    page.goto(f"{server.url}?lang=de")
    HOOD.play(page, server)
    usage = {"tokens": 0, "characters": 214, "cost": None, "currency": ""}
    server.say("metrics", **METRICS, stages=None, usage=usage)
    expect(page.locator(".measure", has_text="Verbrauch")).to_contain_text("214Zeichen gesprochen")


def test_usage_is_listed_by_provider_with_amounts_and_cost(page: Page, server: FakeServer) -> None:
    HOOD.play(page, server)
    rows = page.locator(".usage-row")
    expect(page.locator(".usage-panel")).to_be_hidden()
    llm = {"part": "llm", "provider": "api.example.com", "model": "small", "input_tokens": 1_000, "output_tokens": 234}
    stt = {"part": "stt", "provider": "LocalEars", "model": "", "heard_ms": 61_500, "cost": None}
    tts = {"part": "tts", "provider": "my-tts", "model": "", "characters": 214, "spoken_ms": 12_000, "cost": None}
    sums = {"tokens": 1_234, "characters": 214, "cost": 0.00125, "currency": "EUR"}
    usage = {**sums, "rows": [{**llm, "cost": 0.00125}, stt, tts]}
    server.say("metrics", **METRICS, stages=None, usage=usage)
    expect(rows).to_have_text(
        [
            "LLM · api.example.com · small1234 tokens0.0013 EUR",
            f"STT · LocalEars61.5 s heard{UNKNOWN}",
            f"TTS · my-tts214 characters spoken · 12.0 s spoken{UNKNOWN}",
        ]
    )
    llm["output_tokens"] = 1_234
    server.say("metrics", **METRICS, stages=None, usage={**sums, "rows": [{**llm, "cost": 0.002}, stt, tts]})
    expect(rows.first).to_have_text("LLM · api.example.com · small2234 tokens0.0020 EUR")
    page.locator(".scrub").focus()
    page.keyboard.press("Home")
    expect(page.locator(".usage-panel")).to_be_hidden()
