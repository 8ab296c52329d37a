"""The drawing: lanes, bars, ticks and captions, each in its place and with its title."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Timer
from duologue.lab.sim.stage import Stage
from duologue.replay.picture.looks import LOOKS
from duologue.replay.picture.scale import Scale, write_clock, write_length
from duologue.replay.picture.spans import read_spans
from duologue.replay.timeline import REGIONS, read_timeline
from tests.replay.picture.drawn_page import (
    Node,
    lane,
    page_of,
    percent,
    spoken_call,
)


def test_views_regions_and_details_have_lanes_with_names(page: Node) -> None:
    lanes = [node.get("data-lane") for node in page.all("g", "lane")]
    assert lanes == ["phase", *REGIONS, "requests", "cues", "faults", "events"]
    assert [name.text for name in page.one("div", "names").all("span")] == lanes


def test_without_a_fault_there_is_no_lane_for_faults() -> None:
    stage = Stage()
    stage.start()
    stage.say()
    assert not page_of(stage).all("g", "lane", data_lane="faults")


def test_a_cue_is_a_mark_in_a_lane_of_its_own_and_no_sound_of_the_voice() -> None:
    stage = Stage()
    stage.start()
    stage.say()
    stage.happen(ev.ReplyAccepted)
    assert not page_of(stage).all("g", "lane", data_lane="cues")
    stage.wait_for(Timer.CUE)
    given_at = stage.at
    stage.wait_for(Timer.CUE)
    cues = page_of(stage).one("g", "lane", data_lane="cues")
    titles = [mark.title for mark in cues.all("g", "bar")]
    assert [title.splitlines()[0] for title in titles] == ["cue: sound", "cue: words"]
    assert write_clock(given_at) in titles[0]
    assert not stage.effects(fx.StartPlayback)


@pytest.mark.parametrize("name", ["phase", "link", "user", "voice", "reply"])
def test_every_stay_has_a_bar_in_its_place_that_says_what_when_how_long_and_why(
    demo: Stage, page: Node, name: str
) -> None:
    timeline = read_timeline(demo.records)
    lanes = {each.region: each.visits for each in timeline.lanes} | {"phase": timeline.visits}
    stays = [visit for visit in lanes[name] if not LOOKS[name][visit.state].endswith("rest")]
    bars = lane(page, name).all("g", "bar")
    assert len(bars) == len(stays) > 2
    for bar, stay in zip(bars, stays, strict=True):
        assert percent(bar.children[1], "x") == pytest.approx(100 * stay.since_ms / timeline.length_ms, abs=1e-4)
        assert percent(bar.children[1], "width") == pytest.approx(100 * stay.duration_ms / timeline.length_ms, abs=1e-4)
        assert bar.title.split("\n") == [
            f"{name}: {stay.state.replace('_', ' ')}",
            f"{write_clock(stay.since_ms)} to {write_clock(stay.end_ms)}, {write_length(stay.duration_ms)}",
            f"because of {stay.cause}",
        ]


def test_every_event_has_its_tick_at_its_time(demo: Stage, page: Node) -> None:
    length_ms = read_timeline(demo.records).length_ms
    ticks = lane(page, "events").all("g", "event")
    assert [int(tick.get("data-at")) for tick in ticks] == sorted({record.event.at for record in demo.records})
    for tick in ticks:
        x = percent(tick.all("line")[0], "x1")
        assert x == pytest.approx(100 * int(tick.get("data-at")) / length_ms, abs=1e-4)
    named = [name for tick in ticks for name in tick.title.split("\n")[1:]]
    assert len(named) == len(demo.records)


def test_an_event_that_was_ignored_looks_so() -> None:
    stage = Stage()
    stage.start()
    stage.wait(100)
    stage.happen(ev.PlaybackFinished, heard_ms=1)
    (tick,) = lane(page_of(stage), "events").all("g", "ignored")
    assert tick.title == "0:00.100\nPlaybackFinished (ignored)"


def test_what_was_heard_rises_in_the_bars_and_a_cut_is_marked(demo: Stage, page: Node) -> None:
    sounds = read_spans(demo.records).sounds
    rising = lane(page, "voice").all("svg", "heard")
    assert [int(each.get("data-heard")) for each in rising] == [sound.heard_ms for sound in sounds]
    cut = lane(page, "voice").one("g", "cut")
    assert cut.one("text").text == "heard 2340 ms"
    assert cut.title.split("\n") == ["voice 5 was cut short", "heard 2340 ms of it", "0:19.410, by OverlapJudged"]


def test_requests_and_calls_show_their_outcome(page: Node) -> None:
    requests = [mark.title.split("\n")[0] for mark in lane(page, "requests").all("g", "request")]
    assert len(requests) == 22
    assert requests[0] == "request 1 (turn 1): heard"
    assert sum(request.endswith(": failed, retried") for request in requests) == 1
    assert [request for request in requests if "(goodbye)" in request and request.endswith(": heard")]
    jobs = [bar.title.split("\n")[0] for bar in lane(page, "jobs").all("g", "bar")]
    assert "call 2: delegated, then done" in jobs
    (fault,) = lane(page, "faults").all("g", "bar")
    assert fault.title.startswith("fault: brain, server error")


def test_calls_that_run_side_by_side_are_drawn_one_below_the_other() -> None:
    stage = Stage()
    stage.start()
    stage.say()
    stage.think()
    stage.call_tool()
    stage.call_tool()
    stage.wait(500)
    stage.happen(ev.JobProgressed)
    tops = {bar.children[1].get("y") for bar in lane(page_of(stage), "jobs").all("g", "bar")}
    assert len(tops) == 2


def test_words_are_captions_where_their_turn_and_their_sound_began() -> None:
    stage, words = spoken_call()
    page = page_of(stage, words=words)
    spans = read_spans(stage.records)
    length_ms = read_timeline(stage.records).length_ms
    user, agent = page.one("p", "caption user"), page.one("p", "caption agent")
    assert f"left:{Scale(length_ms).percent(spans.turns[0].since_ms)};" in user.get("style")
    assert f"left:{Scale(length_ms).percent(spans.sounds[0].since_ms)};" in agent.get("style")
    assert agent.text == 'It will be mild" onload="x'
    assert agent.one("s").text == 'mild" onload="x'
    assert lane(page, "voice").one("g", "cut").one("text").text == "heard 1240 ms"
