"""The debug view fits the terminal, says everything, and needs neither colour nor Unicode."""

from __future__ import annotations

import io
import re
from itertools import pairwise

import pytest
from rich.console import Console, RenderableType

from duologue.cli.debug_view import VISITS_MAX, debug_view
from duologue.cli.lanes import columns
from duologue.cli.terminal_style import CHIPS, LOOKS, PLAIN_MARKS, colour_of, look_of, write_ms
from duologue.core import events as ev
from duologue.core.leaves import JobKind, Leaf, Link, Reply, User, Voice
from duologue.core.views import VIEWS
from duologue.lab.sim.demo_call import play_demo
from duologue.lab.sim.stage import Stage
from duologue.replay.timeline import Timeline, Visit, read_timeline

WIDTHS = [100, 72]
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    stage = Stage()
    for _ in play_demo(stage):
        pass
    return read_timeline(stage.records)


def shown(what: RenderableType, width: int = 100, colour: bool = False, encoding: str = "utf-8") -> str:
    buffer = io.BytesIO()
    out = io.TextIOWrapper(buffer, encoding=encoding)
    console = Console(
        file=out, width=width, force_terminal=colour, color_system="truecolor" if colour else None, legacy_windows=False
    )
    console.print(what)
    out.flush()
    return buffer.getvalue().decode(encoding)


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


@pytest.mark.req("L-22")
@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_visit_is_shown_with_its_duration(timeline: Timeline, width: int, colour: bool) -> None:
    states = " ".join(section(ESCAPE.sub("", shown(debug_view(timeline), width, colour)), "States"))
    chips = re.findall(r"([a-z_]+) +((?:\d+ min )?[\d.]+ m?s)", states)
    assert chips == [(visit.state, write_ms(visit.duration_ms)) for visit in timeline.visits]


@pytest.mark.req("L-22")
def test_the_header_shows_now_before_session_time_and_turns(timeline: Timeline) -> None:
    header = " ".join(" ".join(shown(debug_view(timeline)).splitlines()[:4]).split())
    assert "now idle for 120 ms" in header
    assert "before speaking for 1.5 s" in header
    assert f"session {write_ms(timeline.session_ms)}" in header
    assert f"turns {timeline.turns}" in header


@pytest.mark.req("L-22")
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
    text = shown(debug_view(Timeline("lifecycle", visits=visits)))
    assert "7 earlier" in text
    assert len(re.findall("(idle|listening) 10 ms", "".join(section(text, "States")))) == VISITS_MAX


def test_before_a_start_it_says_that_there_is_nothing_yet() -> None:
    assert "No conversation has started yet." in shown(debug_view(read_timeline([])))


def test_a_call_in_its_first_millisecond_can_be_shown() -> None:
    stage = Stage()
    stage.happen(ev.StartRequested)
    text = shown(debug_view(read_timeline(stage.records)), 72)
    assert "idle for 0 ms" in text
    assert "none yet" in text


@pytest.mark.parametrize("name", list(VIEWS))
def test_every_view_can_be_shown(name: str) -> None:
    stage = Stage()
    for _ in play_demo(stage):
        pass
    text = shown(debug_view(read_timeline(stage.records, VIEWS[name])), 72)
    assert f"seen as {name}" in text


# -- What a column shows


def rank(state: str) -> int:
    return {"rest": 0, "busy": 1, "alarm": 2}[state]


def test_a_short_alarm_is_seen_however_long_the_call_is() -> None:
    visits = (Visit("rest", 0, 50_000, ""), Visit("alarm", 50_000, 20, ""), Visit("rest", 50_020, 49_980, ""))
    assert columns(visits, 100_000, 10, rank) == ["rest"] * 5 + ["alarm"] + ["rest"] * 4


def test_among_equals_the_longest_is_seen() -> None:
    visits = (Visit("rest", 0, 10, ""), Visit("busy", 10, 30, ""), Visit("busy2", 40, 60, ""))
    assert columns(visits, 100, 1, lambda state: state != "rest") == ["busy2"]


def test_every_column_is_filled_even_if_the_call_is_shorter_than_the_bar() -> None:
    visits = (Visit("busy", 0, 1, ""), Visit("rest", 1, 1, ""))
    assert columns(visits, 2, 8, rank) == ["busy"] * 4 + ["rest"] * 4


# -- It needs neither colour nor Unicode


def test_without_colour_there_is_no_escape_code(timeline: Timeline) -> None:
    assert "\x1b" not in shown(debug_view(timeline), 72)


def test_a_terminal_without_unicode_gets_ascii(timeline: Timeline) -> None:
    text = shown(debug_view(timeline), 72, encoding="ascii")
    assert text.isascii()
    assert "?" not in text


@pytest.mark.parametrize("region", list(LOOKS))
@pytest.mark.parametrize("plain", [False, True])
def test_the_marks_of_a_region_differ_without_colour(region: str, plain: bool) -> None:
    marks = [look.mark.translate(PLAIN_MARKS) if plain else look.mark for look in LOOKS[region].values()]
    assert len(set(marks)) == len(marks)


def test_every_leaf_has_a_look() -> None:
    regions: dict[str, type[Leaf]] = {"link": Link, "user": User, "voice": Voice, "reply": Reply, "jobs": JobKind}
    for region, leaves in regions.items():
        names = {"none" if leaf is JobKind.ABSENT else leaf.value for leaf in leaves}
        assert set(LOOKS[region]) == names
    assert look_of("jobs", "tool+dispatched") == look_of("jobs", "tool")


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("colour", list(CHIPS))
def test_colours_can_be_read_on_black_and_on_white(colour: str) -> None:
    assert contrast(colour, "#000000") >= 3.5
    assert contrast(colour, "#ffffff") >= 3.5
    assert contrast(CHIPS[colour], "#ffffff") >= 4.5


@pytest.mark.parametrize("state", VIEWS["lifecycle"].states)
def test_every_lifecycle_state_has_a_colour_of_its_own(state: str) -> None:
    assert [other for other in VIEWS["lifecycle"].states if colour_of(other) == colour_of(state)] == [state]


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "0 ms"), (999, "999 ms"), (1_000, "1.0 s"), (59_999, "59.9 s"), (60_000, "1 min"), (125_400, "2 min 5 s")],
)
def test_durations_are_written_for_people(ms: int, text: str) -> None:
    assert write_ms(ms) == text
