"""The fairness law, and that nothing honest can be lost, refused or slowed down without being noticed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from duologue.lab.torture.hostile_clients import ABUSES
from duologue.lab.torture.hostile_verdict import (
    ALL,
    COLUMNS,
    QUIET_P95_MS_MAX,
    HostilePhase,
    as_json,
    hostile_rows,
    judge,
    p95,
)

ANSWERS: dict[int, tuple[int, ...]] = dict.fromkeys(range(8), (1,) * 9)
QUIET = HostilePhase(
    "quiet",
    tuple(("type", ms) for ms in range(1, 101)),
    (),
    80,
    turn_ms=tuple(range(101, 201)),
    start_ms=(20, 40),
    by_caller=ANSWERS,
)


def phase(*answer_ms: int, **changes: Any) -> HostilePhase:
    made = HostilePhase(
        "type much",
        tuple(("type", ms) for ms in answer_ms),
        (),
        100,
        turn_ms=(150,),
        start_ms=(30,),
        by_caller=ANSWERS,
        reached={"type much": 7},
    )
    return replace(made, **changes)


def test_the_95th_of_a_hundred_answers_counts() -> None:
    assert QUIET.p95_ms == 96
    assert p95(()) == 0


def test_answers_within_twice_the_quiet_time_and_200_ms_are_fair() -> None:
    assert not judge(QUIET, phase(392)).why
    assert judge(QUIET, phase(393)).why == "p95 of the answers is 393 ms, but at most 392 ms are allowed"


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (phase(), "no answer came"),
        (phase(1, memory_mb=1_081), "the server uses 1081 MB, but at most 1080 MB are allowed"),
        (phase(1, refused=("caller 3",)), "honest callers were refused 1 times, first: caller 3"),
        (phase(1, turn_ms=(593,)), "p95 of the whole turns is 593 ms, but at most 592 ms are allowed"),
        (phase(1, start_ms=(281,)), "p95 of the starts is 281 ms, but at most 280 ms are allowed"),
        (
            phase(1, by_caller={**ANSWERS, 5: (1, 1)}),
            "few answers: honest caller 5 got 2, and 9 without hostile clients",
        ),
        (phase(1, reached={}), "the hostile clients did nothing that reached the server: type much"),
        (phase(1, reached={"type often": 9}), "the hostile clients did nothing that reached the server: type much"),
    ],
)
def test_each_part_of_the_law_can_be_broken(found: HostilePhase, why: str) -> None:
    assert judge(QUIET, found).why == why


def test_a_caller_without_a_single_answer_is_noticed_although_the_others_are_served() -> None:
    answers = dict.fromkeys(range(7), (1,) * 9)
    assert judge(QUIET, phase(1, by_caller=answers)).why.startswith("few answers: honest caller 7 got 0")


def test_a_caller_whose_answers_are_slow_is_noticed_although_it_has_few_of_all_answers() -> None:
    slow = (2, 400, 9_000)
    found = phase(*[1] * 60, *slow, by_caller={**ANSWERS, 3: slow})
    assert found.p95_ms <= 2
    assert judge(QUIET, found).why == "half of the answers to honest caller 3 take 400 ms or more"
    assert not judge(QUIET, replace(found, by_caller={**ANSWERS, 3: (2, 2, 9_000)})).why


def test_with_all_kinds_of_abuse_each_kind_must_have_reached_the_server() -> None:
    reached = dict.fromkeys(ABUSES, 3)
    assert not judge(QUIET, phase(1, kind=ALL, reached=reached)).why
    why = judge(QUIET, phase(1, kind=ALL, reached={**reached, "ask for replays": 0})).why
    assert why == "the hostile clients did nothing that reached the server: ask for replays"


@pytest.mark.parametrize("what", ["answer_ms", "turn_ms", "start_ms"])
def test_a_quiet_phase_that_is_slow_itself_allows_nothing(what: str) -> None:
    slow_ms: Any = ("type", QUIET_P95_MS_MAX + 1) if what == "answer_ms" else QUIET_P95_MS_MAX + 1
    changed: dict[str, Any] = {what: (slow_ms,)}
    slow = replace(QUIET, **changed)
    assert judge(slow, slow).why.startswith("p95 without hostile clients is 1501 ms: this machine is too busy")
    assert not judge(QUIET, QUIET).why


@pytest.mark.parametrize(("missing", "what"), [({"start_ms": ()}, "starts"), ({"turn_ms": ()}, "turns")])
def test_what_was_not_measured_without_hostile_clients_is_not_taken_as_fair(missing: Any, what: str) -> None:
    why = judge(replace(QUIET, **missing), phase(1)).why
    assert why.startswith(f"{what} can't be compared, because there were none without hostile clients")


def test_a_quiet_phase_without_answers_is_no_measurement() -> None:
    empty = replace(QUIET, answer_ms=(), turn_ms=(), start_ms=(), by_caller={})
    assert judge(empty, empty).why == "no answer came"


def test_the_result_is_a_table_and_data() -> None:
    judged = [judge(QUIET, QUIET), judge(QUIET, phase(500))]
    rows = hostile_rows(judged)
    assert rows[0] == ("quiet", "100", "96", "", "196", "", "40", "", "80", "", "0", "")
    assert rows[1] == ("type much", "1", "500", "392", "150", "592", "30", "280", "100", "1080", "0", "7")
    assert {len(row) for row in rows} == {len(COLUMNS)}
    assert not as_json(judged)["holds"]
    assert as_json(judged)["phases"][1]["hostile_acts"] == {"type much": 7}
