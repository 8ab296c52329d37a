"""`Fallback` makes ears, a voice or a brain of its services, and the conversation tells of switches."""

from __future__ import annotations

from typing import Any

import pytest

from duologue import Agent, Fallback, signals
from duologue.ears.scripted import ScriptedEars
from duologue.failover.brain import FallbackBrain
from duologue.failover.ears import FallbackEars
from duologue.failover.voice import FallbackVoice
from duologue.testing import Call
from tests.failover.failing_services import Brain, Voice


def test_the_kind_follows_from_the_services() -> None:
    assert isinstance(Fallback(Brain(), Brain()), FallbackBrain)
    assert isinstance(Fallback(Voice(), Voice()), FallbackVoice)
    assert isinstance(Fallback(ScriptedEars(), ScriptedEars()), FallbackEars)


def test_a_function_is_a_brain_here_too() -> None:
    with Call(Agent(Fallback(Brain(fails_at=0), lambda request: f"I can't say more about {request.text}."))) as call:
        call.user("trains").expect_heard("I can't say more about trains.")


@pytest.mark.parametrize(
    ("services", "settings", "told"),
    [
        ((Brain(), Voice()), {}, "only ears, only voices or only brains, not Brain, Voice"),
        ((Brain(),), {}, "needs at least two services"),
        ((Brain(), Brain()), {"after_ms": 0}, "after_ms=0"),
        ((ScriptedEars, ScriptedEars), {"after_ms": 100}, "after_ms can't be used with ears"),
    ],
)
def test_services_that_do_not_fit_are_refused(services: tuple[Any, ...], settings: dict[str, Any], told: str) -> None:
    with pytest.raises((TypeError, ValueError), match=told):
        Fallback(*services, **settings)


def test_a_conversation_goes_on_when_brain_and_voice_fail_and_tells_it() -> None:
    agent = Agent(
        Fallback(Brain("no", fails_at=0), Brain("The second brain answers."), names=("main", "spare")),
        voice=Fallback(Voice(fails_after_ms=0), Voice()),
    )
    switched: list[signals.ServiceSwitched] = []
    with Call(agent, own_voice=True) as call:
        call.conversation.on(signals.ServiceSwitched, switched.append)
        call.user("Hello there.")
        call.expect_heard("The second brain answers.")
        assert call.conversation.metrics.switches == 2
        assert call.conversation.metrics.errors == 0
    assert [(one.part, one.source, one.target, one.why) for one in switched] == [
        ("brain", "main", "spare", "SERVER_ERROR"),
        ("voice", "Voice 1", "Voice 2", "SERVER_ERROR"),
    ]
