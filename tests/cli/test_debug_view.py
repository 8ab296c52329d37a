"""The debug view fits the terminal, shows everything, and works without colour or Unicode."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from duologue.cli.debug_view import VISITS_MAX, debug_view
from duologue.cli.terminal_style import write_ms
from duologue.core import events as ev
from duologue.core.views import EVERY_VIEW
from duologue.lab.sim.demo_call import play_demo, stage_for_demo
from duologue.lab.sim.stage import Stage
from duologue.replay.timeline import Timeline, Visit, read_timeline
from tests.cli.rendered import shown

WIDTHS = [100, 72]


ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    stage = stage_for_demo()
    for _ in play_demo(stage):
        pass
    return read_timeline(stage.records)


def section(text: str, title: str) -> list[str]:
    """The lines below a title, up to the next empty one."""
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.strip().startswith(title))
    end = next((n for n in range(start, len(lines)) if not lines[n].strip()), len(lines))
    return lines[start + 1 : end]


# -- It fits


@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize("width", [*WIDTHS, 130, 60])
def test_no_line_is_wider_than_the_terminal_or_ends_in_blanks(timeline: Timeline, width: int, colour: bool) -> None:
    lines = ESCAPE.sub("", shown(debug_view(timeline), width, colour)).splitlines()
    assert max(len(line) for line in lines) <= width
    if not colour:
        assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_five_bars_share_one_axis_as_wide_as_the_terminal(timeline: Timeline, width: int) -> None:
    bars = section(shown(debug_view(timeline), width), "Regions")[:6]
    assert [bar.split()[0] for bar in bars[:5]] == ["link", "user", "voice", "reply", "jobs"]
    assert {len(bar) for bar in bars[:5]} == {width - 2}
    ticks = [int(tick) for tick in re.findall(r"(\d+) s", bars[5])]
    assert ticks[0] == 0
    assert len({later - earlier for earlier, later in pairwise(ticks)}) == 1


@pytest.mark.parametrize("width", range(60, 110))
def test_a_chip_is_never_cut_at_the_edge(timeline: Timeline, width: int) -> None:
    """A chip is painted one blank beyond its text, so none may end flush with its unit."""
    text = shown(debug_view(timeline), width, colour=True)
    painted = re.findall(r"\x1b\[38;2;255;255;255;48;2;[0-9;]+m([^\x1b]*)", text)
    assert len(painted) == len(timeline.visits)
    assert all(duration.endswith("s ") for duration in painted)


# -- It says everything


@pytest.mark.req("L-22.timeline")
@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_visit_is_shown_with_its_duration(timeline: Timeline, width: int, colour: bool) -> None:
    states = " ".join(section(ESCAPE.sub("", shown(debug_view(timeline), width, colour)), "States"))
    chips = re.findall(r"([a-z_]+) +((?:\d+ min )?[\d.]+ m?s)", states)
    assert chips == [(visit.state, write_ms(visit.duration_ms)) for visit in timeline.visits]


@pytest.mark.req("L-22.states", "L-22.session")
def test_the_header_shows_now_before_session_time_and_turns(timeline: Timeline) -> None:
    header = " ".join(" ".join(shown(debug_view(timeline)).splitlines()[:4]).split())
    assert "now idle for 0 ms" in header
    assert "before ending for 120 ms" in header
    assert f"session {write_ms(timeline.session_ms)}" in header
    assert f"turns {timeline.turns}" in header


@pytest.mark.req("L-22.metrics")
@pytest.mark.parametrize("width", WIDTHS)
def test_the_metrics_are_shown_as_they_were_measured(timeline: Timeline, width: int) -> None:
    m = timeline.metrics
    text = " ".join(shown(debug_view(timeline), width).split("Metrics")[1].split())
    assert f"first token {m.first_token_ms} ms mean" in text
    assert f"first audio {m.first_audio_ms} ms mean" in text
    assert "interrupted 1 of 16, 6%" in text
    assert "tool calls 3" in text
    assert "succeeded 3 of 3, 100%" in text
    assert "errors 1" in text
    assert "check-ins 2" in text
    assert "overheard 1" in text
    assert "turns lost 0" in text


@pytest.mark.req("L-22", "C-REQ-010")
@pytest.mark.parametrize("width", WIDTHS)
def test_the_last_transitions_are_shown_with_their_causes(timeline: Timeline, width: int) -> None:
    text = " ".join(shown(debug_view(timeline), width).split())
    for move in timeline.transitions:
        assert f"{move.source} → {move.target} {move.cause}" in text


def test_a_long_call_shows_its_newest_states_and_says_how_many_it_left_out() -> None:
    visits = tuple(Visit(("idle", "listening")[n % 2], n * 10, 10, "SpeechStarted") for n in range(VISITS_MAX + 7))
    text = shown(debug_view(Timeline("phase", visits=visits)))
    assert "7 earlier" in text
    assert len(re.findall("(idle|listening) 10 ms", "".join(section(text, "States")))) == VISITS_MAX


def test_before_the_start_it_says_that_nothing_has_happened_yet() -> None:
    assert "No conversation has started yet." in shown(debug_view(read_timeline([])))


def test_a_call_in_its_first_millisecond_can_be_shown() -> None:
    stage = Stage()
    stage.happen(ev.StartRequested)
    text = shown(debug_view(read_timeline(stage.records)), 72)
    assert "starting for 0 ms" in text
    assert "none yet" in text


@pytest.mark.parametrize("name", list(EVERY_VIEW))
def test_every_view_can_be_shown(name: str) -> None:
    stage = stage_for_demo()
    for _ in play_demo(stage):
        pass
    text = shown(debug_view(read_timeline(stage.records, EVERY_VIEW[name])), 72)
    assert f"seen as {name}" in text


# -- It needs neither colour nor Unicode


def test_without_colour_there_is_no_escape_code(timeline: Timeline) -> None:
    assert "\x1b" not in shown(debug_view(timeline), 72)


def test_a_terminal_without_unicode_gets_ascii(timeline: Timeline) -> None:
    text = shown(debug_view(timeline), 72, encoding="ascii")
    assert text.isascii()
    assert "?" not in text
