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
from tests.server.moving_nodes import TTL_MS, Node, Page, hello_of, store_here

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


@pytest.mark.req("H-11.cut", "H-02.cut")
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


@pytest.mark.req("H-11.cut")
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


@pytest.mark.req("H-11.cut")
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


FOUND, QUESTION = "I found one at nine.", "Shall I book that seat for you right now?"
SAID_AGAIN_MS_MAX = 4_000


@pytest.mark.req("H-06.unheard", "H-11.cut", "H-02.cut")
@pytest.mark.parametrize("client_tells", [True, False], ids=["the client says how far it played", "a reloaded page"])
def test_a_question_that_was_cut_is_said_again_by_the_node_that_takes_over(client_tells: bool) -> None:
    """The node dies a moment after the beginning of the question. Nothing is said by the person."""

    async def scene() -> None:
        store, page = store_here(), Page()
        brains: list[ScriptedBrain] = []

        def make_asking() -> Agent:
            brains.append(ScriptedBrain(lambda request: f"{FOUND} {QUESTION}"))
            return Agent(brains[-1], voice=ScriptedVoice())

        a = Node("a", store, make_asking)
        await a.open()
        served = await a.begin(page)
        served.do(ClientMessage("type", {"text": "find me a seat", "id": "1"}))
        await asyncio.sleep(0.5)
        voice = max(page.sounds)
        speech = served.conversation.engine.playback.speech
        assert speech is not None
        cut_ms = speech.ledger.words[len(FOUND.split()) - 1].end_ms + 300
        await play(served, page, voice, cut_ms)
        await asyncio.sleep(0.2)
        a.die()
        b = Node("b", store, make_asking)
        await b.open()
        await asyncio.sleep(2 * TTL_MS / 1000)
        back = Page()
        known = {"played": {"voice": voice, "ms": cut_ms, "chunk": 1, "held": True}} if client_tells else {}
        taken = await b.reconnect(back, hello_of(page, **known))
        assert taken is not None
        back_at = asyncio.get_running_loop().time()
        while QUESTION not in being_said(taken):
            await asyncio.sleep(0.05)
            waited_ms = (asyncio.get_running_loop().time() - back_at) * 1000
            assert waited_ms <= SAID_AGAIN_MS_MAX, f"after {waited_ms:.0f} ms: {being_said(taken)!r}"
        assert max(back.sounds) > voice, "it can be heard"
        if client_tells:
            assert sum(len(brain.requests) for brain in brains) == 1, "the brain isn't asked again"
        b.die()

    run_simulated(scene())
