"""Can the person be heard? The fact as a table of every combination, and how the condition of the ears changes."""

from __future__ import annotations

import pytest

from duologue.observe.hearing_fact import (
    EarsCondition,
    EarsReport,
    HearingFact,
    HearingStatus,
    Microphone,
    ears_after,
    hearing_of,
)

E, H, M, R = EarsCondition, HearingStatus, Microphone, EarsReport

#             ears        on         opening    muted      broken     off
TABLE = {
    E.NONE: (H.NONE, H.NONE, H.NONE, H.NONE, H.NONE),
    E.LOADING: (H.LOADING, H.LOADING, H.MUTED, H.BROKEN, H.NONE),
    E.ON: (H.ON, H.LOADING, H.MUTED, H.BROKEN, H.NONE),
    E.BROKEN: (H.BROKEN, H.BROKEN, H.BROKEN, H.BROKEN, H.NONE),
}
MICROPHONES = (M.ON, M.OPENING, M.MUTED, M.BROKEN, M.OFF)


@pytest.mark.req("H-11.hearing")
@pytest.mark.parametrize("ears", EarsCondition)
@pytest.mark.parametrize("microphone", Microphone)
def test_ears_and_microphone_give_one_fact(ears: EarsCondition, microphone: Microphone) -> None:
    assert hearing_of(ears, microphone) is TABLE[ears][MICROPHONES.index(microphone)]


def test_a_muted_microphone_is_never_heard_whatever_the_ears_do() -> None:
    assert H.ON not in {hearing_of(ears, M.MUTED) for ears in EarsCondition}


@pytest.mark.parametrize(
    ("before", "report", "after"),
    [
        (E.LOADING, R.STARTED, E.ON),
        (E.LOADING, R.LOADS, E.LOADING),
        (E.LOADING, R.WORKED, E.ON),
        (E.LOADING, R.FAILED, E.BROKEN),
        (E.ON, R.STARTED, E.ON),
        (E.ON, R.LOADS, E.LOADING),
        (E.ON, R.WORKED, E.ON),
        (E.ON, R.FAILED, E.BROKEN),
        (E.BROKEN, R.STARTED, E.LOADING),
        (E.BROKEN, R.LOADS, E.LOADING),
        (E.BROKEN, R.WORKED, E.ON),
        (E.BROKEN, R.FAILED, E.BROKEN),
    ],
)
def test_ears_that_failed_are_on_again_only_after_they_worked(
    before: EarsCondition, report: EarsReport, after: EarsCondition
) -> None:
    assert ears_after(before, report) is after


@pytest.mark.parametrize("report", EarsReport)
def test_without_ears_no_report_changes_anything(report: EarsReport) -> None:
    assert ears_after(E.NONE, report) is E.NONE


def test_only_a_new_value_is_told() -> None:
    told: list[HearingStatus] = []
    fact = HearingFact(True, told.append)
    assert fact.value is H.LOADING
    fact.note_ears(R.STARTED)
    fact.note_ears(R.WORKED)
    fact.note_microphone(M.MUTED)
    fact.note_ears(R.WORKED)
    fact.note_microphone(M.ON)
    fact.note_ears(R.FAILED)
    assert told == [H.ON, H.MUTED, H.ON, H.BROKEN]


def test_an_agent_without_ears_hears_nothing_from_the_start() -> None:
    assert HearingFact(False, lambda hearing: hearing).value is H.NONE
