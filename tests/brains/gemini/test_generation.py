"""The machine of answers, explored: every state, every step."""

from __future__ import annotations

from itertools import product

from duologue.brains.gemini.generation import ROWS, AnswerStage, AnswerStep, Delivery, Generation, step

SERVER = tuple(one for one in AnswerStep if one not in (AnswerStep.REQUEST, AnswerStep.GIVE_UP))
ENDS = (AnswerStep.GENERATED, AnswerStep.INTERRUPTED, AnswerStep.TURN_ENDED)


def after(*steps: AnswerStep) -> tuple[Generation, list[Delivery]]:
    state, found = Generation(), []
    for one in steps:
        state, delivery = step(state, one)
        found.append(delivery)
    return state, found


def reachable() -> set[Generation]:
    found, left = {Generation()}, [Generation()]
    while left:
        state = left.pop()
        for one in AnswerStep:
            nxt, _ = step(state, one)
            if nxt not in found:
                found.add(nxt)
                left.append(nxt)
    return found


def test_every_step_has_a_row_in_every_stage() -> None:
    assert set(ROWS) == set(product(AnswerStage, AnswerStep))
    assert len(reachable()) == 7, "every stage with and without a tail, but an answer that has begun has none"


def test_nothing_is_delivered_that_was_not_requested() -> None:
    for state in reachable():
        for one in SERVER:
            _, delivery = step(state, one)
            if state.stage in (AnswerStage.FREE, AnswerStage.STOPPING):
                assert delivery is Delivery.DROP, (state, one)


def test_an_answer_that_was_given_up_delivers_nothing_until_the_next_request() -> None:
    for state in reachable():
        state, _ = step(state, AnswerStep.GIVE_UP)
        for steps in product(SERVER, repeat=3):
            now = state
            for one in steps:
                now, delivery = step(now, one)
                assert delivery is Delivery.DROP


def test_two_ends_of_turns_free_the_server_from_every_state() -> None:
    for state in reachable():
        state, _ = step(step(state, AnswerStep.TURN_ENDED)[0], AnswerStep.TURN_ENDED)
        assert state == Generation()


def test_a_whole_turn() -> None:
    steps = (AnswerStep.REQUEST, AnswerStep.PART, AnswerStep.PART, AnswerStep.GENERATED, AnswerStep.TURN_ENDED)
    state, found = after(*steps)
    assert found[1:] == [Delivery.DELIVER, Delivery.DELIVER, Delivery.END, Delivery.DROP]
    assert state == Generation()


def test_the_late_end_of_a_turn_does_not_end_the_next_answer() -> None:
    first = (AnswerStep.REQUEST, AnswerStep.PART, AnswerStep.GENERATED)
    for late in ENDS:
        state, found = after(*first, AnswerStep.REQUEST, late)
        assert found[-1] is Delivery.DROP, late
        assert state.stage is AnswerStage.ASKED
        assert step(state, AnswerStep.PART)[1] is Delivery.DELIVER


def test_an_interruption_before_the_first_part_is_about_the_turn_before() -> None:
    """A server that assumes that its sound still plays tells of its interruption after the end of its turn."""
    state, found = after(AnswerStep.REQUEST, AnswerStep.INTERRUPTED, AnswerStep.TURN_ENDED, AnswerStep.PART)
    assert found[1:] == [Delivery.DROP, Delivery.DROP, Delivery.DELIVER]
    assert state.stage is AnswerStage.ANSWERING


def test_an_empty_turn_ends_its_answer() -> None:
    assert after(AnswerStep.REQUEST, AnswerStep.TURN_ENDED)[1][-1] is Delivery.END


def test_calls_end_an_answer_and_what_follows_belongs_to_the_responses() -> None:
    state, found = after(AnswerStep.REQUEST, AnswerStep.CALLS, AnswerStep.REQUEST, AnswerStep.TURN_ENDED)
    assert found[1] is Delivery.DELIVER_AND_END
    assert (state.stage, found[-1]) == (AnswerStage.ASKED, Delivery.DROP), "some servers end the turn of a call"
    assert step(state, AnswerStep.PART)[1] is Delivery.DELIVER
