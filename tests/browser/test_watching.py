"""The panel of an operator: the list of calls, and a call that is only looked at."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.fake_server import FakeServer
from tests.browser.scenes import CALLS, SCENES, begin

WATCHING = next(scene for scene in SCENES if scene.name == "watching")
PHONE = CALLS[0]["id"]


def open_list(page: Page, server: FakeServer) -> None:
    server.calls = CALLS
    page.goto(f"{server.url}?debug")
    page.locator(".call").first.wait_for()


@pytest.mark.req("L-22", "C-UI")
def test_a_call_is_chosen_from_the_list_with_the_keyboard_and_left_again(page: Page, server: FakeServer) -> None:
    open_list(page, server)
    expect(page.locator(".call")).to_have_count(len(CALLS))
    expect(page.locator(".call").first).to_contain_text("Phone")
    expect(page.locator(".call").first).to_contain_text("Speaking")
    page.get_by_role("button", name="Watch Phone, since").first.focus()
    page.keyboard.press("Enter")
    assert server.wait("watch") == {"id": PHONE}
    banner = page.locator("#watching")
    expect(banner).to_contain_text("Watching a phone call")
    expect(page.get_by_role("button", name="Watching Phone")).to_be_focused()
    assert f"watch={PHONE}" in page.url
    assert server.wait("debug") == {"on": True}
    banner.get_by_role("button", name="Stop watching").focus()
    page.keyboard.press("Enter")
    expect(banner).to_be_hidden()
    expect(page.locator("#hood-toggle")).to_be_focused()
    assert "watch=" not in page.url
    expect(page.locator("#start")).to_be_enabled()
    assert server.wait("hello", 3)["seat"] == server.all("hello")[1]["seat"], "its own seat again"


def test_a_watcher_has_no_control_that_would_act_on_the_call(page: Page, server: FakeServer) -> None:
    WATCHING.play(page, server)
    for control in ("#start", "#dock", "#composer", "#hold", ".cancel", ".ask-row"):
        expect(page.locator(control)).to_be_hidden()
    expect(page.locator(".ask")).to_contain_text("Roses or tulips?")
    expect(page.locator(".line").nth(1)).to_contain_text("Caller")
    server.say("notification", level="error", code="X", message="It fails.", actions=[], fatal=False)
    expect(page.locator(".notice .small")).to_have_count(0)
    server.forget()
    page.locator("#stage").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.wait_for_timeout(200)
    assert server.received == []
    assert server.frames == []


def test_a_call_opened_by_its_address_has_its_own_seat_and_survives_a_lost_connection(
    page: Page, server: FakeServer
) -> None:
    begin(page, server)  # an own conversation in this tab, whose key is kept
    own = server.all("hello")[0]["seat"]
    WATCHING.play(page, server)
    hello = server.all("hello")[-1]
    assert hello["seat"] != own
    assert "key" not in hello
    server.say("ended", reason="hung up", canRestart=False)
    expect(page.locator("#watching")).to_contain_text("This call has ended")
    server.close(1012)
    server.wait("watch", 2)
    expect(page.locator("#watching")).to_contain_text("Watching a phone call")
    so_far = len(server.all("hello"))
    page.get_by_role("button", name="Stop watching").click()
    page.locator("#end").wait_for()
    assert server.wait("hello", so_far + 1)["key"] == "secret", "the end of that call was not the end of one's own"


def test_the_address_of_an_ended_call_says_so_and_leads_back(page: Page, server: FakeServer) -> None:
    server.calls = []
    page.goto(f"{server.url}?watch=000000000000")
    expect(page.locator(".notice")).to_contain_text("This call has ended")
    expect(page.locator("#start")).to_be_enabled()
    assert "watch=" not in page.url


def test_during_the_users_own_conversation_no_call_can_be_watched(page: Page, server: FakeServer) -> None:
    open_list(page, server)
    begin(page, server)
    expect(page.get_by_role("button", name="Watch Phone").first).to_be_disabled()
    expect(page.locator(".calls-panel")).to_contain_text("end your own conversation first")
    server.say("calls", calls=[{**CALLS[1], "own": True}])
    expect(page.locator(".call")).to_have_count(1)
    expect(page.locator(".call")).to_contain_text("this page")
    expect(page.locator(".call button")).to_be_hidden()


def test_the_list_is_hidden_where_watching_is_not_allowed(page: Page, server: FakeServer) -> None:
    page.goto(f"{server.url}?debug")
    page.locator("#start:not([disabled])").wait_for()
    expect(page.locator(".calls-panel")).to_be_hidden()
    assert server.all("calls") == []


def test_private_words_are_marked_as_private(page: Page, server: FakeServer) -> None:
    server.calls = CALLS
    page.goto(f"{server.url}?lang=de&watch={CALLS[2]['id']}")
    expect(page.locator("#watching")).to_contain_text("Sie sehen einem Telefonat zu")
    expect(page.locator("#watching")).to_contain_text("seine Worte sind vertraulich")
