"""The caller of an evaluation knows its goal and what it heard."""

from __future__ import annotations

from duologue.ports.history import AgentSaid, UserSaid
from duologue.testing import ScriptedBrain, run_simulated
from duologue.testing.evals.caller import EvalCaller, instructions_for
from duologue.testing.evals.suite import EvalCase

CASE = EvalCase("one", 1, "Book a table.", mood="angry", facts=(("name", "Anna"),))


def test_a_caller_is_told_its_goal_its_mood_and_its_facts() -> None:
    told = instructions_for(CASE)
    assert "Your goal: Book a table." in told
    assert "Your mood: angry" in told
    assert "- name: Anna" in told
    assert "mood" not in instructions_for(EvalCase("two", 1, "x"))


def test_a_caller_hears_the_agent_as_the_other_side_and_says_when_it_is_done() -> None:
    seen: list[object] = []

    def brain(request):  # type: ignore[no-untyped-def]
        seen.append(request.history)
        return '"A table, please."' if request.reply == 1 else "Thanks, bye. [done]"

    caller = EvalCaller(ScriptedBrain(brain), CASE)

    async def talk() -> list[tuple[str, bool]]:
        return [await caller.says("Good day."), await caller.says("")]

    assert run_simulated(talk()) == [("A table, please.", False), ("Thanks, bye.", True)]
    assert seen[1] == (UserSaid(1, "Good day."), AgentSaid(1, "A table, please."), UserSaid(2, "(silence)"))
