"""The picture of a call: one file, complete, safe, the same every time, and true to the journal."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from duologue.core import events as ev
from duologue.core.leaves import ErrorClass, JobKind, Leaf, Link, Reply, Timer, User, Voice
from duologue.core.machine import MACHINE
from duologue.core.settings import profile
from duologue.core.views import VIEWS
from duologue.lab.sim.demo_call import play_demo
from duologue.lab.sim.stage import Stage
from duologue.replay.picture import draw_picture
from duologue.replay.picture.looks import HUES, INK, LOOKS, PAPER, colours, mix
from duologue.replay.picture.scale import Scale, write_clock, write_length
from duologue.replay.picture.spans import Spans, newest, read_spans
from duologue.replay.timeline import REGIONS, read_timeline
from duologue.replay.words_file import Spoken

VOID = ("meta", "br")


class Node:
    """An element of a page."""

    def __init__(self, name: str, attributes: dict[str, str | None]) -> None:
        self.name = name
        self.attributes = attributes
        self.children: list[Node] = []
        self.texts: list[str] = []

    def all(self, name: str = "", cls: str = "", **attributes: str) -> list[Node]:
        """Every element below with this name, class and attributes."""
        return [node for node in self._below() if node._is(name, cls, attributes)]

    def one(self, name: str = "", cls: str = "", **attributes: str) -> Node:
        (found,) = self.all(name, cls, **attributes)
        return found

    def get(self, key: str) -> str:
        value = self.attributes[key]
        assert value is not None
        return value

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def title(self) -> str:
        """The tooltip."""
        return next(node for node in self.children if node.name == "title").text

    def _below(self) -> Iterator[Node]:
        for child in self.children:
            yield child
            yield from child._below()

    def _is(self, name: str, cls: str, attributes: dict[str, str]) -> bool:
        classes = (self.attributes.get("class") or "").split()
        given = {key.replace("_", "-"): value for key, value in attributes.items()}
        named = not name or self.name == name
        return named and set(cls.split()) <= set(classes) and given.items() <= self.attributes.items()


class Page(HTMLParser):
    """Reads a page and insists that every element is closed where it should be."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("page", {})
        self._open = [self.root]
        self.feed(html)
        self.close()
        assert self._open == [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, dict(attrs))
        assert len(node.attributes) == len(attrs)
        self._open[-1].children.append(node)
        if tag not in VOID:
            self._open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].children.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().name == tag

    def handle_data(self, data: str) -> None:
        for node in self._open:
            node.texts.append(data)


def page_of(stage: Stage, title: str = "call.jsonl", words: tuple[Spoken, ...] = (), complete: bool = True) -> Node:
    return Page(draw_picture(stage.records, title, words, complete)).root


def demo_stage() -> Stage:
    stage = Stage()
    for _ in play_demo(stage):
        pass
    return stage


@pytest.fixture(scope="module")
def demo() -> Stage:
    return demo_stage()


@pytest.fixture(scope="module")
def page(demo: Stage) -> Node:
    return page_of(demo)


def lane(page: Node, name: str) -> Node:
    return page.one("g", "lane", data_lane=name)


def call_data(page: Node) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(page.one("script", id="call").text)
    return data


# -- One file


def test_it_asks_nobody_for_anything(demo: Stage, page: Node) -> None:
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
        "from tests.replay.test_picture import demo_stage, draw_picture;"
        "sys.stdout.write(hashlib.sha256(draw_picture(demo_stage().records, 'a').encode()).hexdigest())"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).parents[2])],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": used},
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


def test_views_regions_and_details_have_lanes_with_names(page: Node) -> None:
    lanes = [node.get("data-lane") for node in page.all("g", "lane")]
    assert lanes == ["lifecycle", "conversation", *REGIONS, "requests", "faults", "events"]
    assert [name.text for name in page.one("div", "names").all("span")] == lanes


def test_without_a_fault_there_is_no_lane_for_faults() -> None:
    stage = Stage()
    stage.start()
    stage.say()
    assert not page_of(stage).all("g", "lane", data_lane="faults")


@pytest.mark.parametrize("name", ["lifecycle", "link", "user", "voice", "reply"])
def test_every_stay_has_a_bar_in_its_place_that_says_what_when_how_long_and_why(
    demo: Stage, page: Node, name: str
) -> None:
    timeline = read_timeline(demo.records)
    lanes = {each.region: each.visits for each in timeline.lanes} | {"lifecycle": timeline.visits}
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


def percent(node: Node, key: str) -> float:
    return float(node.get(key).removesuffix("%"))


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


def test_requests_and_calls_tell_their_outcome(page: Node) -> None:
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


def test_the_metrics_are_shown_as_they_were_measured(page: Node) -> None:
    cells = page.one("dl", "metrics").all("div")
    shown = {cell.one("dt").text: " ".join(cell.one("dd").text.split()) for cell in cells}
    assert shown == {
        "first token": "350 ms mean",
        "first audio": "564 ms mean",
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


# -- Texts that fit


def test_a_text_is_shown_from_the_first_width_on_that_has_room_for_it() -> None:
    scale = Scale(100_000)
    widths = list(scale.widths())
    seen = scale.seen(50, 5_000)
    assert seen is not None
    number = int(seen[1:])
    assert widths[number] * 5_000 / 100_000 >= 50 > widths[number - 1] * 5_000 / 100_000


def test_a_text_that_never_has_room_is_left_out() -> None:
    assert Scale(100_000).seen(50, 0) is None
    assert Scale(100_000).seen(50, 10) is None


@pytest.mark.parametrize("length_ms", [1, 99, 5_000, 167_000, 600_000, 3_600_000, 40_000_000, 4_000_000_000])
def test_an_axis_has_round_times_and_never_too_many(length_ms: int) -> None:
    ticks = list(Scale(length_ms).ticks())
    assert ticks[0].at_ms == 0
    assert len(ticks) <= 701
    assert all(tick.at_ms <= length_ms for tick in ticks)


def test_the_style_shows_each_text_at_its_width(demo: Stage, page: Node) -> None:
    style = page.one("style").text
    used = {cls for node in page.all() for cls in (node.attributes.get("class") or "").split() if cls[0] == "w"}
    for cls in used - {"who"}:
        assert f".{cls} {{ display: inline; }}" in style
    assert f"min-width: {next(Scale(read_timeline(demo.records).length_ms).widths())}px" in style


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
        assert shown[0] == VIEWS["lifecycle"].see(after).replace("_", " ")
        assert shown[1] == VIEWS["conversation"].see(after)
        assert shown[2:6] == [
            leaf.value.replace("_", " ") for leaf in (after.link, after.user, after.voice, after.reply)
        ]
        assert heard_ms == after.heard_ms
        assert steps[-1][1] == list(last[at].fired)
        assert all(str(number) in call["rows"] for step in steps for number in step[1])


def test_before_the_cursor_moves_it_shows_the_end(page: Node) -> None:
    now = page.one("div", id="now")
    assert now.one("p", id="at").text == "2:47.164 at the end of the call"
    assert [cell.text for cell in now.all("dd")] == ["idle", "idle", "idle", "quiet", "silent", "none", "none"]


def test_the_keyboard_reaches_the_lanes_and_the_tables(page: Node) -> None:
    assert page.one("div", id="scroller").get("tabindex") == "0"
    assert len(page.all("div", "scrolls", tabindex="0")) == 2
    assert {button.get("data-zoom") for button in page.all("button")} == {"in", "out", "fit"}


# -- Words


def spoken_call() -> tuple[Stage, tuple[Spoken, ...]]:
    stage = Stage()
    stage.start()
    stage.say(for_ms=2_000)
    stage.think()
    stage.speak(1_200)
    stage.interrupt()
    stage.happen(ev.PlaybackStopped, heard_ms=1_240)
    stage.wait(8_000)
    words = (
        Spoken("user", 2_250, "Is it <script>alert(1)</script> & cold?", turn=1),
        Spoken("agent", 4_000, "It will be", 'mild" onload="x', reply=1, voice=1),
    )
    return stage, words


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


def test_a_word_is_never_markup() -> None:
    stage, words = spoken_call()
    page = page_of(stage, title="</title><script>", words=words)
    assert len(page.all("script")) == 2
    assert page.one("h1").text == "</title><script>"
    assert page.one("p", "caption user").text == words[0].text
    assert words[0].text in page.one("table", "said").text
    assert not [node for node in page.all() if "onload" in node.attributes]


def test_without_words_there_is_no_place_for_them(page: Node) -> None:
    assert not page.all("p", "caption")
    assert not page.all("table", "said")


def test_no_word_reaches_the_data_of_the_cursor() -> None:
    stage, words = spoken_call()
    assert "mild" not in page_of(stage, words=words).one("script", id="call").text


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


def hang_up(stage: Stage) -> None:
    stage.happen(ev.EndRequested)
    stage.happen(ev.SessionClosed)
    stage.wait(1_000)


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


# -- What has a beginning and an end


def spans_of(stage: Stage) -> Spans:
    return read_spans(newest(stage.records))


def asked() -> Stage:
    stage = Stage()
    stage.start()
    stage.say()
    return stage


def test_a_request_knows_when_its_first_token_and_its_first_audio_came() -> None:
    stage = asked()
    stage.answer()
    (request,) = spans_of(stage).requests
    assert (request.asks, request.outcome) == ("turn 1", "heard")
    assert request.token_ms is not None
    assert request.token_ms - request.since_ms == 300
    assert request.audio_ms == request.token_ms


def _fail(stage: Stage) -> None:
    stage.fail_reply(ErrorClass.AUTH_FAILURE)


def _retry(stage: Stage) -> None:
    stage.fail_reply(ErrorClass.SERVER_ERROR)


def _time_out(stage: Stage) -> None:
    stage.wait_for(Timer.ATTEMPT)


def _show(stage: Stage) -> None:
    stage.happen(ev.ReplyFinished)


def _call(stage: Stage) -> None:
    stage.call_tool()
    stage.happen(ev.ReplyFinished)


def _silence(stage: Stage) -> None:
    stage.happen(ev.InterruptRequested)


def _talk_over(stage: Stage) -> None:
    stage.speak(400)
    stage.interrupt()


def _lose_line(stage: Stage) -> None:
    stage.happen(ev.LinkWobbled)
    stage.wait_for(Timer.HEAL)


@pytest.mark.parametrize(
    ("happens", "outcome"),
    [
        (_fail, "failed"),
        (_retry, "failed, retried"),
        (_time_out, "timed out, retried"),
        (_show, "shown"),
        (_call, "made a call"),
        (_silence, "dropped"),
        (_lose_line, "dropped"),
        (_talk_over, "cut short"),
        (Stage.think, "goes on"),
    ],
)
def test_a_request_tells_what_became_of_it(happens: Any, outcome: str) -> None:
    stage = asked()
    happens(stage)
    assert spans_of(stage).requests[0].outcome == outcome


def test_a_sound_that_still_plays_goes_on_to_the_end_of_the_steps() -> None:
    stage = asked()
    stage.think()
    stage.speak(600)
    (sound,) = spans_of(stage).sounds
    assert (sound.outcome, sound.heard_ms, sound.end_ms) == ("goes on", 600, stage.at)


def test_a_call_is_followed_through_its_leaves_to_its_outcome() -> None:
    stage = asked()
    stage.think()
    call = stage.call_tool()
    stage.wait(100)
    stage.happen(ev.CallDispatched, call=call)
    stage.wait(200)
    stage.happen(ev.JobFailed, call=call)
    (found,) = spans_of(stage).calls
    assert [(stay.state, stay.duration_ms) for stay in found.stays] == [("tool", 100), ("dispatched", 200)]
    assert found.outcome == "failed"


def test_a_refused_call_is_there_though_it_never_ran() -> None:
    stage = Stage(profile("confirm", jobs_max=1))
    stage.start()
    stage.say()
    stage.think()
    stage.call_tool()
    stage.call_tool()
    assert [(call.call, call.outcome) for call in spans_of(stage).calls] == [(1, "goes on"), (2, "refused")]


def test_a_typed_turn_takes_no_time() -> None:
    stage = Stage()
    stage.start()
    stage.wait(500)
    stage.happen(ev.TextTyped)
    (turn,) = spans_of(stage).turns
    assert (turn.since_ms, turn.end_ms) == (500, 500)


# -- Looks


def test_every_leaf_and_every_state_has_a_look() -> None:
    leaves: dict[str, type[Leaf]] = {"link": Link, "user": User, "voice": Voice, "reply": Reply, "jobs": JobKind}
    for region, kinds in leaves.items():
        names = {"none" if leaf is JobKind.ABSENT else leaf.value for leaf in kinds}
        assert set(LOOKS[region]) - {"refused"} == names
    for view in ("lifecycle", "conversation"):
        assert set(LOOKS[view]) == set(VIEWS[view].states)


@pytest.mark.parametrize("lane_name", list(LOOKS))
def test_no_two_leaves_of_a_lane_look_the_same(lane_name: str) -> None:
    looks = LOOKS[lane_name].values()
    assert len(set(looks)) == len(looks)


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("night", [False, True])
def test_letters_can_be_read_on_their_bars_by_day_and_by_night(night: bool) -> None:
    for line in colours(night):
        shades = dict(re.findall(r"--(\w+): (#\w+);", line))
        hue = line.split()[0]
        if hue != ".grey":
            assert contrast(shades["on"], shades["body"]) >= 4.5, hue
        assert contrast(shades["deep"], shades["soft"]) >= 4.5, hue
        assert contrast(shades["deep"], shades["faint"]) >= 4.5, hue
        assert contrast(shades["strong"], PAPER[night]) >= 3, hue
    assert contrast(INK[night], PAPER[night]) >= 7


def test_colours_mix() -> None:
    assert mix("#ffffff", "#000000", 0.5) == "#808080"
    assert set(HUES) >= {"red", "grey"}


@pytest.mark.parametrize(
    ("ms", "text"), [(0, "0 ms"), (999, "999 ms"), (1_249, "1.24 s"), (59_999, "59.99 s"), (125_400, "2 min 5 s")]
)
def test_lengths_are_written_for_people(ms: int, text: str) -> None:
    assert write_length(ms) == text
