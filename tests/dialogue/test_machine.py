"""One step: rows, late answers, limits, and bugs that end in an error which users can leave."""

from __future__ import annotations

import pytest

from duologue.dialogue import draft, machine
from duologue.dialogue.commands import (
    StartFlow,
)
from duologue.dialogue.effects import Respond
from duologue.dialogue.events import ActionDone, UserMessage
from duologue.dialogue.machine import TEXT_MAX, guarded_step, step
from duologue.dialogue.matrix import MATRIX
from duologue.dialogue.state import MESSAGES_MAX, TRACE_MAX, DialogueState, Phase
from tests.dialogue.dialogue_flows import (
    TODAY,
    TRANSFER,
    Talker,
    at_amount,
    at_confirmation,
)


@pytest.mark.req("D-02")
def test_the_state_records_the_whole_dialogue() -> None:
    talker = Talker(TRANSFER).says("send some money").means(StartFlow("transfer")).says("Anna")
    state = talker.state
    assert [(one.role, one.content, one.timestamp) for one in state.messages] == [
        ("user", "send some money", 1_000),
        ("assistant", "To whom?", 2_000),
        ("user", "Anna", 3_000),
        ("assistant", "Which account?", 3_000),
    ]
    assert (state.current_flow, state.phase.value, talker.step) == ("transfer", "waiting_for_slot", "account")
    assert (state.waiting_for, state.turn_count, state.last_response) == ("account", 2, "Which account?")
    assert state.last_nlu_call == 1_000
    assert state.slots == {"to": "Anna"}
    assert {"flow_started", "slot_set", "transition"} <= {line.event for line in state.trace}
    assert dict(state.metadata)["today"] == TODAY
    filled = state.stack[-1].filled("to")
    assert filled is not None
    assert (filled.raw, filled.span, filled.source, filled.turn) == ("Anna", (0, 4), "grammar", 2)


@pytest.mark.graveyard(19)
def test_a_message_while_a_request_is_running_does_not_undo_a_step() -> None:
    talker = at_amount().says("fifty")
    request = talker.state.pending
    talker.says("wait")
    assert (talker.phase, talker.state.pending) == ("validating_slot", request)
    assert talker.valid(50).slots["amount"] == 50


@pytest.mark.graveyard(24)
def test_two_conversations_do_not_share_values() -> None:
    first, second = at_amount(), Talker(TRANSFER)
    second.says("help")
    assert first.slots == {"to": "Anna", "account": "AB12"}
    assert second.slots == {}
    assert "How much?" not in second.said


@pytest.mark.req("D-13")
def test_history_is_bounded() -> None:
    talker = at_amount()
    for _ in range(120):
        talker.says("help")
    assert (len(talker.state.messages), len(talker.state.trace)) == (MESSAGES_MAX, TRACE_MAX)


@pytest.mark.req("D-14")
def test_late_answers_change_nothing() -> None:
    talker = at_confirmation().says("yes")
    request, state = talker.state.pending, talker.fails().says("retry").state
    after, effects = step(TRANSFER, state, ActionDone(request, (("ref", "late"),), 0))
    assert after is state
    assert effects == ()
    assert isinstance(state, DialogueState)


YES = UserMessage("yes", 7, TODAY)
LACKS_A_MOVE = MATRIX - {(Phase.CONFIRMING, Phase.EXECUTING_ACTION)}


def words(effects: tuple[object, ...]) -> str:
    return " ".join(effect.text for effect in effects if isinstance(effect, Respond))


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that makes a move which its table lacks."""
    monkeypatch.setattr(draft, "MATRIX", LACKS_A_MOVE)


@pytest.mark.req("D-11", "D-12")
@pytest.mark.usefixtures("broken")
def test_a_move_that_the_table_lacks_is_an_error_with_recovery() -> None:
    # Past bug: AssertionError out of step, and the conversation was lost.
    state, effects = guarded_step(TRANSFER, at_confirmation().state, YES)
    assert state.phase is Phase.ERROR
    assert state.trouble is not None
    assert (state.trouble.type, state.trouble.recovery, state.trouble.at) == ("UnknownMove", Phase.CONFIRMING, 7)
    assert "confirming -> executing_action" in state.trouble.message
    assert words(effects) == "I encountered an error. Say retry to try again, or cancel."
    assert state.slots["amount"] == 50


@pytest.mark.req("D-11")
def test_after_a_bug_a_retry_returns_to_the_open_question(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(draft, "MATRIX", LACKS_A_MOVE)
        state, _ = guarded_step(TRANSFER, at_confirmation().state, YES)
    talker = Talker(TRANSFER, state).says("retry")
    assert (talker.phase, talker.said) == ("confirming", "Send 50 to Anna?")
    assert talker.says("yes").phase == "executing_action"


def test_a_bug_in_the_error_phase_ends_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(d: object, text: str) -> None:
        raise KeyError(text)

    before = at_amount().state
    monkeypatch.setattr(machine, "answer", raises)
    monkeypatch.setattr(machine, "answer_error", raises)
    state, _ = guarded_step(TRANSFER, before, YES)
    assert state.phase is Phase.ERROR
    state, effects = guarded_step(TRANSFER, state, UserMessage("cancel", 8, TODAY))
    assert (state.phase, state.stack, words(effects)) == (
        Phase.IDLE,
        (),
        "I'm sorry, I could not get that. Let's leave it here.",
    )
    assert state.slots["to"] == "Anna"


def test_a_queued_message_that_caused_a_bug_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(d: object, text: str) -> None:
        raise KeyError(text)

    monkeypatch.setattr(machine, "handle_queued_message", raises)
    talker = at_amount().says("fifty").says("and then")
    event = machine.Validated(talker.state.pending, 50, 9)
    state, _ = guarded_step(TRANSFER, talker.state, event)
    assert (state.phase, state.queue) == (Phase.ERROR, ())
    assert guarded_step(TRANSFER, state, UserMessage("retry", 10, TODAY))[0].phase is Phase.VALIDATING_SLOT


def test_retrying_with_nothing_open_gets_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(draft, "MATRIX", MATRIX - {(Phase.IDLE, Phase.UNDERSTANDING)})
        state, _ = guarded_step(TRANSFER, DialogueState(), UserMessage("hello", 1, TODAY))
    talker = Talker(TRANSFER, state).says("retry")
    assert talker.phase == "idle"
    assert talker.said


BAD = ("", "   \n\t", "x" * 100_000, "fifty " * 20_000, "\x00\xff\x1b[2J\x07", "東京へ fünf مرحبا пять 🎉", "\ud800")


@pytest.mark.parametrize("text", BAD, ids=["empty", "blank", "huge", "many", "binary", "mixed", "surrogate"])
@pytest.mark.parametrize("begin", [lambda: Talker(TRANSFER), at_amount, at_confirmation], ids=["rest", "slot", "yes"])
def test_bad_messages_harm_nothing(text: str, begin: type[Talker]) -> None:
    talker = begin()
    before = talker.slots
    talker.says(text)
    assert talker.slots == before
    assert talker.said or talker.asked_nlu
    assert all(len(one.content) <= TEXT_MAX for one in talker.state.messages)
    assert len(talker.state.heard) <= TEXT_MAX


def test_the_queue_is_bounded() -> None:
    talker = at_amount().says("fifty").says(*(f"and {count}" for count in range(30)))
    assert len(talker.state.queue) == TRANSFER.queue_max
