"""The fairness law: how it is judged, and a short run on real sockets."""

from __future__ import annotations

import asyncio

import pytest

from duologue.lab.torture.hostile_run import ALL, HostilePhase, HostilePlan, as_json, hostile_rows, judge, run_hostile

QUIET = HostilePhase("quiet", tuple(("type", ms) for ms in range(1, 101)), (), 80)


def phase(*answer_ms: int, refused: tuple[str, ...] = (), memory_mb: int = 100) -> HostilePhase:
    return HostilePhase("type much", tuple(("type", ms) for ms in answer_ms), refused, memory_mb)


def test_the_95th_of_a_hundred_answers_counts() -> None:
    assert QUIET.p95_ms == 96


def test_answers_within_twice_the_quiet_time_and_200_ms_are_fair() -> None:
    assert not judge(QUIET, phase(392)).why
    assert judge(QUIET, phase(393)).why == "p95 of the answers is 393 ms, but at most 392 ms are allowed"


def test_each_part_of_the_law_can_be_broken() -> None:
    assert judge(QUIET, phase()).why == "no answer came"
    assert judge(QUIET, phase(1, memory_mb=1_081)).why == "the server uses 1081 MB, but at most 1080 MB are allowed"
    assert judge(QUIET, phase(1, refused=("caller 3",))).why == "1 honest callers were refused, first: caller 3"


def test_the_result_is_a_table_and_data() -> None:
    judged = [judge(QUIET, QUIET), judge(QUIET, phase(500))]
    assert hostile_rows(judged)[0] == ("quiet", "100", "96", "", "80", "", "0")
    assert hostile_rows(judged)[1] == ("type much", "1", "500", "392", "100", "1080", "0")
    assert not as_json(judged)["holds"]


@pytest.mark.alone
@pytest.mark.graveyard(25)
def test_honest_callers_are_answered_beside_hostile_ones() -> None:
    """How fast is left to `duologue torture --hostile`: a short run on a busy machine says nothing about that."""
    judged = asyncio.run(run_hostile(HostilePlan(seconds=9.0, kinds=("stream sound", ALL))))
    assert [one.phase.kind for one in judged] == ["quiet", "stream sound", ALL]
    broken = [why for one in judged for why in one.why.split("; ") if why and not why.startswith("p95 ")]
    assert not broken
