"""Policies that a function of the context chooses for a call."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from duologue import Agent, Context, Request
from duologue.hearing.policy import HearingPolicy
from duologue.observe.recorder import ears_path
from duologue.ports.context import CallInfo
from duologue.replay.ears_file import InvalidEars, read_ears, replay_ears
from duologue.replay.journal import read_journal, replay
from duologue.runtime.agent import InvalidAgent
from duologue.runtime.checkpoint import read_checkpoint
from duologue.runtime.checkpoint_writer import CheckpointWriter
from duologue.runtime.conversation import Conversation
from duologue.runtime.simulated_clock import run_simulated
from duologue.store.memory import MemoryStore
from duologue.testing import Call, ScriptedBrain, ScriptedLine, ScriptedVoice
from duologue.turns.endpoint import FixedSilence, ManualEndpoint, SilenceWait, policy
from duologue.turns.features import PauseFeatures
from duologue.turns.overlap import OVERLAP_RULES

SLOW = FixedSilence(1_500)
WORDS = OVERLAP_RULES["words"]


@dataclass
class Customer:
    is_old: bool = False


def echo(request: Request) -> str:
    return f"You said {request.text}."


def by_caller(context: Context[Customer]) -> Any:
    return SLOW if context.caller == "+4930" or context.data.is_old else "vad"


def policy_of(call: Call) -> HearingPolicy:
    return call.conversation.engine.hearing.policy


def test_each_call_gets_the_policies_that_functions_choose_for_it() -> None:
    agent = Agent(echo, data=Customer, endpoint=by_caller, overlap=lambda context: WORDS if context.line else None)
    with Call(agent, info=CallInfo(line="phone", caller="+4930")) as slow, Call(agent, info=CallInfo()) as other:
        assert policy_of(slow).endpoint == SLOW
        assert policy_of(slow).overlap == WORDS
        assert policy_of(other).endpoint == policy("vad")
        assert policy_of(other).overlap == agent.hearing.overlap
        slow.user("hello there").expect_heard("You said hello there.")
        other.user("hello there").expect_heard("You said hello there.")


def test_a_chosen_policy_decides_when_a_turn_ends() -> None:
    def ends_after_ms(chosen: Any) -> int:
        with Call(Agent(echo, endpoint=lambda context: chosen)) as call:
            call.user("hello there").settles()
            return next(r.event.at for r in call.records if type(r.event).__name__ == "TurnEnded")

    assert ends_after_ms(FixedSilence(2_000)) - ends_after_ms(FixedSilence(500)) == 1_500


def test_a_new_language_and_another_agent_choose_again() -> None:
    def by_language(context: Context[Any]) -> FixedSilence:
        return FixedSilence({"de": 900, "fr": 1_100}.get(context.language, 500))

    french = Agent(echo, name="french", language="fr", endpoint=by_language)
    plain = Agent(echo, name="plain")
    with Call(Agent(echo, name="desk", endpoint=by_language, agents=(french, plain))) as call:
        assert policy_of(call).endpoint == FixedSilence(500)
        call.context.update(language="de")
        assert policy_of(call).endpoint == FixedSilence(900)
        assert policy_of(call).language == "de"
        call.run(call.context.hand_over("french"))
        assert policy_of(call).endpoint == FixedSilence(1_100)
        call.run(call.context.hand_over("plain"))
        assert policy_of(call).endpoint == policy("combined")


def test_the_journal_has_the_chosen_policy_and_replays_with_its_changes(tmp_path: Path) -> None:
    def by_language(context: Context[Any]) -> FixedSilence:
        return FixedSilence(500 if context.language == "de" else 900)

    path = tmp_path / "call.jsonl"
    with Call(Agent(echo, endpoint=by_language), journal=path) as call:
        call.user("hello there").settles()
        call.context.update(language="de")
        call.user("guten Tag zusammen").settles()
    ears = read_ears(ears_path(path).read_text().splitlines(keepends=True))
    assert ears.policy is not None
    assert ears.policy.endpoint == FixedSilence(900)
    [(_, after)] = ears.changes
    assert after is not None
    assert (after.endpoint, after.language) == (FixedSilence(500), "de")
    journal = read_journal(path.read_text().splitlines(keepends=True))
    records = list(replay(journal))
    assert list(replay_ears(ears, journal.first, records))
    with pytest.raises(InvalidEars):  # the first policy alone doesn't explain the second turn
        list(replay_ears(ears._replace(changes=()), journal.first, records))


# -- Failing


def raising(context: Context[Any]) -> FixedSilence:
    raise KeyError("no such customer")


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (raising, "no such customer"),
        (lambda context: 700, "endpoint must be an endpoint policy or a policy's name, not 700"),
        (lambda context: "soon", "unknown endpoint policy 'soon'"),
        (lambda context: raising, "endpoint must be a policy"),
    ],
)
def test_a_function_that_fails_costs_only_its_call_an_apology(function: Any, why: str) -> None:
    reported: list[str] = []
    with Call(Agent(echo, endpoint=function)) as call:
        call.conversation.engine.failure_watchers.append(lambda one: reported.append(f"{one.where}: {one.failure}"))
        call.expect_heard("Goodbye")
        call.waits(100).expect_ended()
    assert len(reported) == 1
    assert reported[0].startswith("the function that chooses a policy")
    assert why in reported[0]


def test_a_function_that_fails_later_is_reported_and_the_default_decides() -> None:
    def only_english(context: Context[Any]) -> FixedSilence:
        if context.language != "en":
            raise KeyError(context.language)
        return SLOW

    reported: list[str] = []
    with Call(Agent(echo, endpoint=only_english)) as call:
        call.conversation.engine.failure_watchers.append(lambda one: reported.append(one.where))
        call.context.update(language="de")
        assert reported == ["the function that chooses a policy"]
        assert policy_of(call).endpoint == policy("combined")
        call.user("guten Tag zusammen").expect_heard("You said")


async def later(context: Context[Any]) -> FixedSilence:
    return SLOW


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"endpoint": later}, "endpoint: the function must not be async"),
        ({"overlap": lambda: None}, "overlap: the function must take one argument, the context"),
        ({"overlap": 7}, "overlap must be an overlap policy"),
    ],
)
def test_a_function_that_can_not_be_called_is_refused_with_the_agent(wrong: Any, why: str) -> None:
    with pytest.raises(InvalidAgent, match=why):
        Agent(echo, **wrong)


# -- Taking over


class OwnPolicy:
    """A policy of the user's own, which can't be saved."""

    def wait(self, pause: PauseFeatures) -> SilenceWait:
        return SilenceWait(600)


def restored(first: Any, second: Any) -> tuple[Any, list[str]]:
    """The endpoint policy after a takeover, and what was reported then. The function chooses `first`, then `second`."""
    chosen: list[Any] = [first, second]
    reported: list[str] = []

    def choose(context: Context[Any]) -> Any:
        found = chosen.pop(0)
        return found(context) if found is raising else found

    agent = Agent(ScriptedBrain(lambda request: "Yes."), voice=ScriptedVoice(), endpoint=choose)

    async def scene() -> Any:
        store = MemoryStore()
        lease, before = await store.claim("call", "node", 10_000, force=True)
        writer = CheckpointWriter(store, lease, before.revision, lambda: None, lambda problem: None)
        conversation = Conversation(agent, ScriptedLine(), conversation_id="call")
        conversation.engine.save_with(writer)
        await conversation.start()
        conversation.type("hello there")
        await asyncio.sleep(5)
        await writer.wait_until_saved()
        kept = await store.read("call")
        conversation.freeze()
        assert kept is not None
        saved = read_checkpoint(kept.parts, agent.settings)
        again = Conversation(agent, ScriptedLine(), conversation_id="call", checkpoint=saved)
        reported.extend(one.where for one in again.engine.failures)
        return again.engine.hearing.policy.endpoint

    return run_simulated(scene()), reported


def test_a_takeover_goes_on_with_the_policy_that_was_chosen() -> None:
    assert restored(SLOW, ManualEndpoint()) == (SLOW, [])


def test_a_takeover_asks_again_for_a_policy_that_can_not_be_saved() -> None:
    assert restored(OwnPolicy(), SLOW) == (SLOW, [])


def test_a_takeover_goes_on_with_the_default_if_the_function_fails() -> None:
    assert restored(OwnPolicy(), raising) == (policy("combined"), ["the function that chooses a policy"])
