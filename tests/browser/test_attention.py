"""Is the user at the page? Typing, holding the mouse on it and watching it count, and the server is told."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.fake_server import FakeServer
from tests.browser.scenes import begin, until

UNFOCUSED = """() => {
  document.hasFocus = () => false;
  window.dispatchEvent(new Event("blur"));
}"""
HIDDEN = """() => {
  Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
# The page's clock, an hour later.
AN_HOUR_LATER = """() => {
  const now = performance.now.bind(performance);
  performance.now = () => now() + 3_600_000;
  window.dispatchEvent(new Event("blur"));
}"""
MOUSE_LEAVES = "document.documentElement.dispatchEvent(new MouseEvent('mouseleave'))"
MOUSE_ENTERS = "document.documentElement.dispatchEvent(new MouseEvent('mouseenter'))"


@pytest.mark.req("H-09.browser")
@pytest.mark.parametrize(
    ("facts", "here"),
    [
        ({}, False),
        ({"hasFocus": True}, True),
        ({"isMouseInside": True}, True),
        ({"sinceInputMs": 3_000}, True),
        ({"hasFocus": True, "isMouseInside": True, "sinceInputMs": 0, "isVisible": False}, False),
    ],
    ids=["nothing", "watching", "holding the mouse on it", "typing", "a hidden page"],
)
def test_what_counts_as_being_at_the_page(page: Page, facts: dict[str, Any], here: bool) -> None:
    given = {"isVisible": True, "hasFocus": False, "isMouseInside": False, "sinceInputMs": 3_600_000, **facts}
    script = "async (given) => (await import('./client/attention.js')).isAttended(given)"
    assert page.evaluate(script, given) is here


@pytest.mark.req("H-09.browser")
def test_the_server_is_told_when_the_user_leaves_the_page_and_comes_back(page: Page, server: FakeServer) -> None:
    begin(page, server)
    assert server.wait("attention") == {"here": True}
    page.evaluate(UNFOCUSED)
    page.evaluate(MOUSE_LEAVES)
    page.evaluate(AN_HOUR_LATER)
    assert server.wait("attention", count=2) == {"here": False}
    page.evaluate(MOUSE_ENTERS)
    assert server.wait("attention", count=3) == {"here": True}
    page.evaluate(MOUSE_LEAVES)
    assert server.wait("attention", count=4) == {"here": False}
    page.locator("#typed").press("a")
    assert server.wait("attention", count=5) == {"here": True}
    page.evaluate(HIDDEN)
    assert server.wait("attention", count=6) == {"here": False}


def test_the_server_is_told_again_after_a_reconnect_and_nothing_before_a_conversation(
    page: Page, server: FakeServer
) -> None:
    page.locator("#start:not([disabled])").wait_for()
    assert server.all("attention") == []
    begin(page, server)
    server.wait("attention")
    server.history = []
    server.close(1012)
    assert server.wait("attention", count=2) == {"here": True}


# What the page does every 60 s, it does every 50 ms.
A_MINUTE_IS_SHORT = """() => {
  const { setInterval: every } = window;
  window.minutes = 0;
  window.setInterval = (act, ms, ...more) => {
    if (ms !== 60_000) return every(act, ms, ...more);
    return every(() => {
      window.minutes += 1;
      act();
    }, 50);
  };
}"""


@pytest.mark.req("H-09.browser")
def test_the_server_is_told_every_minute_that_the_user_is_still_there(own_page: Page, server: FakeServer) -> None:
    """So a user who only watches isn't asked whether they are there. Without the user, the page says no more."""
    own_page.add_init_script(f"({A_MINUTE_IS_SHORT})()")
    own_page.reload()
    begin(own_page, server)
    assert server.wait("attention", count=4) == {"here": True}
    assert own_page.evaluate("minutes") >= 3
    own_page.evaluate(HIDDEN)
    until(own_page, "minutes > 0 && (minutes = 0, true)")
    until(own_page, "minutes > 5")
    told = [one["here"] for one in server.all("attention")]
    assert told.count(False) == 1
    assert told[-1] is False
