"""Which processes run: rows of inputs, and every order of inputs for two processes."""

from __future__ import annotations

from collections import deque

import pytest

from duologue.server.processes.supervision import (
    ALIVE,
    SILENT_TICKS_MAX,
    STABLE_MS,
    WAIT_MS_MAX,
    Announce,
    Finish,
    KillProcess,
    ProcessEnded,
    ProcessHeard,
    ProcessLeft,
    ProcessReady,
    ProcessStage,
    ReportEnd,
    ReportHang,
    ServerBegan,
    StartProcess,
    StopAsked,
    StopProcess,
    Supervision,
    SupervisionInput,
    SupervisionIntent,
    Ticked,
    step,
    supervise,
    wait_ms,
)


def after(count: int, *inputs: SupervisionInput) -> tuple[Supervision, list[tuple[SupervisionIntent, ...]]]:
    """The state after these inputs, and the intents of each."""
    state, intents = supervise(count), []
    for given in inputs:
        state, made = step(state, given)
        intents.append(made)
    return state, intents


UP = (ServerBegan(), ProcessReady(0, 0), ProcessReady(1, 0))


def test_the_first_process_starts_alone_and_the_others_when_it_is_ready() -> None:
    state, intents = after(3, ServerBegan(), ProcessReady(0, 5), ProcessReady(2, 9))
    assert intents == [(StartProcess(0),), (Announce(), StartProcess(1), StartProcess(2)), ()]
    assert state.ready == (0, 2)


@pytest.mark.parametrize(("code", "exit_code"), [(1, 1), (3, 3), (0, 1), (-9, 1)])
def test_an_agent_that_cannot_be_served_ends_the_server(code: int, exit_code: int) -> None:
    _, intents = after(2, ServerBegan(), ProcessEnded(0, code, 50))
    assert intents[-1] == (Finish(exit_code),)


def test_a_process_that_dies_is_replaced_at_once() -> None:
    state, intents = after(2, *UP, ProcessEnded(1, -9, 100))
    assert intents[-1] == (ReportEnd(1, -9, 0), StartProcess(1))
    assert state.ready == (0,)
    assert state.processes[1].stage is ProcessStage.STARTING


@pytest.mark.parametrize(
    ("failures", "wait"), [(0, 0), (1, 0), (2, 1_000), (3, 2_000), (4, 4_000), (6, 16_000), (7, 30_000), (99, 30_000)]
)
def test_each_failure_in_a_row_costs_a_longer_wait(failures: int, wait: int) -> None:
    assert wait_ms(failures) == wait <= WAIT_MS_MAX


def test_a_process_that_dies_again_and_again_rests_and_is_started_by_a_tick() -> None:
    state, intents = after(2, *UP, ProcessEnded(1, 1, 100), ProcessEnded(1, 1, 200))
    assert intents[-1] == (ReportEnd(1, 1, 1_000),)
    assert step(state, Ticked(1_199))[1] == ()
    assert step(state, Ticked(1_200))[1] == (StartProcess(1),)


def test_a_process_that_has_served_for_long_is_forgiven() -> None:
    died = (ProcessEnded(1, 1, 100), ProcessEnded(1, 1, 200), Ticked(1_200))
    state, _ = after(2, *UP, *died, ProcessReady(1, 2_000))
    assert step(state, ProcessEnded(1, 1, 2_000 + STABLE_MS - 1))[1][0] == ReportEnd(1, 1, 2_000)
    assert step(state, ProcessEnded(1, 1, 2_000 + STABLE_MS))[1] == (ReportEnd(1, 1, 0), StartProcess(1))


def test_a_process_that_was_told_to_stop_by_itself_is_replaced_without_a_failure() -> None:
    state, intents = after(2, *UP, ProcessLeft(1), ProcessEnded(1, 0, 100))
    assert intents[-1] == (ReportEnd(1, 0, 0), StartProcess(1))
    assert state.processes[1].failures == 0
    assert after(2, *UP, ProcessLeft(1))[0].ready == (0,)


def test_a_process_that_says_nothing_is_killed_once_and_one_that_says_something_is_not() -> None:
    state, _ = after(2, *UP)
    killed = []
    for at in range(SILENT_TICKS_MAX + 3):
        state, _ = step(state, ProcessHeard(0))
        state, intents = step(state, Ticked(at))
        killed += intents
    assert killed == [ReportHang(1), KillProcess(1)]


def test_a_process_that_still_loads_may_be_silent() -> None:
    state, _ = after(2, ServerBegan(), *(Ticked(at) for at in range(100)))
    assert state.processes[0].stage is ProcessStage.STARTING


def test_stopping_lets_conversations_end_and_kills_what_has_none() -> None:
    state, intents = after(3, ServerBegan(), ProcessReady(0, 0), ProcessReady(1, 0), StopAsked())
    assert intents[-1] == (StopProcess(0), StopProcess(1), KillProcess(2))
    state, intents = step(state, ProcessEnded(2, -9, 10))
    assert intents == ()
    state, intents = step(state, ProcessEnded(0, 0, 11))
    assert intents == ()
    assert step(state, ProcessEnded(1, 0, 12))[1] == (Finish(0),)


def test_a_second_signal_kills() -> None:
    state, intents = after(2, *UP, StopAsked(), StopAsked())
    assert intents[-1] == (KillProcess(0), KillProcess(1))
    state, _ = step(state, ProcessEnded(0, -9, 10))
    assert step(state, ProcessEnded(1, -9, 10))[1] == (Finish(1),)


def test_a_resting_process_does_not_delay_the_end() -> None:
    died = (ProcessEnded(1, 1, 100), ProcessEnded(1, 1, 200))
    state, _ = after(2, *UP, *died, ProcessEnded(0, 1, 200), ProcessEnded(0, 1, 300))
    assert all(one.stage is ProcessStage.RESTING for one in state.processes)
    assert step(state, StopAsked())[1] == (Finish(0),)


def test_in_every_order_a_process_runs_once_and_the_server_can_always_be_stopped() -> None:
    """All states of two processes that inputs at one moment can lead to."""
    inputs: list[SupervisionInput] = [Ticked(40_000), StopAsked()]
    for process in (0, 1):
        inputs += [ProcessReady(process, 0), ProcessHeard(process), ProcessLeft(process)]
        inputs += [ProcessEnded(process, 0, 0), ProcessEnded(process, 1, 0)]
    first, _ = step(supervise(2), ServerBegan())
    seen, waiting = {first}, deque([first])
    while waiting:
        state = waiting.popleft()
        for given in inputs:
            made, intents = step(state, given)
            started = [intent.process for intent in intents if isinstance(intent, StartProcess)]
            is_end = isinstance(given, ProcessEnded)
            for process in started:
                was_alive = state.processes[process].stage in ALIVE
                assert not was_alive or (is_end and given.process == process)
                assert not state.stops
            assert not any(isinstance(intent, Announce) for intent in intents) or not state.is_announced
            assert_ends(made)
            is_small = all(one.failures <= 2 and one.silent_ticks <= 1 for one in made.processes) and made.stops <= 2
            if is_small and made not in seen:
                seen.add(made)
                waiting.append(made)
    assert len(seen) > 1_000


def assert_ends(state: Supervision) -> None:
    """Asked to stop, and with every process that is then killed or stopped gone, the server finishes."""
    state, intents = step(state, StopAsked())
    finished = [intent for intent in intents if isinstance(intent, Finish)]
    for process, one in enumerate(state.processes):
        if one.stage in ALIVE:
            told = [intent for intent in intents if isinstance(intent, KillProcess | StopProcess)]
            assert process in [intent.process for intent in told]
            state, more = step(state, ProcessEnded(process, 0, 0))
            finished += [intent for intent in more if isinstance(intent, Finish)]
    assert len(finished) == 1
