"""The connection to the server: lost, restored, refused, taken over."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.fake_server import FakeServer
from tests.browser.scenes import talked, tone


def test_a_lost_connection_is_restored_with_its_conversation(page: Page, server: FakeServer) -> None:
    talked(page, server)
    said = {"unheard": "", "reply": 0, "overheard": False, "interrupted": False}
    server.history = [{**said, "role": "user", "text": "a table for two", "turn": 1}]
    for voice, receipt in ((2, "two"), (3, "half of three"), (3, "three")):
        server.say("receipt", voice=voice, receipt=receipt)
    server.voice(3, 1, tone(0.3))
    server.wait("played")
    server.close(1012)
    hello = server.wait("hello", 2)
    assert (hello["conversation"], hello["key"]) == ("c1", "secret")
    assert hello["played"]["voice"] == 3
    assert hello["played"]["chunk"] == 1
    assert hello["receipts"] == ["two", "three"]
    expect(page.locator("#banner")).to_be_hidden()
    expect(page.locator(".said")).to_have_text("a table for two")


def test_a_reload_continues_the_conversation(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.history = [{"role": "assistant", "text": "Good evening.", "reply": 1}]
    server.say("receipt", voice=1, receipt="one")
    page.get_by_role("button", name="Mute").click()
    page.reload()
    hello = server.wait("hello", 2)
    assert (hello["conversation"], hello["receipts"]) == ("c1", ["one"])
    expect(page.locator(".said")).to_have_text("Good evening.")
    expect(page.locator("#end")).to_be_visible()
    expect(page.get_by_role("button", name="Unmute")).to_be_visible()


def test_a_conversation_that_the_server_has_forgotten_ends_with_its_words_on_the_screen(
    page: Page, server: FakeServer
) -> None:
    talked(page, server)
    server.close(1012)
    server.wait("hello", 2)
    expect(page.locator("#over")).to_contain_text("could not be resumed", timeout=30_000)
    expect(page.locator(".line")).to_have_count(2)
    assert page.evaluate("sessionStorage.getItem('duologue.conversation')") is None


def test_after_45_seconds_it_offers_a_retry_and_the_transcript(own_page: Page, server: FakeServer) -> None:
    own_page.clock.install()
    talked(own_page, server)
    server.refusal = (4503, "stopping")
    server.close(1012)
    for _ in range(60):
        if own_page.locator("#banner button").count():
            break
        own_page.clock.run_for(1000)
    expect(own_page.locator("#banner")).to_contain_text("The transcript is still here")
    assert 8 <= len(server.all("hello")) <= 14
    with own_page.expect_download() as saved:
        own_page.get_by_role("button", name="Save the transcript").click()
    text = saved.value.path().read_text(encoding="utf-8")
    assert "You: Hi, I'd like a table for two on Friday" in text
    server.refusal = None
    server.history = []
    own_page.get_by_role("button", name="Try again").click()
    expect(own_page.locator("#banner")).to_be_hidden()


@pytest.mark.parametrize("code", [4409, 4410])
def test_a_conversation_in_another_tab_can_be_taken_over(page: Page, server: FakeServer, code: int) -> None:
    page.locator("#start:not([disabled])").wait_for()
    server.refusal = (code, "elsewhere")
    server.close(code)
    page.get_by_role("button", name="Use it here").click()
    assert server.wait("hello", 2)["take_over"] is True
    expect(page.locator("#start")).to_be_visible()


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (4400, "did not understand"),
        (4403, "Open the address that the server printed"),
        (4426, "newer version"),
        (1009, "too large"),
    ],
)
def test_a_refusal_is_explained(page: Page, server: FakeServer, code: int, says: str) -> None:
    page.locator("#start:not([disabled])").wait_for()
    server.close(code, "because")
    expect(page.locator("#gate")).to_contain_text(says)
    page.wait_for_timeout(600)
    assert len(server.all("hello")) == 1


def test_a_token_is_asked_for_and_leaves_the_address(browser: Browser, server: FakeServer) -> None:
    server.token = "open sesame"
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.url)
    page.get_by_label("Token").fill("open sesame")
    page.keyboard.press("Enter")
    expect(page.locator("#start")).to_be_enabled()
    page.goto(f"{server.url}?token=open%20sesame")
    expect(page.locator("#start")).to_be_enabled()
    expect(page).to_have_url(re.compile(r"/$"))
    context.close()
