"""A pull in the background: it blocks no caller, raises nothing, and says how far it is."""

from __future__ import annotations

import threading

import pytest

from duologue.models.background import BackgroundPull, PullState, PullStatus
from duologue.models.failure import NoNetwork
from duologue.models.pull import Progress, Pulled, PullStage

LONG_S = 20  # nothing here takes that long


class Puller:
    """Pulls when it may."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure
        self.began, self.may = threading.Event(), threading.Event()
        self.calls = 0

    def __call__(self, names: list[str], progress: Progress) -> list[Pulled]:
        self.calls += 1
        progress(f"package of {names[0]}", PullStage.FETCHING, 30, 120)
        self.began.set()
        assert self.may.wait(LONG_S)
        if self.failure is not None:
            raise self.failure
        return []


def test_a_pull_tells_how_far_it_is_and_calls_when_it_is_ready() -> None:
    puller, ready = Puller(), threading.Event()
    pulling = BackgroundPull("a-model", ready.set, puller)
    assert pulling.status == PullStatus()
    pulling.start()
    assert puller.began.wait(LONG_S)
    assert pulling.status == PullStatus(PullState.PULLING, "package of a-model", PullStage.FETCHING, 25)
    assert str(pulling.status) == "fetching package of a-model, 25 %"
    assert not ready.is_set()
    puller.may.set()
    assert pulling.wait(LONG_S).state is PullState.READY
    assert ready.is_set()


def test_it_pulls_once() -> None:
    puller = Puller()
    puller.may.set()
    pulling = BackgroundPull("a-model", lambda: None, puller)
    for _ in range(3):
        pulling.start()
        pulling.wait(LONG_S)
    assert puller.calls == 1


@pytest.mark.parametrize(
    ("failure", "line"),
    [
        (NoNetwork("the npm registry can't be reached"), "the npm registry can't be reached"),
        (OSError("x"), "OSError: x"),
    ],
)
def test_a_failure_is_a_status_in_one_line(failure: Exception, line: str) -> None:
    puller, ready = Puller(failure), threading.Event()
    puller.may.set()
    pulling = BackgroundPull("a-model", ready.set, puller)
    pulling.start()
    assert pulling.wait(LONG_S) == PullStatus(PullState.FAILED, "a-model", problem=line)
    assert str(pulling.status) == line
    assert not ready.is_set()


def test_without_a_start_there_is_nothing_to_wait_for() -> None:
    assert BackgroundPull("a-model", lambda: None, Puller()).wait(LONG_S).state is PullState.IDLE
