"""Every state that a telephone call can reach, explored: it never gets stuck, and what is late changes nothing."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import pytest

from duologue.lines.phone.call import effects as do
from duologue.lines.phone.call import inputs as on
from duologue.lines.phone.call.machine import MACHINE, step
from duologue.lines.phone.call.rows import CALL_ROWS, CallRow
from duologue.lines.phone.call.state import Answerer, CallEnd, CallPolicy, CallStage, CallState, OnMachine

AT = 1_000  # a deadline is compared with the time only, so one moment is enough
LATER = 10**9
REQUESTS_MAX = 4
AT_REST = (CallStage.NEW, CallStage.TALKING, CallStage.ENDED)
POLICIES = [CallPolicy(on_machine=kind) for kind in OnMachine]


class Explored(NamedTuple):
    """One step of the machine."""

    policy: CallPolicy
    before: CallState
    given: on.CallInput
    after: CallState
    effects: tuple[do.CallEffect, ...]


def alphabet(s: CallState) -> list[on.CallInput]:
    """Every input, with current and with old numbers."""
    fixed: list[on.CallInput] = [
        on.CallArrived(AT),
        on.DialAsked(AT),
        on.RingingReported(AT),
        on.Answered(AT),
        *(on.NotReached(AT, why) for why in (CallEnd.BUSY, CallEnd.NO_ANSWER, CallEnd.FAILED)),
        on.GreetingBegan(AT),
        on.GreetingPaused(AT),
        on.PersonHeard(AT),
        on.PersonSpoke(AT),
        on.MachineHeard(AT),
        on.BeepHeard(AT),
        on.FaxHeard(AT),
        on.AnswererUnknown(AT),
        on.MessageFailed(AT),
        on.CallHoldAsked(AT),
        on.CallResumeAsked(AT),
        on.StreamClosed(AT),
        on.TalkEnded(AT),
        on.DeadlineReached(AT),
        on.DeadlineReached(LATER),
    ]
    if s.request < REQUESTS_MAX:
        fixed += [on.TransferAsked(AT, warm=False), on.TransferAsked(AT, warm=True)]
    for number in range(s.request + 1):
        fixed += [on.CarrierAgreed(AT, number), on.CarrierRefused(AT, number)]
        fixed += [
            on.TakerAnswered(AT, number),
            on.TakerAccepted(AT, number),
            on.TakerLost(AT, number, CallEnd.BUSY),
        ]
    return fixed


def explore() -> list[Explored]:
    steps = []
    for policy in POLICIES:
        seen, queue = {CallState()}, deque([CallState()])
        while queue:
            state = queue.popleft()
            for given in alphabet(state):
                after, effects = step(policy, state, given)
                steps.append(Explored(policy, state, given, after, effects))
                if after not in seen:
                    seen.add(after)
                    queue.append(after)
    return steps


STEPS = explore()
STATES = sorted({(POLICIES.index(one.policy), one.after) for one in STEPS}, key=repr)


def count(one: Explored, *kinds: type) -> int:
    return sum(isinstance(effect, kinds) for effect in one.effects)


def test_every_row_is_used() -> None:
    used = {MACHINE.row_for(one.policy, one.before, one.given) for one in STEPS}
    assert [row.name for row in CALL_ROWS if row not in used] == []


def test_every_stage_that_waits_has_a_deadline_and_no_other_has_one() -> None:
    for _, state in STATES:
        assert (state.due == 0) == (state.stage in AT_REST), state


def test_left_alone_a_call_comes_to_rest() -> None:
    for number, first in STATES:
        state, steps = first, 0
        while state.stage not in AT_REST:
            state, _ = step(POLICIES[number], state, on.DeadlineReached(max(state.due, LATER)))
            steps += 1
            assert steps <= 4, first


def test_a_stream_that_ends_ends_the_call_at_the_latest_when_the_carrier_has_answered() -> None:
    for number, state in STATES:
        after, _ = step(POLICIES[number], state, on.StreamClosed(AT))
        if after.stage is CallStage.LEAVING:
            after, _ = step(POLICIES[number], after, on.DeadlineReached(LATER))
        assert after.stage in (CallStage.ENDED, CallStage.NEW, CallStage.DIALLING, CallStage.RINGING), state


def test_an_agent_that_ends_its_conversation_ends_the_call() -> None:
    for number, state in STATES:
        after, _ = step(POLICIES[number], state, on.TalkEnded(AT))
        assert after.stage in (CallStage.ENDED, CallStage.NEW, CallStage.LEAVING), state


def is_placed_late(one: Explored) -> bool:
    """Does the carrier say that it has placed a call that was given up meanwhile?"""
    is_answer = isinstance(one.given, on.CarrierAgreed) and 0 < one.given.request == one.before.request
    is_given_up = one.before.outcome in (CallEnd.CANCELLED, CallEnd.NO_ANSWER)
    return one.before.stage is CallStage.ENDED and is_answer and is_given_up


def test_a_call_that_the_carrier_places_after_it_was_given_up_is_ended_there_once() -> None:
    late = [one for one in STEPS if is_placed_late(one)]
    assert late
    for one in late:
        assert one.effects == (do.CancelCall(),)
        assert step(one.policy, one.after, one.given) == (one.after, ())


def test_an_ended_call_stays_as_it_is_and_is_told_once() -> None:
    for one in STEPS:
        if one.before.stage is CallStage.ENDED and not is_placed_late(one):
            assert (one.after, one.effects) == (one.before, ())
        ends = one.after.stage is CallStage.ENDED and one.before.stage is not CallStage.ENDED
        assert count(one, do.TellEnd) == int(ends), one
        assert (one.after.outcome is not CallEnd.NONE) == (one.after.stage is CallStage.ENDED)


def test_an_answer_to_an_older_request_changes_nothing() -> None:
    for one in STEPS:
        if isinstance(one.given, on.CarrierAgreed | on.CarrierRefused) and one.given.request != one.before.request:
            assert (one.after, one.effects) == (one.before, ())
        if isinstance(one.given, on.TakerAnswered | on.TakerAccepted | on.TakerLost) and (
            one.given.taker != one.before.taker or not one.before.taker
        ):
            assert (one.after, one.effects) == (one.before, ())


@pytest.mark.parametrize("kinds", [(do.StartMusic, do.StopMusic)], ids=["music"])
def test_music_starts_once_stops_once_and_never_plays_under_the_conversation(kinds: tuple[type, type]) -> None:
    start, stop = kinds
    for one in STEPS:
        assert count(one, start) == int(one.after.has_music and not one.before.has_music)
        if one.after.stage is CallStage.TALKING:
            assert not one.after.has_music
            assert count(one, stop) == int(one.before.has_music)


def test_the_call_to_the_person_who_takes_over_is_never_left_behind() -> None:
    for one in STEPS:
        if one.before.taker and not one.after.taker:
            is_joined = any(effect == do.TellTransfer(CallEnd.TRANSFERRED) for effect in one.effects)
            was_refused = isinstance(one.given, on.CarrierRefused) and one.before.stage is CallStage.CALLING_TAKER
            assert count(one, do.DropTaker) == int(not is_joined and not was_refused), one
        assert not (one.after.taker and one.after.stage in AT_REST), one


TRANSFERRING = (CallStage.PASSING_ON, CallStage.CALLING_TAKER, CallStage.BRIEFING, CallStage.JOINING, CallStage.LEAVING)


def test_the_program_is_told_once_how_its_transfer_ended() -> None:
    for one in STEPS:
        ended = one.before.stage in TRANSFERRING and one.after.stage not in TRANSFERRING
        assert count(one, do.TellTransfer) == int(ended), one


def test_a_call_that_the_other_side_or_the_carrier_ended_is_not_hung_up_again() -> None:
    for one in STEPS:
        if isinstance(one.given, on.StreamClosed | on.NotReached):
            assert not count(one, do.EndCall, do.CancelCall), one


def test_at_most_one_request_a_step_and_each_has_a_number_of_its_own() -> None:
    for one in STEPS:
        requests = count(one, do.PlaceCall, do.PassOn, do.CallTaker, do.JoinTaker)
        assert one.after.request == (0 if is_placed_late(one) else one.before.request + requests)
        assert requests <= 1


def stages(policy: CallPolicy, *given: on.CallInput) -> list[str]:
    state, seen = CallState(), [CallStage.NEW]
    for one in given:
        state, _ = step(policy, state, one)
        seen.append(state.stage)
    return [after.value for before, after in pairwise(seen) if after is not before]


MESSAGE = CallPolicy(on_machine=OnMachine.MESSAGE)
ANSWERED = (on.DialAsked(0), on.RingingReported(1), on.Answered(2))
RINGS = ["dialling", "ringing", "screening"]


@pytest.mark.parametrize(
    ("story", "wanted"),
    [
        ((on.MachineHeard(3), on.BeepHeard(4), on.TalkEnded(5)), ["machine", "message", "ended"]),
        ((on.BeepHeard(3), on.TalkEnded(4)), ["message", "ended"]),
        ((on.GreetingBegan(3), on.DeadlineReached(5_003)), ["greeting", "machine"]),
        ((on.GreetingBegan(3), on.GreetingPaused(600), on.DeadlineReached(1_600)), ["greeting", "greeted", "talking"]),
        (
            (on.GreetingBegan(3), on.GreetingPaused(600), on.MachineHeard(900), on.DeadlineReached(5_900)),
            ["greeting", "greeted", "machine silent", "message"],
        ),
        (
            (on.MachineHeard(3), on.GreetingPaused(4), on.GreetingBegan(5), on.DeadlineReached(60_003)),
            ["machine", "machine silent", "machine", "ended"],
        ),
        ((on.MachineHeard(3), on.PersonHeard(4)), ["machine", "talking"]),
        ((on.GreetingBegan(3), on.PersonSpoke(4)), ["greeting"]),
        ((on.MachineHeard(3), on.GreetingPaused(4), on.PersonSpoke(5)), ["machine", "machine silent", "talking"]),
        ((on.FaxHeard(3),), ["ended"]),
        ((on.AnswererUnknown(3),), ["talking"]),
        ((on.BeepHeard(3), on.MessageFailed(4)), ["message", "ended"]),
    ],
    ids=lambda given: " ".join(given if isinstance(given[0], str) else [type(one).__name__ for one in given]),
)
def test_a_person_a_machine_and_a_beep_are_told_apart(story: tuple[on.CallInput, ...], wanted: list[str]) -> None:
    assert stages(MESSAGE, *ANSWERED, *story) == [*RINGS, *wanted]


def test_sentences_with_short_pauses_count_as_one_greeting() -> None:
    story: list[on.CallInput] = [*ANSWERED]
    for at in range(100, 5_100, 1_000):
        story += [on.GreetingBegan(at), on.GreetingPaused(at + 700)]
    state = CallState()
    for given in (*story, on.GreetingBegan(5_100)):
        state, _ = step(MESSAGE, state, given)
    assert (state.stage, state.due) == (CallStage.GREETING, 5_100), "five seconds since the first word"


def test_a_call_that_talks_at_once_judges_nothing() -> None:
    assert stages(CallPolicy(), *ANSWERED, on.MachineHeard(3), on.BeepHeard(4)) == ["dialling", "ringing", "talking"]


SPOKEN_TO = (CallStage.TALKING, CallStage.MESSAGE)


def test_who_has_answered_is_known_as_far_as_it_was_heard() -> None:
    for one in STEPS:
        if isinstance(one.given, on.BeepHeard | on.FaxHeard) and one.after != one.before:
            assert one.after.answerer is Answerer.MACHINE
        if one.after.stage in (CallStage.MACHINE, CallStage.MACHINE_SILENT, CallStage.MESSAGE):
            assert one.after.answerer is Answerer.MACHINE, one
        if one.after.answerer is Answerer.MACHINE:
            assert one.after.stage not in (CallStage.TALKING, CallStage.HELD), "the agent doesn't talk to a machine"


def test_a_message_is_begun_once_and_never_with_a_conversation() -> None:
    for one in STEPS:
        assert count(one, do.StartTalk, do.StartMessage) <= 1
        if count(one, do.StartMessage):
            assert one.after.stage is CallStage.MESSAGE
            assert one.before.stage not in SPOKEN_TO
        if one.after.outcome is CallEnd.MESSAGE_LEFT and one.before.outcome is CallEnd.NONE:
            assert (one.before.stage, type(one.given)) == (CallStage.MESSAGE, on.TalkEnded)


def test_a_warm_transfer_that_no_person_takes_comes_back_to_the_agent() -> None:
    story = (on.CallArrived(0), on.TransferAsked(1, warm=True), on.TakerLost(2, 1, CallEnd.BUSY))
    assert stages(CallPolicy(), *story) == ["talking", "calling taker", "talking"]


def without(row: CallRow) -> CallState:
    """The state after a story in which this row is missing: the law about deadlines must see it."""
    machine = type(MACHINE)(one for one in CALL_ROWS if one is not row)
    state = CallState()
    for given in (on.CallArrived(0), on.CallHoldAsked(1), on.DeadlineReached(LATER)):
        state, _ = machine.step(CallPolicy(), state, given)
    return replace(state)


def test_a_missing_row_is_noticed() -> None:
    limit = next(row for row in CALL_ROWS if row.sources == (CallStage.HELD,) and row.on is on.DeadlineReached)
    assert without(limit).stage is CallStage.HELD, "without the row, the person would stay on hold"
