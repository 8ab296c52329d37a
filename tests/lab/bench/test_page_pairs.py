"""How the page is compared with `duologue listen`."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.lab.bench.page_pairs import ComparedRecording, EndedTurn, PageTimes, compare, ended, percentile, report
from duologue.lab.bench.talk import Expected

ROW = Expected("one", Path("one.wav"), 2_000, ((0, 1_850),))


def played(
    page_ms: int | None, listen_ms: int | None, cut_in: tuple[bool, bool] = (False, False), **more: int
) -> ComparedRecording:
    def side(ms: int | None, is_cut_in: bool) -> EndedTurn:
        return EndedTurn(ms, None if ms is None else ms + 10, is_cut_in)

    return ComparedRecording("one", side(page_ms, cut_in[0]), side(listen_ms, cut_in[1]), PageTimes(**more))


def test_times_are_counted_from_the_end_of_the_speech() -> None:
    assert ended(ROW, [2_300, 2_900], [2_320]) == EndedTurn(300, 320, False)


def test_an_answer_in_the_speech_is_a_cut_in_and_no_answer_to_its_end() -> None:
    assert ended(ROW, [1_200, 2_300], [1_210, 2_320]) == EndedTurn(300, 320, True)
    assert ended(ROW, [1_200], [1_210]) == EndedTurn(None, None, True)


@pytest.mark.parametrize(("percent", "value"), [(0, 1), (50, 3), (90, 5), (100, 5)])
def test_a_percentile_is_one_of_the_values(percent: int, value: int) -> None:
    assert percentile([5, 1, 3, 2, 4], percent) == value


def test_there_is_no_percentile_of_nothing() -> None:
    assert percentile([], 50) is None


def test_differences_are_those_of_the_same_recording() -> None:
    result = compare([played(350, 300), played(1_120, 1_000), played(140, 150)])
    assert (result["compared"], result["slower_ms_p50"], result["slower_ms_p90"]) == (3, 50, 120)
    assert result["heard_slower_ms_p50"] == 50


def test_a_difference_is_divided_into_other_sound_and_real_time() -> None:
    result = compare([played(350, 300, replayed_ms=320, shifted_ms=290)])
    assert (result["path_ms_p50"], result["real_time_ms_p50"], result["frames_ms_p50"]) == (20, 30, -10)


def test_what_only_one_side_missed_or_cut_in_is_counted_and_not_compared() -> None:
    pairs = [played(350, 300), played(None, 300), played(350, None), played(9, 300, (True, False))]
    result = compare([*pairs, played(350, 300, (True, True))])
    assert result["compared"] == 2
    assert [result[f"missed_by_{side}"] for side in ("page", "listen")] == [1, 1]
    assert [result[f"cut_in_by_{side}"] for side in ("page", "listen")] == [1, 0]


def test_the_panels_number_may_be_off_by_30_ms_either_way() -> None:
    within = [compare([played(350, 300, panel_ms=panel_ms)])["within_budget"] for panel_ms in (331, 389, 329, 391)]
    assert [one["panel_off_ms_p50"] for one in within] == [True, True, False, False]


def test_the_report_marks_what_was_missed_and_shows_what_is_unknown_as_a_dash() -> None:
    runs = [compare([played(450, 300)]), compare([played(350, 300)])]
    rows = {what: cells for what, *cells in report({"transports": runs})}
    assert rows["end of the turn: how much later the page is than `listen`"] == [
        "150 ms (missed)",
        "150 ms",
        "50 ms",
        "50 ms",
    ]
    assert rows["microphone → server"] == ["-", "-", "-", "-"]
    assert rows["cut-ins of only the page, or only listen"] == ["0", "0", "0", "0"]
