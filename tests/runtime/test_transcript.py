"""The history of a conversation: what was heard, in the order in which it began, and every word said."""

from __future__ import annotations

import pytest

from duologue.core.settings import profile
from duologue.observe import signals as sg
from duologue.ports import ToolCall
from duologue.ports.ears import Final, SpeechBegan, SpeechEnded
from duologue.ports.history import AgentSaid, CallOutput, UserSaid
from duologue.testing import Delay, ScriptedBrain, scripted_tool
from tests.runtime.runtime_fakes import Stage, play

LONG = "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen."


def kinds(stage: Stage) -> list[str]:
    return [type(item).__name__ for item in stage.conversation.history]


@pytest.mark.req("L-06", "V-04")
def test_an_interrupted_reply_is_cut_at_what_was_heard_and_the_whole_utterance_follows() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("count please")
        await stage.sleep(1_500)
        await stage.say("no wait I meant backwards")
        await stage.rest()
        first, cut, second, answer = stage.conversation.history
        assert isinstance(first, UserSaid)
        assert isinstance(cut, AgentSaid)
        assert cut.interrupted
        assert LONG.startswith(cut.text)
        assert 0 < len(cut.text) < len(LONG)
        assert cut.text.split() + cut.unheard.split() == LONG.split()
        assert abs(cut.heard_ms - stage.line.played[1]) <= 1
        assert (second.text, answer.text) == ("no wait I meant backwards", "Three two one.")

    play(scene, ScriptedBrain([LONG, "Three two one."]))


@pytest.mark.req("V-08")
def test_any_number_of_interruptions_keeps_the_order_and_every_word() -> None:
    async def scene(stage: Stage) -> None:
        for number in range(8):
            await stage.say(f"question number {number} please")
            await stage.sleep(900)
        await stage.rest()
        assert stage.said == [f"question number {number} please" for number in range(8)]
        assert kinds(stage) == ["UserSaid", "AgentSaid"] * 8
        cut = [item.interrupted for item in stage.conversation.history if isinstance(item, AgentSaid)]
        assert cut == [True] * 7 + [False]
        assert stage.lost == []

    play(scene, ScriptedBrain([LONG] * 8))


@pytest.mark.req("L-07", "M-05")
def test_a_reply_that_speaks_and_calls_is_one_item_before_its_output() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("look it up")
        await stage.rest()
        assert kinds(stage) == ["UserSaid", "AgentSaid", "CallOutput", "AgentSaid"]
        said, output, answer = stage.conversation.history[1:]
        assert isinstance(said, AgentSaid)
        assert isinstance(output, CallOutput)
        assert said.text == "Let me look."
        assert [number for number, _ in said.calls] == [output.call]
        assert answer.text == "Found it."

    brain = ScriptedBrain([["Let me look.", ToolCall("work")], "Found it."])
    play(scene, brain, tools=[scripted_tool("work", Delay(300), "found")])


@pytest.mark.req("L-06", "V-05")
def test_a_reply_of_which_nothing_was_heard_is_not_history() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        stage.conversation.interrupt()
        await stage.rest()
        assert kinds(stage) == ["UserSaid"]

    play(scene, ScriptedBrain([[Delay(1_000), LONG]]))


@pytest.mark.req("M-03")
def test_going_on_before_the_answer_makes_one_question_of_both() -> None:
    brain = ScriptedBrain(lambda request: [Delay(2_000), f"You said {request.text}."])

    async def scene(stage: Stage) -> None:
        await stage.say("book a flight")
        await stage.say("to Rome please")
        await stage.rest()
        assert stage.said == ["book a flight", "to Rome please"]
        assert stage.heard == ["You said book a flight to Rome please."]
        assert stage.lost == []

    play(scene, brain)


@pytest.mark.req("V-02", "M-09")
@pytest.mark.parametrize("name", ["confirm", "words"])
def test_a_backchannel_over_the_agent_is_recorded_and_costs_nothing(name: str) -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("count please")
        await stage.sleep(700)
        await stage.say("mhm")
        await stage.rest()
        said = [(item.text, item.overheard) for item in stage.conversation.history if isinstance(item, UserSaid)]
        assert said == [("count please", False), ("mhm", True)]
        assert stage.heard == [LONG]

    play(scene, ScriptedBrain([LONG]), profile=profile(name, greets=False))


@pytest.mark.req("V-02")
def test_a_cough_never_costs_a_reply_and_leaves_no_trace_in_the_history() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("count please")
        await stage.sleep(700)
        stage.ears.tell(SpeechBegan(9))
        await stage.sleep(200)
        stage.ears.tell(SpeechEnded(9))
        await stage.sleep(100)
        stage.ears.tell(Final("", 0.0, 9))
        await stage.rest()
        assert stage.heard == [LONG]
        assert stage.said == ["count please"]

    play(scene, ScriptedBrain([LONG]))


@pytest.mark.req("M-18")
def test_words_that_are_being_said_at_the_end_are_history_and_reported_as_lost() -> None:
    async def scene(stage: Stage) -> None:
        await stage.begin("one last thing")
        await stage.conversation.end("hung up on")
        assert stage.said == ["one last thing"]
        assert stage.lost == ["one last thing"]
        assert [signal.reason for signal in stage.told(sg.Ended)] == ["hung up on"]

    play(scene, ScriptedBrain())


@pytest.mark.req("C-INT-005")
def test_the_brain_is_given_the_history_as_it_was_heard() -> None:
    brain = ScriptedBrain([LONG, "Fine."])

    async def scene(stage: Stage) -> None:
        await stage.say("count please")
        await stage.sleep(1_500)
        await stage.say("that is enough thanks")
        await stage.rest()
        told = brain.requests[1].history
        assert [type(item).__name__ for item in told] == ["UserSaid", "AgentSaid", "UserSaid"]
        cut = told[1]
        assert isinstance(cut, AgentSaid)
        assert cut.text == stage.heard[0]
        assert "sixteen" not in cut.text

    play(scene, brain)
