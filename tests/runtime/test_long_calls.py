"""A call that lasts for hours: the transcript grows, and nothing else does."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.ports import Request, ToolCall
from duologue.testing import scripted_tool
from tests.runtime.runtime_fakes import Stage, play

TURNS = 60


def brain(request: Request) -> Any:
    wants_tool = request.reply % 3 == 0 and not request.outputs
    return ToolCall("look", {"at": request.text}, f"c{request.reply}") if wants_tool else "I see."


def sizes(part: Any) -> dict[str, int]:
    """How many things a part of a conversation holds, by attribute."""
    return {name: len(value) for name, value in vars(part).items() if isinstance(value, dict | list | set | tuple)}


@pytest.mark.req("C-CON-003")
def test_nothing_but_what_was_said_grows_with_the_number_of_turns() -> None:
    seen: list[dict[str, dict[str, int]]] = []

    async def scene(stage: Stage) -> None:
        engine = stage.conversation.engine
        for turn in range(1, 2 * TURNS + 1):
            await stage.say(f"this is number {turn}")
            await stage.rest()
            if turn % TURNS == 0:
                parts = (engine.announcer.meter, engine.announcer, engine.tool_calls, engine.replies, engine.playback)
                more = (engine.tasks, engine.ears_task, engine.sessions, engine.driver, engine.bus, engine.requests)
                seen.append({type(part).__name__: sizes(part) for part in (*parts, *more)})
        assert engine.hearing.known_utterances <= 50
        assert stage.conversation.metrics.turns == 2 * TURNS
        assert stage.conversation.metrics.first_audio_ms is not None

    play(scene, brain, tools=[scripted_tool("look")])
    assert seen[0] == seen[1]
