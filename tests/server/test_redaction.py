"""What a watcher may see of a conversation."""

from __future__ import annotations

import pytest

from duologue.ports.tool_call import ToolCall
from duologue.runtime.agent import Agent
from duologue.server.redaction import as_watched
from duologue.server.server_messages import message, notification
from duologue.testing import ScriptedBrain, ScriptedEars, ScriptedVoice, scripted_tool
from tests.server.operators import listed, operator, watch
from tests.server.running_server import RunningServer, serve

WORDS = ("caption", "history", "dialogue", "results")


@pytest.mark.req("C-SEC-002")
def test_a_watcher_of_a_private_agent_sees_states_and_steps_and_no_word() -> None:
    tool = scripted_tool("look_up", "a pineapple")

    def make() -> Agent:
        brain = ScriptedBrain([[ToolCall("look_up", {})], "It is a pineapple."])
        return Agent(brain, ears=ScriptedEars(), voice=ScriptedVoice(), tools=[tool], private=True)

    async def script(running: RunningServer) -> None:
        client, watcher = await running.connect(), await operator(running)
        await client.begin("alice")
        (call,) = await listed(watcher, 1)
        assert call["private"] is True
        assert (await watch(watcher))["private"] is True
        await watcher.send("debug", on=True)
        await watcher.expect("debug")
        await client.send("type", text="a papaya")
        await client.expect("caption", role="assistant", final=True)
        await watcher.expect("turn", event="turn-completed", role="assistant")
        await client.send("end")
        await watcher.expect("ended")
        assert "speaking" in [told["state"] for told in watcher.told("state")]
        assert watcher.told("work", event="started", tool="look_up")
        assert watcher.told("moment", event="TextTyped")
        assert not [kind for kind in WORDS if watcher.told(kind)]
        everything = "".join(frame for frame in watcher.raw if isinstance(frame, str))
        assert "papaya" not in everything
        assert "pineapple" not in everything

    serve(script, make)


def test_a_watcher_of_a_public_call_sees_everything_and_can_press_nothing() -> None:
    caption = message("caption", text="hello")
    assert as_watched(caption, is_private=False) is caption
    notice = as_watched(notification("error", "server_error", "It failed.", ("retry",)), is_private=False)
    assert notice is not None
    assert (notice["payload"]["message"], notice["payload"]["actions"]) == ("It failed.", [])


def test_of_a_private_call_words_are_blanked_and_unknown_messages_are_not_sent() -> None:
    asked = as_watched(message("work", event="asked", call=1, question="your name?"), is_private=True)
    assert asked == message("work", event="asked", call=1, question="")
    state = message("state", state="listening")
    assert as_watched(state, is_private=True) == state
    for kind in (*WORDS, "notification", "something new"):
        assert as_watched(message(kind, text="hello"), is_private=True) is None
