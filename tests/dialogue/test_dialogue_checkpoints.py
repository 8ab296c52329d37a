"""Checkpoints: what is written can be read, what can't be read is refused. And trouble: nothing is done twice."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest

from duologue.dialogue import codec
from duologue.dialogue.codec import VERSION, BadCheckpoint, from_json, to_json
from duologue.dialogue.commands import Affirm, ChitChat, ClearSlot, Help, Repeat, SetSlot, StartFlow
from duologue.dialogue.effects import Save, Understand
from duologue.dialogue.english import SlotKind
from duologue.dialogue.events import ActionDone
from duologue.dialogue.flow import Assign, Collect, Confirm, Domain, End, Jump, PerformAction, SayText, SlotSpec
from duologue.dialogue.machine import step
from duologue.dialogue.requests import request_of
from duologue.dialogue.state import MESSAGES_MAX, TRACE_MAX, DialogueState, Phase
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import (
    AMOUNT,
    COLOUR,
    OTHER,
    SIZE,
    TRANSFER,
    Talker,
    at_amount,
    at_confirmation,
    number,
    talk,
)

BUSY_TALKERS = {
    "understanding": lambda: at_amount().says(OTHER),
    "validating_slot": lambda: at_amount().says("fifty"),
    "executing_action": lambda: at_confirmation().says("yes"),
}


def written(state: DialogueState, about: Domain = TRANSFER) -> dict[str, Any]:
    return json.loads(json.dumps(to_json(about, state)))  # type: ignore[no-any-return]


@pytest.mark.req("D-13")
def test_a_whole_dialogue_survives_with_its_history() -> None:
    talker = at_confirmation().says("what are your hours?").means(StartFlow("hours")).says("yes").fails()
    again = from_json(TRANSFER, written(talker.state))
    assert again == talker.state
    assert again.messages
    assert again.trace
    assert again.trouble is not None


@pytest.mark.req("D-14")
@pytest.mark.parametrize("phase", BUSY_TALKERS)
def test_whoever_was_at_work_is_asked_for_the_same_again(phase: str) -> None:
    talker = BUSY_TALKERS[phase]()
    assert talker.phase == phase
    again = from_json(TRANSFER, written(talker.state))
    assert request_of(TRANSFER, again) == talker.effects[-1]


@pytest.mark.req("D-14")
def test_a_restored_dialogue_goes_on_at_its_step() -> None:
    first = at_amount()
    second = Talker(TRANSFER, from_json(TRANSFER, written(first.state))).says("fifty").valid(50)
    assert second.said == "Send 50 to Anna?"


@pytest.mark.req("D-13")
def test_a_flow_may_grow_between_two_calls() -> None:
    state = at_confirmation().state
    old = TRANSFER.flows["transfer"]
    grown = replace(old, program=(SayText("hello", "Hello."), *old.program))
    again = from_json(replace(TRANSFER, flows={**TRANSFER.flows, "transfer": grown}), written(state))
    assert again.stack[-1].at == state.stack[-1].at + 1


# -- What is refused


def refused(data: object, about: Domain = TRANSFER) -> str:
    with pytest.raises(BadCheckpoint) as problem:
        from_json(about, data)
    message = str(problem.value)
    assert "\n" not in message
    return message


@pytest.mark.req("D-13")
def test_a_checkpoint_of_a_newer_version_is_refused() -> None:
    assert "newer" in refused({**written(DialogueState()), "version": VERSION + 1})


@pytest.mark.req("D-13")
def test_a_checkpoint_that_is_too_old_is_refused_and_an_old_one_is_migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {**written(at_amount().state), "version": 0}
    assert "too old" in refused(data)
    monkeypatch.setattr(codec, "MIGRATIONS", {version: lambda old: old for version in range(VERSION)})
    assert from_json(TRANSFER, data) == at_amount().state


@pytest.mark.req("D-13")
def test_what_the_last_version_wrote_goes_on() -> None:
    data = written(at_confirmation().state)
    del data["is_aside"]  # it came with the third version
    again = from_json(TRANSFER, {**data, "version": 2})
    assert again == at_confirmation().state


@pytest.mark.parametrize("data", [None, 5, "{}", [], {}, {"version": "1"}, {"version": None}, {"version": 1.0}])
def test_what_is_no_checkpoint_is_refused(data: object) -> None:
    refused(data)


@pytest.mark.parametrize("key", [key for key in written(DialogueState()) if key != "version"])
def test_a_checkpoint_that_lacks_something_is_refused(key: str) -> None:
    data = written(at_confirmation().state)
    del data[key]
    refused(data)


@pytest.mark.parametrize("key", ["id", "flow", "at", "slots", "visited", "asked", "confirmed", "runs", "is_acting"])
def test_a_flow_that_lacks_something_is_refused(key: str) -> None:
    data = written(at_confirmation().state)
    del data["stack"][0][key]
    refused(data)


@pytest.mark.parametrize(
    ("key", "value"),
    [("phase", "asleep"), ("stack", {"a": 1}), ("stack", [5]), ("kept", []), ("values", [{}]), ("trouble", {})],
)
def test_a_damaged_checkpoint_is_refused(key: str, value: object) -> None:
    refused({**written(at_confirmation().state), key: value})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("misses", "many"),
        ("pending", None),
        ("requests", "3"),
        ("queue", "abc"),
        ("queue", [5]),
        ("waiting_for", 5),
        ("heard", None),
        ("turn_count", []),
        ("last_question", None),
    ],
)
def test_a_checkpoint_with_something_of_the_wrong_kind_is_refused(key: str, value: object) -> None:
    # Once: plain fields are taken as they are; the next step breaks, or a text becomes a queue of its letters.
    refused({**written(at_confirmation().state), key: value})


def test_a_version_that_is_no_number_is_refused() -> None:
    # Once: True is a whole number to Python, and passes for version 1.
    refused({**written(DialogueState()), "version": True})


def test_a_flow_that_is_gone_is_refused() -> None:
    without = replace(TRANSFER, flows={name: one for name, one in TRANSFER.flows.items() if name != "transfer"})
    assert "transfer" in refused(written(at_amount().state), without)


def test_a_step_that_is_gone_is_refused() -> None:
    old = TRANSFER.flows["transfer"]
    cut = replace(old, program=tuple(at for at in old.program if at.step != "amount"))
    message = refused(written(at_amount().state), replace(TRANSFER, flows={**TRANSFER.flows, "transfer": cut}))
    assert "amount" in message
    assert "transfer" in message


@pytest.mark.parametrize("what", ["waiting_for", "values", "asked", "needs"])
def test_a_slot_that_is_gone_is_refused(what: str) -> None:
    # Once: only flows and steps are looked up: the dialogue breaks with a KeyError at its next message.
    data = written(at_amount().says("fifty").state)
    if what == "waiting_for":
        data["waiting_for"] = "gone"
    elif what == "values":
        data["values"][0]["slot"] = "gone"
    else:
        data["stack"][0][what] = ["gone"]
    assert "gone" in refused(data)


def test_a_step_that_does_something_else_now_is_refused() -> None:
    # Once: an action that became words: whoever restores it meets an AssertionError in `request_of`.
    talker = talk(PerformAction("pay", "pay"))
    changed = domain(flow("task", SayText("pay", "Pay at the desk.")))
    data = written(talker.state, talker.domain)
    try:
        again = from_json(changed, data)
    except BadCheckpoint:
        return
    assert request_of(changed, again) is not None


@pytest.mark.parametrize("phase", ["understanding", "validating_slot", "executing_action"])
def test_a_busy_checkpoint_without_its_request_is_refused(phase: str) -> None:
    # Once: it is restored, waits for nobody, and hears nobody any more: every message is queued for ever.
    refused({**written(BUSY_TALKERS[phase]().state), "pending": 0})


def test_reading_a_checkpoint_does_not_change_it() -> None:
    data = written(at_confirmation().state)
    before = copy.deepcopy(data)
    from_json(TRANSFER, data)
    assert data == before


def test_a_checkpoint_is_plain_json() -> None:
    data = to_json(TRANSFER, at_confirmation().says("yes").fails().state)
    assert json.loads(json.dumps(data, allow_nan=False))["phase"] == Phase.ERROR.value
    assert data["stack"][0]["at"] == "send"


def test_needs_and_confirm_of_an_action_survive() -> None:
    talker = talk(Collect("n", "n"), PerformAction("pay", "pay"), slots=(number("n"), number("pin"))).says("two")
    asked = talker.done(needs=("pin",)).says("four").done(confirm="Really?")
    again = Talker(talker.domain, from_json(talker.domain, written(asked.state, talker.domain))).says("yes")
    assert again.runs[0].confirmed
    assert isinstance(talker.domain.flows["task"].program[-1], End)


# -- D-13, D-14: saved, and once


@pytest.mark.req("D-13")
def test_everything_is_saved_when_it_should_be() -> None:
    talker = at_confirmation()
    assert isinstance(talker.effects[0], Save)
    assert {"transition", "step", "response"} == set(talker.effects[0].reasons)
    talker.says("yes")
    assert isinstance(talker.effects[0], Save)
    assert {"before_action", "transition", "response", "step"} == set(talker.effects[0].reasons)


@pytest.mark.req("D-13")
def test_history_is_bounded() -> None:
    talker = at_amount()
    for _ in range(120):
        talker.says("help")
    assert (len(talker.state.messages), len(talker.state.trace)) == (MESSAGES_MAX, TRACE_MAX)


@pytest.mark.req("D-14")
def test_an_action_in_a_loop_is_confirmed_each_time() -> None:
    talker = talk(
        Collect("size", "size"),
        Confirm("sure", "Add it?"),
        PerformAction("add", "add", ("size",)),
        Assign("again", (("size", None),)),
        Jump("round", 0),
        slots=(SIZE,),
    )
    first = talker.says("small", "yes").runs[0].key
    assert talker.done().says("small").phase == "confirming"
    assert talker.says("yes").runs[0].key != first


RATED = (
    Collect("size", "size"),
    Collect("amount", "amount"),
    Confirm("sure", "Pay {amount}?"),
    PerformAction("pay", "pay"),
    Collect("colour", "colour"),
)


@pytest.mark.req("D-14")
@pytest.mark.parametrize("text", ["change the size to large", "go back"])
def test_an_action_never_runs_twice_for_one_yes(text: str) -> None:
    # Once: a correction of what the question didn't tell runs the action again without another yes.
    talker = talk(*RATED, slots=(SIZE, AMOUNT, COLOUR)).says("small", "two", "yes").done().says(text)
    assert not talker.runs


@pytest.mark.req("D-14")
@pytest.mark.parametrize("ask", [Confirm("sure", "Really?"), None])
def test_a_yes_said_before_the_question_is_no_yes_to_it(ask: Confirm | None) -> None:
    # Once: what is said while an action runs is taken as the answer to the question that comes after it.
    program = (
        (PerformAction("look", "look"), ask, PerformAction("pay", "pay")) if ask else (PerformAction("pay", "pay"),)
    )
    talker = talk(*program).says("yes").done(confirm="" if ask else "Really?")
    assert talker.phase == "confirming"


def test_a_yes_said_before_an_error_is_no_retry() -> None:
    # Once: "okay", said while the action ran, runs it again when it fails.
    assert talk(PerformAction("pay", "pay")).says("okay").fails().phase == "error"


def test_a_yes_is_only_to_what_is_asked() -> None:
    # Once: while a slot is asked for that the action needs, a yes confirms the action's own question.
    talker = (
        talk(PerformAction("pay", "pay"), slots=(number("pin"),))
        .done(needs=("pin",))
        .says("four")
        .done(confirm="Really?")
    )
    talker.says(OTHER).means(ClearSlot("pin")).says(OTHER).means(Affirm())
    assert talker.state.top is not None
    assert talker.state.top.confirmed == ()


@pytest.mark.req("D-14")
def test_late_answers_change_nothing() -> None:
    talker = at_confirmation().says("yes")
    request, state = talker.state.pending, talker.fails().says("retry").state
    after, effects = step(TRANSFER, state, ActionDone(request, (("ref", "late"),), 0))
    assert after is state
    assert effects == ()
    assert isinstance(state, DialogueState)


# -- D-11: trouble


@pytest.mark.req("D-11")
def test_an_error_tells_what_where_and_what_to_do() -> None:
    talker = at_confirmation().says("yes").fails("ConnectionError", "no line")
    trouble = talker.state.trouble
    assert trouble is not None
    assert (trouble.type, trouble.message, trouble.recovery.value) == ("ConnectionError", "no line", "executing_action")
    assert trouble.at == talker.now
    assert talker.said == "I encountered an error. Say retry to try again, or cancel."
    assert talker.says("help").said == "I encountered an error. Say retry to try again, or cancel."


@pytest.mark.req("D-11", "D-14")
def test_a_retry_runs_the_action_again_with_the_same_key() -> None:
    talker = at_confirmation().says("yes")
    key = talker.runs[0].key
    assert talker.fails().says("retry").runs[0].key == key
    assert talker.done(ref="R1").phase == "idle"


@pytest.mark.req("D-11")
def test_a_retry_understands_and_checks_again() -> None:
    talker = Talker(TRANSFER).says("send money").fails().says("try again")
    assert isinstance(talker.effects[-1], Understand)
    assert talker.effects[-1].text == "send money"
    assert at_amount().says("fifty").fails().says("retry").checks.value == 50


@pytest.mark.req("D-11")
def test_an_error_may_be_cancelled() -> None:
    assert at_confirmation().says("yes").fails().says("cancel").phase == "idle"


@pytest.mark.graveyard(24)
def test_a_failed_action_never_falls_through() -> None:
    talker = at_confirmation().says("yes").fails()
    assert (talker.phase, talker.step) == ("error", "send")
    assert "Done" not in talker.said
    led = talk(
        PerformAction("a", "a", on_failure=2), Jump("j", 3), SayText("sorry", "It failed."), SayText("bye", "Bye.")
    ).fails()
    assert led.said == "It failed. Bye."


@pytest.mark.parametrize("commands", [(), (ChitChat("Fine."),), (Help(),)])
def test_a_failed_action_is_tried_again_only_when_asked(commands: tuple[ChitChat | Help, ...]) -> None:
    # Once: whatever is said after an error runs the action again, even what nobody understood.
    talker = at_confirmation().says("yes").fails().says(OTHER).means(*commands)
    assert not talker.runs


def test_repeating_after_an_error_asks_for_no_yes() -> None:
    # Once: it rests in confirming with nothing to confirm; the next yes runs the action twice in one step.
    talker = at_confirmation().says("yes").fails().says("repeat")
    talker = talker.means(Repeat()) if talker.phase == "understanding" else talker
    assert (talker.phase, talker.runs) == ("error", [])


@pytest.mark.req("D-04", "D-11")
@pytest.mark.parametrize("text", ["fifty", "a person please"])
def test_a_plain_answer_or_command_after_an_error_of_nlu_needs_no_nlu(text: str) -> None:
    # Once: with NLU down nothing but retry and cancel works any more: answers and commands go to NLU, too.
    assert not at_amount().says("colourless green ideas").fails().says(text).asked_nlu


def test_a_correction_after_a_failure_is_another_run() -> None:
    # Once: the same key for other values: an idempotent service answers with what it did for the first ones.
    talker = talk(Collect("amount", "amount"), PerformAction("pay", "pay"), slots=(AMOUNT,)).says("two")
    key = talker.runs[0].key
    talker.fails().says("change the amount to five")
    assert talker.runs[0].slots == (("amount", 5),)
    assert talker.runs[0].key != key


@pytest.mark.req("D-11")
@pytest.mark.parametrize("text", ["go back", "change the amount to sixty"])
def test_trouble_is_over_when_the_dialogue_goes_on(text: str) -> None:
    # Once: `trouble` stays after going back, a correction, or a flow that NLU started or cancelled, even at rest.
    talker = talk(
        Collect("amount", "amount"), Confirm("sure", "{amount}?"), PerformAction("pay", "pay"), slots=(AMOUNT,)
    )
    talker.says("fifty", "yes").fails().says(text)
    assert talker.phase in ("waiting_for_slot", "confirming")
    assert talker.state.trouble is None


@pytest.mark.req("D-11")
@pytest.mark.parametrize("is_check", [True, False])
def test_repeating_after_another_error_asks_for_no_yes_either(is_check: bool) -> None:
    # Once: only a failed action was looked at: after a check that failed before anything was asked, and after a
    # flow that goes round, "repeat" rested in confirming with nothing to confirm; a yes then asked twice.
    if is_check:
        checked = replace(AMOUNT, validator="enough")
        talker = Talker(domain(flow("task", Collect("amount", "amount")), slots=(checked,))).says(OTHER)
        talker.means(StartFlow("task"), SetSlot("amount", 5)).fails()
    else:
        talker = talk(Jump("round", 0))
    assert talker.says("repeat").phase != "confirming"


def test_a_miss_in_an_error_is_not_told_at_the_next_question() -> None:
    # Once: "Sorry, I didn't get that. size?" after a retry that went well.
    talker = (
        talk(PerformAction("pay", "pay"), Collect("size", "size"), slots=(SIZE,))
        .fails()
        .says(OTHER)
        .means()
        .says("retry")
    )
    assert talker.done().said == "size?"


# -- Codes that are read back


CODE = SlotSpec("code", SlotKind.CODE, "Code?", reads_back=True)


def test_a_code_is_read_back_before_it_is_written() -> None:
    talker = talk(Collect("code", "code"), slots=(CODE,)).says("A B 1 2")
    assert talker.said == "I have A B 1, 2. Is that right?"
    assert "code" not in talker.slots
    assert Talker(talker.domain, talker.state).says("no").said == "Code?"
    assert talker.says("yes").slots["code"] == "AB12"


def test_a_code_is_repeated_and_still_waits_for_its_yes() -> None:
    # Once: "repeat" forgets the code; the yes that follows is not understood.
    talker = talk(Collect("code", "code"), slots=(CODE,)).says("A B 1 2", "repeat", "yes")
    assert talker.slots.get("code") == "AB12"


@pytest.mark.parametrize("then", ["no", "", "cancel"])
def test_a_corrected_code_at_a_confirmation_is_read_back_safely(then: str) -> None:
    # Once: AssertionError: waiting_for_slot -> confirming; with "" the yes is asked for while the code is still open.
    talker = talk(Collect("code", "code"), Confirm("sure", "Open {code}?"), slots=(CODE,)).says("A B 1 2", "yes")
    talker.says("change the code to X Y 3 4").says(then)
    assert not (talker.phase == "confirming" and talker.state.reading_back)


def corrected_code() -> Talker:
    talker = talk(
        Collect("code", "code"), Confirm("sure", "Open {code}?"), PerformAction("open", "open"), slots=(CODE,)
    )
    return talker.says("A B 1 2", "yes", "change the code to X Y 3 4")


def test_a_yes_from_nlu_to_a_code_that_is_read_back_is_one_to_the_code() -> None:
    # Once: it confirms the step behind it, with the old code: A B 1 2 is opened.
    assert not corrected_code().says(OTHER).means(Affirm()).runs


def test_a_code_that_is_read_back_survives_what_nlu_says() -> None:
    # Once: anything but yes and no drops the code; after Repeat the question fits no step, and silence breaks it.
    talker = corrected_code().says(OTHER).means(Repeat())
    assert talker.silence().phase in ("waiting_for_slot", "confirming")


def test_a_code_that_is_read_back_survives_a_failure_of_nlu() -> None:
    # Once: after the error, Repeat waits for the code at a step that doesn't ask for it, and silence breaks it:
    # AssertionError: waiting_for_slot -> confirming.
    talker = corrected_code().says(OTHER).fails().says(OTHER).means(Repeat())
    assert talker.silence().phase in ("waiting_for_slot", "confirming", "error")


def test_candidates_are_dropped_with_their_question() -> None:
    # Once: "Did you mean 6:30 am or 6:30 pm?" is asked for the size: clearing a slot leads back and keeps them.
    hour = SlotSpec("hour", SlotKind.TIME, "When?")
    talker = talk(Collect("size", "size"), Collect("hour", "hour"), slots=(SIZE, hour)).says("small", "half past six")
    assert talker.says(OTHER).means(ClearSlot("size")).said == "size?"


def test_a_code_that_is_corrected_after_a_failure_is_read_back_again() -> None:
    # BUG: "repeat" leads to an error that tells nothing: the question that is open is the code's.
    talker = talk(Collect("code", "code"), PerformAction("open", "open"), slots=(CODE,)).says("A B 1 2", "yes").fails()
    talker.says("change the code to X Y 3 4", "repeat")
    assert (talker.phase, talker.state.reading_back) == ("waiting_for_slot", True)
    assert talker.says("yes").runs[0].slots == (("code", "XY34"),)


@pytest.mark.req("D-13")
def test_a_checkpoint_of_the_first_version_begins_with_all_its_patience() -> None:
    data = {**written(at_amount().state), "version": 1}
    del data["tries"]
    assert from_json(TRANSFER, data) == at_amount().state
