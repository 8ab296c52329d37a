"""What a task has yielded, such as a booking's reference, can be read and stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.fake_server import FakeServer
from tests.browser.scenes import RESULTS, SCENES, agent, user

SCENE = {scene.name: scene for scene in SCENES}


def test_a_completed_task_stays_with_its_result(page: Page, server: FakeServer) -> None:
    SCENE["booked"].play(page, server)
    expect(page.locator("#task")).to_contain_text("BK1234")
    expect(page.locator("#task .task-done")).to_have_text("Done")
    server.say("ended", reason="hung up", canRestart=True)
    expect(page.locator("#task")).to_contain_text("BK1234")


@pytest.mark.parametrize("later", ["another task", "no task", "the end"])
def test_a_result_stays_among_the_words_whatever_comes_after_it(page: Page, server: FakeServer, later: str) -> None:
    SCENE["booked"].play(page, server)
    if later == "another task":
        server.say(
            "dialogue", flow="look_up", title="look up a flight", state="waiting_for_slot", question=None, slots=[]
        )
    elif later == "no task":
        server.say("dialogue", flow=None, title="", state="idle", question=None, slots=[])
    else:
        server.say("ended", reason="hung up", canRestart=True)
    expect(page.locator(".receipt")).to_have_text("Book a flightBooking refBK1234")


def test_a_result_stands_after_its_turn_and_before_the_next(page: Page, server: FakeServer) -> None:
    SCENE["booked_before"].play(page, server)
    lines = [line.split("\n")[-1] for line in page.locator("#lines > li").all_inner_texts()]
    assert lines[-3:] == ["BK1234", "is my flight on time", "On which day is it?"]


def test_a_result_that_was_said_word_for_word_is_not_repeated(page: Page, server: FakeServer) -> None:
    SCENE["booked"].play(page, server)
    user(server, 2, "is my flight on time")
    agent(server, 3, "Your flight is on time.")
    slots = [{"label": "status", "value": "Your flight is on time."}]
    server.say("results", results=[*RESULTS, {"turn": 2, "title": "look up a flight", "slots": slots}])
    user(server, 3, "thanks")
    expect(page.locator("#lines")).to_contain_text("thanks")
    expect(page.locator(".receipt")).to_have_count(1)


def test_a_result_is_in_the_saved_transcript_and_is_announced(page: Page, server: FakeServer) -> None:
    SCENE["booked"].play(page, server)
    expect(page.locator("#announcer")).to_have_text("book a flight: booking ref BK1234")
    page.locator("#end").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the transcript").click()
    assert "[book a flight: booking ref BK1234]" in Path(saved.value.path()).read_text(encoding="utf-8")


def test_a_new_conversation_begins_without_results(page: Page, server: FakeServer) -> None:
    SCENE["booked"].play(page, server)
    page.locator("#end").click()
    page.locator("#start:not([disabled])").click()
    expect(page.locator(".receipt")).to_have_count(0)
