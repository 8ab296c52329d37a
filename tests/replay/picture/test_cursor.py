"""The data for the cursor: states, steps and rows, and never words."""

from __future__ import annotations

from duologue.core.machine import MACHINE
from duologue.core.views import phase_of
from duologue.lab.sim.stage import Stage
from tests.replay.picture.drawn_page import (
    Node,
    call_data,
    page_of,
    spoken_call,
)


def test_the_rows_that_fired_are_there_as_the_machine_calls_them(demo: Stage, page: Node) -> None:
    for number in {number for record in demo.records for number in record.fired}:
        row = page.one("tr", id=f"row{number}" if number >= 0 else f"rule{-1 - number}")
        name = MACHINE.rows[number].name if number >= 0 else f"rule: {MACHINE.rules[-1 - number].name}"
        assert row.all("td")[1].text == name


def test_the_cursor_knows_the_state_at_every_instant(demo: Stage, page: Node) -> None:
    call = call_data(page)
    last = {record.event.at: record for record in demo.records}
    assert [instant[0] for instant in call["instants"]] == list(last)
    for at, state, heard_ms, steps in call["instants"]:
        after = last[at].after
        shown = [call["chips"][chip][0] for chip in call["states"][state]]
        assert shown[0] == phase_of(after).replace("_", " ")
        assert shown[1:5] == [
            leaf.value.replace("_", " ") for leaf in (after.link, after.user, after.voice, after.reply)
        ]
        assert heard_ms == after.heard_ms
        assert steps[-1][1] == list(last[at].fired)
        assert all(str(number) in call["rows"] for step in steps for number in step[1])


def test_before_the_cursor_moves_it_shows_the_end(page: Node) -> None:
    now = page.one("div", id="now")
    assert now.one("p", id="at").text == "2:47.164 at the end of the call"
    assert [cell.text for cell in now.all("dd")] == ["idle", "idle", "quiet", "silent", "none", "none"]


def test_no_word_reaches_the_data_of_the_cursor() -> None:
    stage, words = spoken_call()
    assert "mild" not in page_of(stage, words=words).one("script", id="call").text
