"""Why one waits: retries, limits, attempts to reconnect, queued words, and how long work has run."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.fake_server import FakeServer
from tests.browser.scenes import SCENES, agent, talked, user

SCENE = {scene.name: scene for scene in SCENES}


@pytest.mark.req("H-11.so")
def test_a_retry_says_which_one_it_is_and_when_it_begins(page: Page, server: FakeServer) -> None:
    SCENE["retrying"].play(page, server)
    hint = page.locator("#state-hint")
    expect(hint).to_contain_text("Too many requests: retry 2 of 3 · in ")
    server.status(why="retry", attempt=1, attemptsMax=3)
    expect(hint).to_have_text("No answer yet: retry 1 of 3")


def test_an_answer_that_takes_long_says_so(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.state("thinking", "listening", "TurnEnded")
    expect(page.locator("#state-hint")).to_have_text("")
    expect(page.locator("#state-hint")).to_contain_text("Taking longer than usual: ", timeout=20_000)


@pytest.mark.req("H-11.so", "L-14")
def test_a_lost_session_shows_as_reconnecting_with_its_attempt_and_without_a_pause(
    page: Page, server: FakeServer
) -> None:
    SCENE["session_lost"].play(page, server)
    expect(page.locator("#state-label")).to_have_text("Reconnecting")
    expect(page.locator("#state-hint")).to_contain_text("Attempt 2 of 3")
    expect(page.locator("#pause")).to_be_disabled()
    expect(page.locator("#pause")).to_have_attribute("aria-pressed", "false")


def test_a_lost_connection_counts_its_attempts(page: Page, server: FakeServer) -> None:
    SCENE["reconnecting"].play(page, server)
    expect(page.locator("#banner")).to_contain_text("Attempt 2", timeout=20_000)
    expect(page.locator("#state-label")).to_have_text("Reconnecting")
    expect(page.locator("#state-hint")).to_have_text(re.compile(r"Attempt \d+\s· in \d s"), timeout=20_000)
    expect(page.locator("#pause")).to_be_disabled()


@pytest.mark.req("H-11.so")
def test_a_fault_says_when_it_goes_on_by_itself(page: Page, server: FakeServer) -> None:
    SCENE["faulted"].play(page, server)
    hint = page.locator("#state-hint")
    expect(hint).to_have_text(re.compile(r"Continues by itself in \d s"))
    server.status(why="")
    expect(hint).to_have_text("")


def test_a_start_says_that_the_ears_still_load(page: Page, server: FakeServer) -> None:
    SCENE["preparing"].play(page, server)
    server.status(hearing="loading")
    expect(page.locator("#state-hint")).to_have_text("I can't hear you yet. You can already write.")
    server.status(hearing="on")
    expect(page.locator("#state-hint")).to_have_text("")
    expect(page.locator("#state-hint")).to_contain_text("Taking longer than usual: ", timeout=20_000)


def test_words_said_during_a_tool_are_marked_as_queued_until_they_are_asked(page: Page, server: FakeServer) -> None:
    SCENE["queueing"].play(page, server)
    line = page.locator('#lines > li[data-queued="true"]')
    expect(line).to_contain_text("and a high chair, please")
    expect(line).to_contain_text("queued")
    server.status(queued=[])
    expect(page.locator('#lines > li[data-queued="true"]')).to_have_count(0)


def test_running_work_shows_how_long_it_has_run(page: Page, server: FakeServer) -> None:
    SCENE["queueing"].play(page, server)
    note = page.locator(".job-note")
    expect(note).to_have_text(re.compile(r"1\d s"))
    expect(page.locator("#state-hint")).to_have_text(re.compile(r"Waiting for find tables\s· 1\d s"))
    expect(note).to_have_text("14 s", timeout=20_000)


def not_restored(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.say("notification", level="error", code="not_restored", message="Gone.", actions=["retry", "restart"])


def refused(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.token = "open sesame"
    server.close(1012)
    page.locator("#token").wait_for()


def forgotten(page: Page, server: FakeServer) -> None:
    """The server was started anew, and knows nothing of the conversation."""
    talked(page, server)
    server.history = None
    server.close(1012)
    page.locator("#over:not([hidden])").wait_for()


DEAD_ENDS = [SCENE[name].play for name in ("beyond_repair", "ended", "elsewhere")] + [not_restored, refused, forgotten]


@pytest.mark.req("L-14")
@pytest.mark.parametrize("play", DEAD_ENDS, ids=lambda play: play.__name__)
def test_what_was_said_can_be_saved_when_nothing_goes_on(
    page: Page, server: FakeServer, play: Callable[[Page, FakeServer], None]
) -> None:
    play(page, server)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the transcript").click()
    text = saved.value.path().read_text(encoding="utf-8")
    assert "You: Hi, I'd like a table for two on Friday" in text


def test_a_newcomer_sees_what_to_say_and_a_click_says_it(page: Page, server: FakeServer) -> None:
    SCENE["offered"].play(page, server)
    expect(page.locator("#intro")).to_contain_text("“Is my flight on time”")
    page.locator("#start").click()
    page.locator("#suggestions button").last.click()
    assert server.wait("type")["text"] == "is my flight on time"
    user(server, 1, "is my flight on time")
    expect(page.locator("#suggestions")).to_be_hidden()


@pytest.mark.parametrize("size", [(1280, 800), (900, 420), (390, 844), (360, 600)], ids=str)
@pytest.mark.parametrize("name", ["Flight desk", "The front desk of the Lantern Hotel", "Reiserücktrittsversicherung"])
def test_the_name_of_the_agent_is_never_cut(page: Page, server: FakeServer, name: str, size: tuple[int, int]) -> None:
    server.agent = {**server.agent, "name": name}
    page.reload()
    talked(page, server)
    agent(server, 2, "What time would suit you?")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    for place in (".who", "#agent-name"):
        shown = page.locator(place).first
        expect(shown).to_have_text(name)
        cut = "(it) => it.scrollWidth > it.clientWidth + 1 || it.scrollHeight > it.clientHeight + 1"
        assert place == "#agent-name" or not shown.evaluate(cut)
        assert shown.evaluate("(it) => getComputedStyle(it).textOverflow !== 'ellipsis'")
    beside = page.locator("#hood-toggle").evaluate("(it) => it.getBoundingClientRect().left")
    right = page.locator("#agent-name").evaluate("(it) => it.getBoundingClientRect().right")
    assert right <= beside
