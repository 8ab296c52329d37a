"""A suite is played with models that follow a script."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from duologue import Agent, Context, Hooks, Request
from duologue.core.leaves import ErrorClass
from duologue.testing import Delay, Fail, ScriptedBrain
from duologue.testing.evals.run import EvalModels, EvalRun, run_case, run_suite
from duologue.testing.evals.suite import EvalSuite
from tests.testing.evals.scripted_models import SUITE, caller, desk, suite_of, verdicts


def play(suite: EvalSuite, models: EvalModels, agent: Agent | None = None) -> EvalRun:
    return asyncio.run(run_case(suite.cases[0], agent or desk(), models, 1, 1))


def test_a_caller_talks_to_the_agent_until_it_is_done(tmp_path: Path) -> None:
    run = play(suite_of(tmp_path), EvalModels(caller("A table for two please")))
    assert run.is_pass, run
    assert run.turns == 2
    assert "caller: A table for two please" in run.transcript
    assert "agent: Your table is booked." in run.transcript


def test_a_broken_assertion_fails_the_run_whatever_the_judge_says(tmp_path: Path) -> None:
    text = SUITE + "    expect: {not_called: [book_table]}\n    rubric: [It is polite.]\n"
    run = play(suite_of(tmp_path, text), EvalModels(caller("a table please"), ScriptedBrain([verdicts(True)])))
    assert run.judgement.is_pass
    assert run.broken == ("book_table was called",)
    assert not run.is_pass


def test_nonsense_of_the_judge_fails_the_run(tmp_path: Path) -> None:
    text = SUITE + "    rubric: [It is polite.]\n"
    run = play(suite_of(tmp_path, text), EvalModels(caller("a table please"), ScriptedBrain(["lovely", "lovely"])))
    assert not run.broken
    assert run.judgement.unusable == 2
    assert not run.is_pass


def test_a_caller_whose_model_fails_is_an_error(tmp_path: Path) -> None:
    run = play(suite_of(tmp_path), EvalModels(ScriptedBrain([[Fail(ErrorClass.AUTH_FAILURE)]])))
    assert run.error.startswith("the caller's model failed")
    assert not run.is_pass


def test_a_caller_that_never_comes_to_an_end_fails(tmp_path: Path) -> None:
    endless = ScriptedBrain(lambda _: "tell me more")
    run = play(suite_of(tmp_path, SUITE + "    turns_max: 3\n"), EvalModels(endless))
    assert run.error == "the caller had not finished after 3 turns"


def test_a_caller_may_talk_over_the_agent(tmp_path: Path) -> None:
    long = Agent(ScriptedBrain(["It is a very long story. " * 30, *["Yes?"] * 5]))
    models = EvalModels(caller("tell me all", "no wait please stop there"))
    run = play(suite_of(tmp_path, SUITE + "    interrupts: 1\n"), models, long)
    assert "[interrupted]" in run.transcript


def test_a_caller_who_finishes_while_talking_over_the_agent_has_finished(tmp_path: Path) -> None:
    long = Agent(ScriptedBrain(["It is a very long story. " * 30, *["Yes?"] * 5]))
    models = EvalModels(ScriptedBrain(["tell me all", "that is enough for me thank you [done]", "still here"]))
    run = play(suite_of(tmp_path, SUITE + "    interrupts: 1\n"), models, long)
    assert run.error == ""
    assert "still here" not in run.transcript


def ends_at(last: str) -> Agent:
    """An agent that ends the call after its answer to these words."""

    def brain(request: Request, context: Context[Any]) -> str:
        if request.text == last:
            context.end()
        return "Thank you and good bye."

    return Agent(brain)


def test_an_agent_that_hangs_up_ends_the_run_before_the_caller_speaks_again(tmp_path: Path) -> None:
    answer = ["Good ", Delay(700), "bye."]
    suite = suite_of(tmp_path, SUITE + "    expect: {ended: true}\n")
    run = play(suite, EvalModels(ScriptedBrain(["that is all", answer])), ends_at("that is all"))
    assert (run.error, run.broken, run.turns) == ("", (), 1)
    assert run.is_pass


def test_an_agent_that_hangs_up_at_once_ends_the_run(tmp_path: Path) -> None:
    async def leave(context: Context[Any]) -> None:
        await context.say("We are closed.")
        context.end()

    agent = Agent(lambda request: "Hm.", hooks=Hooks(on_start=leave))
    run = play(suite_of(tmp_path), EvalModels(ScriptedBrain([["Hello", Delay(60_000), " there."]])), agent)
    assert (run.error, run.turns) == ("", 0)


def test_every_case_is_played_as_often_as_it_says_with_a_journal_each(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, SUITE + "    runs: 2\n")

    async def whole() -> list[EvalRun]:
        models = EvalModels(ScriptedBrain(lambda _: "Bye. [done]"))
        return [run async for run in run_suite(suite, desk, models, seed=5, journals=tmp_path)]

    runs = asyncio.run(whole())
    assert [run.seed for run in runs] == [5, 6]
    assert all(run.journal is not None and run.journal.is_file() for run in runs)
