"""The page of a call: one file, complete, safe, the same every time, and true to the journal."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from duologue.core import events as ev
from duologue.lab.sim.stage import Stage
from duologue.replay.picture import draw_picture
from duologue.replay.picture.scale import write_clock
from duologue.replay.picture.spans import newest
from duologue.replay.words_file import Spoken
from tests.replay.picture.drawn_page import (
    Node,
    demo_stage,
    hang_up,
    page_of,
    spoken_call,
)

# -- One file


def test_the_page_loads_nothing_from_any_host(demo: Stage, page: Node) -> None:
    html = draw_picture(demo.records, "call.jsonl")
    assert "http://" not in html
    assert "https://" not in html
    assert not re.findall(r"url\((?!#)|@import|\bsrc=|<link|<iframe|<img", html)
    assert all(node.get("href").startswith("#") for node in page.all() if "href" in node.attributes)


def test_only_its_own_script_may_run(page: Node) -> None:
    policy = page.one("meta", http_equiv="Content-Security-Policy").get("content")
    scripts = [script for script in page.all("script") if "type" not in script.attributes]
    (own,) = [base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode() for script in scripts]
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{own}'"


def test_every_link_inside_the_page_leads_somewhere(page: Node) -> None:
    ids = [node.get("id") for node in page.all() if "id" in node.attributes]
    assert len(set(ids)) == len(ids)
    assert {link.get("href")[1:] for link in page.all("a")} <= set(ids)


def test_the_same_call_makes_the_same_bytes(demo: Stage) -> None:
    assert draw_picture(demo.records, "a") == draw_picture(demo_stage().records, "a")


@pytest.mark.parametrize("seed", ["1", "4711"])
def test_the_bytes_are_the_same_under_any_hash_seed(seed: str) -> None:
    code = (
        "import sys, hashlib; sys.path.insert(0, sys.argv[1]);"
        "from duologue.replay.picture import draw_picture;from tests.replay.picture.drawn_page import demo_stage;"
        "sys.stdout.write(hashlib.sha256(draw_picture(demo_stage().records, 'a').encode()).hexdigest())"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).parents[3])],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": used},
        ).stdout
        for used in ("0", seed)
    ]
    assert runs[0] == runs[1]


def test_a_quarter_of_an_hour_is_a_file_of_moderate_size() -> None:
    stage = Stage()
    stage.start()
    while stage.at < 900_000:
        stage.wait(1_500)
        stage.say(for_ms=2_000)
        stage.answer(for_ms=4_000)
    html = draw_picture(stage.records, "long.jsonl")
    assert len(stage.records) > 2_500
    assert len(html) < 2_500_000


# -- The lanes


def test_the_metrics_are_shown_as_they_were_measured(page: Node) -> None:
    cells = page.one("dl", "metrics").all("div")
    shown = {cell.one("dt").text: " ".join(cell.one("dd").text.split()) for cell in cells}
    assert shown == {
        "first token": "350 ms mean",
        "first audio": "579 ms mean",
        "turns": "13",
        "requests": "22",
        "sounds": "16",
        "interrupted": "6% 1 of 16",
        "overheard": "1",
        "tool calls": "3",
        "succeeded": "100% 3 of 3",
        "errors": "1",
        "check-ins": "2",
        "turns lost": "0",
    }


# -- Causes


def test_every_step_that_moves_or_does_something_is_listed_with_its_cause_and_its_rows(demo: Stage, page: Node) -> None:
    rows = page.one("table", "moves").one("tbody").all("tr")
    moved = [record for record in demo.records if regions(record.before) != regions(record.after)]
    listed = {(int(row.one("td", "at").get("data-at")), row.one("td", "cause").text) for row in rows}
    assert len(rows) >= len(moved)
    for record in moved:
        event = record.event
        name = f"timer:{event.timer.value}" if isinstance(event, ev.TimerFired) else type(event).__name__
        assert (event.at, name) in listed


def regions(state: Any) -> tuple[Any, ...]:
    return (state.link, state.user, state.voice, state.reply, [(job.call, job.kind) for job in state.jobs])


def test_the_keyboard_reaches_the_lanes_and_the_tables(page: Node) -> None:
    assert page.one("div", id="scroller").get("tabindex") == "0"
    assert len(page.all("div", "scrolls", tabindex="0")) == 2
    assert {button.get("data-zoom") for button in page.all("button")} == {"in", "out", "fit"}


# -- Words


def test_without_words_there_is_no_place_for_them(page: Node) -> None:
    assert not page.all("p", "caption")
    assert not page.all("table", "said")


def test_words_of_an_earlier_call_are_left_out() -> None:
    stage, _ = spoken_call()
    began = stage.at
    hang_up(stage)
    stage.start()
    stage.say()
    words = (Spoken("user", began - 500, "earlier", turn=1), Spoken("user", stage.at, "now", turn=stage.state.turn))
    assert [row.all("td")[2].text for row in page_of(stage, words=words).one("table", "said").all("tr")[1:]] == ["now"]


# -- Calls that are not whole


def test_a_journal_without_an_end_is_drawn_with_a_notice(demo: Stage) -> None:
    whole, cut = page_of(demo), page_of(demo, complete=False)
    assert not whole.all("p", "notice")
    assert "no end" in cut.one("p", "notice").text
    assert len(cut.all("g", "bar")) == len(whole.all("g", "bar"))


def test_a_journal_without_a_conversation_says_so() -> None:
    page = page_of(Stage())
    assert page.one("p", "notice").text == "No conversation has started yet."
    assert not page.all("script")


def test_a_call_in_its_first_millisecond_can_be_drawn() -> None:
    stage = Stage()
    stage.happen(ev.StartRequested)
    assert len(page_of(stage).all("g", "event")) == 1


def test_of_several_calls_the_newest_is_drawn() -> None:
    stage = Stage()
    stage.start()
    stage.say()
    hang_up(stage)
    first = len(stage.records)
    stage.start()
    stage.say()
    page = page_of(stage)
    assert newest(stage.records) == stage.records[first:]
    assert f"after {first} earlier events" in page.one("p", "facts").text
    assert page.one("p", id="at").text.startswith(write_clock(stage.at - stage.records[first].event.at))
