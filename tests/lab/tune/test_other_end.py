"""One pause, run on under another policy: it ends, the user speaks, or nothing is known."""

from __future__ import annotations

from pathlib import Path

from duologue.core.leaves import User
from duologue.hearing.inputs import CoreStepped, Reported, Woke
from duologue.hearing.policy import HearingPolicy
from duologue.hearing.state import HearingState, is_settling
from duologue.lab.tune.calls import read_call
from duologue.lab.tune.other_end import OtherEnd
from duologue.ports.ears import Final, SpeechBegan
from duologue.replay.ears_file import replay_ears
from duologue.turns.endpoint import EndpointPolicy, FixedSilence, ManualEndpoint
from tests.lab.tune.made_calls import Caller, record


def _settling(path: Path) -> HearingState:
    """The state when the user has just fallen silent, at 1,600 ms."""

    async def act(caller: Caller) -> None:
        await caller.say("what is the weather like")
        await caller.wait(3_000)

    call = record(path, act)
    states = (one.state for one in replay_ears(call.ears, call.journal.first, call.records))
    return next(s for s in states if is_settling(s))


def _other(s: HearingState, endpoint: EndpointPolicy) -> OtherEnd:
    """The same pause under this policy. Its text comes at once."""
    other = OtherEnd(HearingPolicy(endpoint), s)
    other.take(Reported(s.ended_at, Final("what is the weather like", 0.95, 1)))
    return other


def test_the_turn_ends_when_the_policy_says_so(tmp_path: Path) -> None:
    s = _settling(tmp_path / "call.jsonl")
    other = _other(s, FixedSilence(900))
    other.take(Woke(s.ended_at + 500))
    assert other.ended_at is None
    other.pass_time(s.ended_at + 5_000)
    assert other.ended_at == s.ended_at + 900


def test_a_user_who_speaks_first_leaves_no_end(tmp_path: Path) -> None:
    s = _settling(tmp_path / "call.jsonl")
    other = _other(s, FixedSilence(900))
    other.take(Reported(s.ended_at + 400, SpeechBegan(2)))
    other.pass_time(s.ended_at + 5_000)
    assert other.ended_at is None


def test_what_the_recorded_agent_did_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "call.jsonl"
    s = _settling(path)
    ended = next(r for r in read_call(path).records if r.before.user is User.SETTLING and r.after.user is User.QUIET)
    other = _other(s, FixedSilence(1_100))
    other.take(CoreStepped(ended.event.at, ended))
    other.pass_time(s.ended_at + 5_000)
    assert other.ended_at == s.ended_at + 1_100


def test_a_turn_that_only_the_user_can_end_is_ended_by_the_limit_of_the_conversation(tmp_path: Path) -> None:
    s = _settling(tmp_path / "call.jsonl")
    other = _other(s, ManualEndpoint())
    other.pass_time(s.ended_at + 60_000)
    assert other.ended_at == s.ended_at + s.core.settings.settle_ms_max
