"""Invalid reports of the ears are refused before they change anything."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.observe import signals as sg
from duologue.ports import Final, Partial, ServiceError, SpeechBegan
from duologue.testing import ScriptedBrain
from tests.runtime.runtime_fakes import Stage, play


def echo(request: Any) -> str:
    return f"You said {request.text}."


@pytest.mark.req("L-12")
@pytest.mark.parametrize(
    "nonsense",
    [
        None,
        5,
        "text",
        Partial(None),  # type: ignore[arg-type]
        Partial("loud", 7),
        Partial("loud", -0.1),
        Partial("loud", float("nan")),
        Partial("loud", "high"),  # type: ignore[arg-type]
        Final(b"bytes"),  # type: ignore[arg-type]
        Final("text", utterance="one"),  # type: ignore[arg-type]
        Final("text", first_text=None),  # type: ignore[arg-type]
        Final("text", first_text="text", first_confidence=2.0),
        SpeechBegan(utterance="one"),  # type: ignore[arg-type]
        SpeechBegan(utterance=-3),
    ],
    ids=str,
)
def test_nonsense_from_the_ears_costs_a_second_and_no_turn(nonsense: Any) -> None:
    async def scene(stage: Stage) -> None:
        stage.ears.tell(nonsense)
        await stage.sleep(1_500)
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["You said hello there."]
        assert stage.told(sg.Failed) == []

    play(scene, ScriptedBrain(echo))


def test_nonsense_from_a_programs_own_ears_is_refused_there() -> None:
    async def scene(stage: Stage) -> None:
        with pytest.raises(ServiceError):
            stage.conversation.notify_transcript(5)  # type: ignore[arg-type]
        with pytest.raises(ServiceError):
            stage.conversation.notify_transcript(Partial("loud", 7))
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["You said hello there."]

    play(scene, ScriptedBrain(echo))
