"""Typed messages: sent again until they are saved, and never to another conversation."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.fake_server import FakeServer
from tests.browser.scenes import begin, user


def test_typing_works_without_a_microphone(browser: Browser, server: FakeServer) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(
        "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'))"
    )
    page.goto(server.url)
    begin(page, server)
    expect(page.locator("#microphone-trouble")).to_contain_text("The microphone is blocked")
    expect(page.locator("#typed")).to_be_focused()
    expect(page.locator("#typed")).to_have_attribute("placeholder", "Write a message")  # and not "or write"
    page.keyboard.type("a table for two")
    page.keyboard.press("Enter")
    assert server.wait("type")["text"] == "a table for two"
    expect(page.locator("#typed")).to_have_value("")
    context.close()


def write(page: Page, words: str) -> None:
    page.locator("#typed").fill(words)
    page.keyboard.press("Enter")


@pytest.mark.req("L-14")
def test_a_typed_message_is_sent_again_until_it_is_confirmed(page: Page, server: FakeServer) -> None:
    begin(page, server)
    write(page, "a table for two")
    write(page, "and a window")
    first, second = server.wait("type"), server.wait("type", 2)
    assert first["id"] != second["id"]
    server.say("typed", id=first["id"])
    server.history = []
    server.close(1012)
    assert server.wait("type", 3) == second, "the same message, by the same id"
    server.say("typed", id=second["id"])
    server.close(1012)
    server.wait("hello", 3)
    page.wait_for_timeout(300)
    assert len(server.all("type")) == 3
    assert page.evaluate("sessionStorage.getItem('duologue.unsent')") is None


@pytest.mark.req("L-14")
def test_a_message_typed_without_a_connection_waits_and_is_marked(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.history = []
    server.refusal = (4503, "stopping")
    server.close(1012)
    expect(page.locator("#banner")).to_be_visible()
    write(page, "are you there")
    line = page.locator(".line[data-unsent=true]")
    expect(line.locator(".said")).to_have_text("are you there")
    expect(line.locator(".mark-of")).to_have_text("not sent yet")
    expect(page.locator("#typed")).to_have_value("")
    server.refusal = None
    sent = server.wait("type", seconds=30)
    assert sent["text"] == "are you there"
    user(server, 1, "are you there")
    server.say("typed", id=sent["id"])
    expect(page.locator(".line")).to_have_count(1)
    expect(line).to_have_count(0)


@pytest.mark.req("L-14")
def test_a_reload_keeps_unconfirmed_messages(page: Page, server: FakeServer) -> None:
    begin(page, server)
    write(page, "before the reload")
    sent = server.wait("type")
    server.history = []
    page.reload()
    assert server.wait("type", 2) == sent
    server.say("typed", id=sent["id"])
    page.wait_for_function("sessionStorage.getItem('duologue.unsent') === null")


def test_an_unsent_message_stays_readable_and_is_not_sent_to_another_conversation(
    page: Page, server: FakeServer
) -> None:
    begin(page, server)
    write(page, "for nobody")
    server.wait("type")
    server.say("ended", reason="hung up", canRestart=True)
    expect(page.locator(".line[data-unsent=true] .said")).to_have_text("for nobody")
    page.locator("#start:not([disabled])").click()
    server.wait("start", 2)
    page.locator("#end").wait_for()
    server.history = []
    server.close(1012)
    server.wait("hello", 2)
    page.wait_for_timeout(300)
    assert len(server.all("type")) == 1
