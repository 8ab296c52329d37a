"""Rows: one region each, sources that may be many leaves, and names for diagrams and logs."""

from __future__ import annotations

import pytest

from duologue.core.events import Event, PlaybackFailed
from duologue.core.leaves import FROZEN, SOUNDING, Timer, Voice
from duologue.core.machine import ROWS
from duologue.core.rows import row
from duologue.core.state import State


@pytest.mark.req("C-PAT-001")
def test_a_row_stands_in_one_region_and_may_hold_for_many_leaves_of_it() -> None:
    assert all(len({type(leaf) for leaf in each.sources}) == 1 for each in ROWS)
    assert any(set(each.sources) >= set(FROZEN) for each in ROWS)
    assert any(set(each.sources) >= set(SOUNDING) for each in ROWS)


def test_a_row_is_named_by_its_region_sources_triggers_guard_and_target() -> None:
    def is_loud(s: State, e: Event) -> bool:
        return True

    stop = row((Voice.PLAYING, Voice.HELD), (PlaybackFailed, Timer.STALL), Voice.SILENT, when=is_loud)
    assert stop.name == "voice: playing/held + PlaybackFailed/timer:stall [is_loud] -> silent"
    assert row(Voice.PLAYING, PlaybackFailed, None).name == "voice: playing + PlaybackFailed -> same"


def test_no_two_rows_have_the_same_name() -> None:
    names = [each.name for each in ROWS]
    assert len(set(names)) == len(names)


def test_single_sources_and_triggers_need_no_tuple() -> None:
    plain = row(Voice.HELD, Timer.LULL, Voice.PLAYING)
    assert (plain.sources, plain.on) == ((Voice.HELD,), (Timer.LULL,))
