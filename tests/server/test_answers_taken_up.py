"""A client that lost its connection in the middle of an answer hears the rest of it, or is asked whether to go on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from duologue.runtime.agent import Agent
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.client_messages import ClientMessage
from duologue.server.served_conversation import ServedConversation
from duologue.testing import ScriptedBrain, ScriptedVoice
from tests.server.moving_nodes import Node, Page, hello_of, store_here

FIRST, SECOND, THIRD = "The train leaves at nine.", "It stops in five towns.", "You arrive in the evening."


def make() -> Agent:
    return Agent(ScriptedBrain(lambda request: f"{FIRST} {SECOND} {THIRD}"), voice=ScriptedVoice())


async def play(served: ServedConversation, page: Page, voice: int, until_ms: int) -> int:
    """The client plays up to this place and reports it. Returns where the sentence ends."""
    for ms in range(100, until_ms + 1, 100):
        served.line.note_played(voice, ms)
        await asyncio.sleep(0.1)
    return page.sounds[voice]


def heard_in(served: ServedConversation, sentences: int) -> int:
    """When these sentences of the answer were played to their end, in milliseconds."""
    speech = served.conversation.engine.playback.speech
    assert speech is not None
    count = len(" ".join((FIRST, SECOND, THIRD)[:sentences]).split())
    return speech.ledger.words[count - 1].end_ms


async def lose(act: Callable[[ServedConversation, Page, int], Awaitable[Any]]) -> tuple[Node, ServedConversation, Page]:
    """A conversation whose client is lost while it plays the answer, after it did this."""
    node, page = Node("a", store_here(), make), Page()
    await node.open()
    served = await node.begin(page)
    served.do(ClientMessage("type", {"text": "when does it leave?", "id": "1"}))
    await asyncio.sleep(0.5)
    await act(served, page, max(page.sounds))
    served.leave(page)  # type: ignore[arg-type]
    await asyncio.sleep(6)
    assert served.conversation.machine_state.link.value == "reconnecting"
    return node, served, page


def being_said(served: ServedConversation) -> str:
    speech = served.conversation.engine.playback.speech
    return speech.ledger.text if speech is not None else ""


@pytest.mark.req("H-11", "H-02")
@pytest.mark.parametrize(
    ("more_ms", "rest"),
    [(0, f"{SECOND} {THIRD}"), (600, f"{SECOND} {THIRD}"), (-300, f"{FIRST} {SECOND} {THIRD}")],
)
def test_a_client_that_says_where_it_stopped_hears_the_rest_from_the_sentence_that_was_cut(
    more_ms: int, rest: str
) -> None:
    async def scene() -> None:
        place: dict[str, int] = {}

        async def act(served: ServedConversation, page: Page, voice: int) -> None:
            end_ms = heard_in(served, 1)
            await play(served, page, voice, end_ms - 400)
            place.update(voice=voice, ms=end_ms + more_ms, chunk=1)

        node, served, page = await lose(act)
        back = Page()
        await node.reconnect(back, hello_of(page, played={**place, "held": True}))
        await asyncio.sleep(2)
        assert max(back.sounds) > place["voice"]
        assert being_said(served) == rest
        assert len(served.conversation.agent.thinker.requests) == 1  # type: ignore[attr-defined]

    run_simulated(scene())


@pytest.mark.req("H-11")
def test_a_page_that_was_reloaded_is_asked_whether_to_go_on() -> None:
    async def scene() -> None:
        async def act(served: ServedConversation, page: Page, voice: int) -> None:
            await play(served, page, voice, heard_in(served, 1) + 200)

        node, served, page = await lose(act)
        back = Page()
        await node.reconnect(back, hello_of(page))
        await asyncio.sleep(2)
        assert being_said(served).endswith("?")
        assert "train" not in being_said(served)
        assert SECOND not in being_said(served)

    run_simulated(scene())


@pytest.mark.req("H-11")
def test_a_client_that_played_all_of_it_meanwhile_hears_nothing_again() -> None:
    async def scene() -> None:
        place: dict[str, int] = {}

        async def act(served: ServedConversation, page: Page, voice: int) -> None:
            end_ms = heard_in(served, 3)
            await play(served, page, voice, end_ms - 500)
            place.update(voice=voice, ms=page.sounds[voice], chunk=1)

        node, served, page = await lose(act)
        back = Page()
        await node.reconnect(back, hello_of(page, played={**place, "held": True}))
        await asyncio.sleep(3)
        assert back.sounds == {}
        assert served.conversation.machine_state.link.value == "up"

    run_simulated(scene())
