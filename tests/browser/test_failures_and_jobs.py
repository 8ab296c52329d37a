"""What goes wrong or takes long, as a person sees it: failures, tools that run, waits, pauses."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from duologue import ToolCall, profile
from duologue.core.leaves import ErrorClass
from duologue.testing import AskPerson, Delay, Fail, Hang, Progress, scripted_tool
from duologue.testing.scripted_session import ScriptedSession
from tests.browser.agents_here import STORY, scripted
from tests.browser.panel_page import until

QUICK_WAITS = profile("confirm", feedback_ms=(600, 1_400, 2_200), dead_air_ms=0)
FAILS = (Fail(ErrorClass.SERVER_ERROR), Fail(ErrorClass.SERVER_ERROR))  # retried once, then a fault


@pytest.mark.req("C-UI", "C-INT-003")
async def test_a_brain_that_fails_is_reported_and_can_be_retried(visit: Any) -> None:
    panel = (await visit(scripted([*FAILS, "Here I am."]))).panel
    await panel.start()
    await panel.write("hello")
    await panel.state("error")
    await expect(panel.label).to_have_text("Something went wrong")
    await expect(panel.page.get_by_role("alert")).to_have_count(1)
    await panel.notices.get_by_role("button", name="Try again").click()
    await expect(panel.said_by("assistant").filter(has_text="Here I am.")).to_have_count(1)
    await expect(panel.page.get_by_role("alert")).to_have_count(0)


@pytest.mark.req("C-UI")
async def test_a_failure_that_is_dismissed_leaves_the_conversation_open(visit: Any) -> None:
    panel = (await visit(scripted([*FAILS, "Good day."]))).panel
    await panel.start()
    await panel.write("hello")
    await panel.state("error")
    await panel.notices.get_by_role("button", name="Dismiss").first.click()
    await panel.state("listening")
    await panel.write("hello again")
    await expect(panel.said_by("assistant").filter(has_text="Good day.")).to_have_count(1)


@pytest.mark.req("L-10", "C-GUD-003", "C-UI")
async def test_a_user_who_waits_sees_the_tool_and_its_progress(visit: Any) -> None:
    search = scripted_tool("search_flights", Progress("asking the airlines", 0.4), Delay(3_200), "two flights")
    script = [ToolCall("search_flights", {}), "There are two flights."]
    panel = (await visit(scripted(script, tools=[search], profile=QUICK_WAITS))).panel
    await panel.start()
    await panel.page.evaluate(
        """window.hints = []; new MutationObserver(() => window.hints.push(
          document.getElementById("state-hint").textContent))
          .observe(document.getElementById("state-hint"), {childList: true, characterData: true, subtree: true})"""
    )
    await panel.write("any flights?")
    await panel.state("working", "thinking")
    await expect(panel.hint).to_contain_text("Waiting for search flights")
    job = panel.jobs.filter(has_text="search flights")
    await expect(job.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "40")
    await expect(panel.said_by("assistant").filter(has_text="There are two flights.")).to_have_count(1)
    hints = " | ".join(await panel.js("window.hints"))
    stages = ["Still working", "Making progress", "Taking longer than expected"]
    places = [hints.find(stage) for stage in stages]
    assert -1 not in places, hints
    assert places == sorted(places)
    await expect(job).to_have_attribute("data-outcome", "done")


@pytest.mark.req("C-UI")
async def test_a_job_can_be_answered_and_another_cancelled(visit: Any) -> None:
    asks = scripted_tool("book_hotel", AskPerson("Which city?"), mode="dispatch")
    hangs = scripted_tool("search_flights", Progress("asking", 0.1), Hang(), mode="dispatch", cancellable=True)
    script = [(ToolCall("book_hotel", {}), ToolCall("search_flights", {}), "I am on it.")]
    here = await visit(scripted(script, tools=[asks, hangs], profile=QUICK_WAITS))
    panel = here.panel
    await panel.start()
    await panel.write("a flight and a hotel")
    hotel = panel.jobs.filter(has_text="book hotel")
    await hotel.get_by_label("Which city?").fill("Lisbon")
    await hotel.get_by_role("button", name="Answer").click()
    await expect(hotel).to_have_attribute("data-outcome", "done")
    assert asks.answers == ["Lisbon"]
    flights = panel.jobs.filter(has_text="search flights")
    await flights.get_by_role("button", name="Cancel").click()
    await expect(flights).to_have_attribute("data-outcome", "cancelled")
    assert hangs.cancelled == 1


@pytest.mark.req("C-INT-004")
async def test_a_pause_holds_the_sentence_and_hush_ends_it(visit: Any) -> None:
    here = await visit(scripted([STORY]))
    panel = here.panel
    await panel.start()
    await panel.write("tell me a story")
    await panel.when("window.duologue.player.ms(window.duologue.player.samples) > 800")
    await panel.button("pause").click()
    await panel.state("paused")
    await expect(panel.label).to_have_text("Paused")
    await panel.button("pause").click()
    await panel.state("speaking")
    await panel.button("interrupt").click()
    await panel.state("listening")
    assert panel.plays == ["hold", "resume", "clear"]
    (shown,) = [(heard, cut) for role, heard, cut in await panel.transcript() if role == "assistant"]
    assert " ".join(part for part in shown if part) == STORY
    assert shown[1]


@pytest.mark.req("L-16", "C-UI")
async def test_a_session_that_reaches_its_limit_is_renewed_and_the_page_continues(visit: Any) -> None:
    session = ScriptedSession(renew_ms=200)
    limits = profile("confirm", session_ms_max=2_000, session_warning_ms=1_500, dead_air_ms=0)
    panel = (await visit(scripted(["Good day.", "Still here."], profile=limits, session=lambda: session))).panel
    await panel.start()
    await panel.write("hello")
    await expect(panel.said_by("assistant").filter(has_text="Good day.")).to_have_count(1)
    await until(lambda: len(session.contexts) >= 2, "the renewed session")
    await panel.state("listening")
    await panel.write("are you there")
    await expect(panel.said_by("assistant").filter(has_text="Still here.")).to_have_count(1)
    await expect(panel.said_by("assistant").filter(has_text="Good day.")).to_have_count(1)
    await expect(panel.page.get_by_role("alert")).to_have_count(0)
    assert await panel.times_in("reconnecting") == 0  # the new session is made beside the old one
    assert session.opens == 1
    assert session.contexts[1] is not None
