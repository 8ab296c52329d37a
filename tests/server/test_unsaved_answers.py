"""Answers that the store doesn't know to their end when their server is killed: nothing of them is heard twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from duologue.lab.torture.tortured_agent import CHAR_MS, ActionLog, make_agent
from duologue.ports.brain import Memory, Part, Request
from duologue.ports.history import AgentSaid, UserSaid
from duologue.ports.store import StoreFailed
from duologue.runtime.agent import Agent
from duologue.runtime.receipts import RECEIPTS_MAX
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.client_messages import ClientMessage
from duologue.server.served_conversation import ServedConversation
from duologue.testing import ScriptedBrain, ScriptedVoice
from tests.server.moving_nodes import TTL_MS, Node, Page, hello_of, store_here

HOLD_S = 7.0  # longer than the sound of an answer waits for the store


class AwayStore:
    """A store that can be taken away: whatever is asked of it fails, and nothing is done."""

    def __init__(self) -> None:
        self.store = store_here()
        self.is_away = False
        self.write_s = 0.0  # how long each write takes

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        asked = getattr(self.store, name)

        async def ask(*given: Any, **more: Any) -> Any:
            if self.is_away:
                raise StoreFailed("it is away")
            if name == "write" and self.write_s:
                await asyncio.sleep(self.write_s)
            return await asked(*given, **more)

        return ask


class NumberedBrain:
    """Answers in different words each time, as an LLM does, and not at once."""

    def __init__(self, asked: list[str], pause_s: float = 0.0) -> None:
        self._asked = asked
        self._pause_s = pause_s

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        self._asked.append(request.text)
        number = len(self._asked)
        await asyncio.sleep(0.5)
        yield f"This is answer {number}. "
        await asyncio.sleep(self._pause_s)
        yield f"And here answer {number} ends."


class SlowBrain:
    """A brain that remembers what it has said, so that it goes on by itself after a takeover. It isn't fast."""

    def remember(self, memory: Memory) -> None: ...

    async def has_more(self, conversation: str) -> bool:
        return False

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        await asyncio.sleep(0.5)
        yield "This is it."


class Scene:
    """Two nodes and a client. What the client hears is noted by its voice."""

    def __init__(self, pause_s: float = 0.0) -> None:
        self.store = AwayStore()
        self.asked: list[str] = []
        self.page = Page()
        self.pause_s = pause_s
        self.a, self.b = (Node(name, self.store, self.agent) for name in "ab")

    def agent(self) -> Agent:
        return Agent(NumberedBrain(self.asked, self.pause_s), voice=ScriptedVoice())

    async def begin(self) -> ServedConversation:
        await self.a.open()
        return await self.a.begin(self.page)

    def hello(self, **more: Any) -> dict[str, Any]:
        """As a client says hello that keeps what it is given."""
        kept = [one["receipt"] for one in self.page.of("receipt")]
        return hello_of(self.page, **{"receipts": kept[-RECEIPTS_MAX:], **more})

    async def hear(self, served: ServedConversation, page: Page, ms_max: int = 60_000) -> int:
        """Play the newest voice of this page in real time, until it ends or `ms_max` was heard. Returns that time."""
        voice, ms = max(page.sounds), 0
        while ms < min(page.sounds[voice], ms_max):
            ms = min(ms + 100, page.sounds[voice], ms_max)
            await asyncio.sleep(0.1)
            served.line.note_played(voice, ms)
        return ms

    async def take_over(self, **hello: Any) -> tuple[ServedConversation, Page]:
        self.store.is_away = False
        await self.b.open()
        back = Page()
        served = await self.b.reconnect(back, self.hello(**hello))
        assert served is not None
        return served, back


def ask_for_a_table() -> Agent:
    return Agent(ScriptedBrain(lambda request: "Shall I book table 7?"), voice=ScriptedVoice())


def say_something() -> Agent:
    return Agent(ScriptedBrain(lambda request: "I found it."), voice=ScriptedVoice())


def typed(served: ServedConversation, text: str, id_: str) -> None:
    served.do(ClientMessage("type", {"text": text, "id": id_}))


def said_in(served: ServedConversation) -> list[str]:
    return [one.text for one in served.conversation.history if isinstance(one, UserSaid | AgentSaid)]


@pytest.mark.req("D-14")
@pytest.mark.parametrize("is_turn_saved", [True, False])
def test_an_answer_that_was_played_while_the_store_failed_is_not_said_again_after_a_takeover(is_turn_saved: bool):
    async def scene() -> None:
        it = Scene()
        served = await it.begin()
        if not is_turn_saved:
            it.store.is_away = True
        typed(served, "what is it?", "1")
        await asyncio.sleep(0.3)
        it.store.is_away = True
        await asyncio.sleep(HOLD_S)
        voice = max(it.page.sounds)
        played_ms = await it.hear(served, it.page)
        assert bool(it.page.of("typed")) == is_turn_saved
        it.a.die()
        served, back = await it.take_over(played={"voice": voice, "ms": played_ms, "chunk": 99})
        if not is_turn_saved:
            typed(served, "what is it?", "1")  # it was never confirmed
        await asyncio.sleep(5)
        assert it.asked == ["what is it?"], "the brain was not asked again"
        assert not back.sounds
        assert back.of("typed") == ([] if is_turn_saved else [{"id": "1"}])
        assert said_in(served) == ["what is it?", "This is answer 1. And here answer 1 ends."]
        typed(served, "and now?", "2")
        await asyncio.sleep(2)
        assert it.asked == ["what is it?", "and now?"]
        assert back.sounds, "the next answer is heard"

    run_simulated(scene())


@pytest.mark.req("D-14")
def test_what_was_not_heard_of_an_unsaved_answer_is_said_after_a_takeover_from_its_sentence_on():
    async def scene() -> None:
        it = Scene()
        served = await it.begin()
        it.store.is_away = True
        typed(served, "what is it?", "1")
        await asyncio.sleep(HOLD_S)
        voice = max(it.page.sounds)
        heard_ms = await it.hear(served, it.page, len("This is answer 1. And") * 60)
        it.a.die()
        served, back = await it.take_over(played={"voice": voice, "ms": heard_ms, "chunk": 99})
        await asyncio.sleep(0.5)
        spoken = max(back.sounds)
        assert spoken > voice, "the number of the unsaved voice is not used again"
        heard_ms = await it.hear(served, back)
        assert heard_ms == len("And here answer one ends. ") * 60
        served.line.note_finished(spoken, heard_ms)
        await asyncio.sleep(1)
        assert it.asked == ["what is it?"]
        assert said_in(served) == ["what is it?", "This is answer 1. And here answer 1 ends."]

    run_simulated(scene())


@pytest.mark.req("D-14")
def test_an_answer_of_which_the_store_has_the_beginning_is_known_to_its_end_from_its_client():
    async def scene() -> None:
        it = Scene(pause_s=0.4)
        served = await it.begin()
        typed(served, "what is it?", "1")
        await asyncio.sleep(0.7)
        it.store.is_away = True  # the start is saved, and the second sentence isn't
        await asyncio.sleep(0.4)
        voice = max(it.page.sounds)
        heard_ms = await it.hear(served, it.page)
        it.a.die()
        served, back = await it.take_over(played={"voice": voice, "ms": heard_ms, "chunk": 99})
        await asyncio.sleep(5)
        assert it.asked == ["what is it?"]
        assert not back.sounds
        assert said_in(served) == ["what is it?", "This is answer 1. And here answer 1 ends."]

    run_simulated(scene())


@pytest.mark.req("D-14")
def test_a_server_that_has_taken_over_before_the_client_comes_does_not_say_an_unsaved_answer_again():
    async def scene() -> None:
        it = Scene()
        served = await it.begin()
        typed(served, "what is it?", "1")
        await asyncio.sleep(0.3)
        it.store.is_away = True
        await asyncio.sleep(HOLD_S)
        voice = max(it.page.sounds)
        heard_ms = await it.hear(served, it.page)
        it.a.die()
        it.store.is_away = False
        await it.b.open()
        await asyncio.sleep(2 * TTL_MS / 1000)
        assert it.b.conversations.served, "it was taken over without its client"
        back = Page()
        hello = it.hello(played={"voice": voice, "ms": heard_ms, "chunk": 99})
        again = await it.b.reconnect(back, hello)
        assert again is not None
        await asyncio.sleep(5)
        assert it.asked == ["what is it?"]
        assert not back.sounds

    run_simulated(scene())


@pytest.mark.req("D-14")
def test_an_unsaved_answer_is_not_said_again_if_the_server_that_took_over_is_killed_too():
    async def scene() -> None:
        it = Scene()
        it.a, it.b, c = (Node(name, it.store, lambda: Agent(SlowBrain(), voice=ScriptedVoice())) for name in "abc")
        served = await it.begin()
        typed(served, "what is it?", "1")
        await asyncio.sleep(0.3)
        it.store.is_away = True
        await asyncio.sleep(HOLD_S + 0.5)
        voice = max(it.page.sounds)
        played = {"voice": voice, "ms": await it.hear(served, it.page), "chunk": 99, "held": True}
        it.a.die()
        await it.take_over(played=played)
        await asyncio.sleep(0.3)  # it has saved what it learnt, and its brain still thinks
        it.b.die()
        await c.open()
        served_there = await c.reconnect(back := Page(), it.hello(played=played))
        assert served_there is not None
        await asyncio.sleep(8)
        assert back.sounds == {}
        assert said_in(served_there) == ["what is it?", "This is it."]

    run_simulated(scene())


def test_a_receipt_that_a_client_has_changed_is_ignored():
    async def scene() -> None:
        it = Scene()
        served = await it.begin()
        it.store.is_away = True
        typed(served, "what is it?", "1")
        await asyncio.sleep(HOLD_S)
        voice = max(it.page.sounds)
        it.a.die()
        forged = [one["receipt"].replace("a", "b") for one in it.page.of("receipt")]
        assert forged
        hello = {"receipts": forged, "played": {"voice": voice, "ms": 5_000, "chunk": 9}}
        served, _ = await it.take_over(**hello)
        await asyncio.sleep(1)
        assert said_in(served) == []

    run_simulated(scene())


def test_a_store_that_works_costs_no_message_about_an_answer_that_is_complete():
    async def scene() -> None:
        it = Scene()
        served = await it.begin()
        typed(served, "what is it?", "1")
        await asyncio.sleep(0.6)
        await it.hear(served, it.page)
        assert not it.page.of("receipt")

    run_simulated(scene())


@pytest.mark.req("D-14")
@pytest.mark.parametrize("is_heard", [True, False])
def test_a_question_that_was_played_to_its_end_during_the_takeover_is_not_asked_again(is_heard: bool):
    async def scene() -> None:
        it = Scene()
        it.a, it.b = (Node(name, it.store, ask_for_a_table) for name in "ab")
        served = await it.begin()
        typed(served, "a table", "1")
        await asyncio.sleep(0.1)
        voice = max(it.page.sounds)
        heard_ms = await it.hear(served, it.page, 900)
        it.a.die()
        served, back = await it.take_over(played={"voice": voice, "ms": heard_ms, "chunk": 99})
        await asyncio.sleep(0.1)
        if is_heard:
            served.line.note_stopped(voice, len("Shall I book table seven? ") * 60)
        await asyncio.sleep(3)
        assert bool(back.sounds) is not is_heard

    run_simulated(scene())


@pytest.mark.req("D-14", "H-02.cut")
@pytest.mark.parametrize("after_s", [0.0, 0.05])  # before and after the new server has taken up the question
def test_a_yes_counts_at_once_if_its_question_was_heard_before_the_takeover(tmp_path: Path, after_s: float):
    async def scene() -> None:
        it = Scene()
        log = tmp_path / "actions.jsonl"
        it.a, it.b = (Node(name, it.store, lambda: make_agent(ActionLog(log, "node"))) for name in "ab")
        served = await it.begin()
        it.store.is_away = True
        typed(served, "order 1001", "1")
        await asyncio.sleep(HOLD_S)
        voice = max(it.page.sounds)
        played_ms = await it.hear(served, it.page)
        served.line.note_finished(voice, played_ms)
        it.a.die()
        served, back = await it.take_over(played={"voice": voice, "ms": played_ms, "chunk": 99, "held": True})
        await asyncio.sleep(after_s)
        typed(served, "yes", "2")
        await asyncio.sleep(2)
        assert len(back.sounds) == 1
        served.line.note_finished(max(back.sounds), await it.hear(served, back))
        await asyncio.sleep(0.1)
        spoken_ms = len("Now 1001 is ordered. ") * CHAR_MS
        assert list(back.sounds.values()) == [spoken_ms], "the question is not said again"
        assert said_in(served)[-1].endswith("Now 1001 is ordered.")
        assert '"done"' in log.read_text()

    run_simulated(scene())


@pytest.mark.req("D-14")
@pytest.mark.parametrize("is_elsewhere", [True, False])
@pytest.mark.parametrize("ms", [100, 250])  # no word, and "I"
def test_an_answer_of_which_next_to_nothing_was_heard_is_said_again(is_elsewhere: bool, ms: int):
    async def scene() -> None:
        it = Scene()
        it.a, it.b = (Node(name, it.store, say_something) for name in "ab")
        served = await it.begin()
        typed(served, "what is it?", "1")
        await asyncio.sleep(0.1)
        voice = max(it.page.sounds)
        heard_ms = await it.hear(served, it.page, ms)
        played = {"voice": voice, "ms": heard_ms, "chunk": 9, "held": True}
        if is_elsewhere:
            await asyncio.sleep(0.2)
            it.a.die()
            served, back = await it.take_over(played=played)
        else:
            served.leave(it.page)  # type: ignore[arg-type]
            await asyncio.sleep(5)
            back = Page()
            assert await it.a.reconnect(back, it.hello(played=played)) is served
        await asyncio.sleep(2)
        assert back.sounds
        served.line.note_finished(max(back.sounds), await it.hear(served, back))
        await asyncio.sleep(0.1)
        assert said_in(served)[-1] == "I found it."

    run_simulated(scene())


# -- The first checkpoint


def test_a_client_learns_of_its_conversation_once_it_is_stored():
    async def scene() -> None:
        it = Scene()
        it.store.write_s = 3.0
        await it.a.open()
        beginning = asyncio.ensure_future(it.a.begin(it.page))
        await asyncio.sleep(2)
        assert not it.page.of("conversation"), "if the server is killed now, its client starts anew"
        assert not it.page.of("state")
        await asyncio.sleep(2)
        assert it.page.of("conversation")
        served = await beginning
        await asyncio.sleep(1)
        assert it.page.of("state")[-1]["state"] == "listening"
        typed(served, "what is it?", "1")
        await asyncio.sleep(1)
        it.a.die()
        it.store.write_s = 0.0
        served, _ = await it.take_over()

    run_simulated(scene())


def test_a_conversation_that_cannot_be_stored_begins_with_the_notice_that_it_is_not():
    async def scene() -> None:
        it = Scene()
        await it.a.open()
        it.store.is_away = True
        await it.a.begin(it.page)
        await asyncio.sleep(10)
        assert it.page.of("state")[-1]["state"] == "listening"
        assert [one["code"] for one in it.page.of("notification")] == ["unsaved"]
        kinds = [one["type"].removeprefix("duologue.") for one in it.page.told]
        assert kinds.index("conversation") < kinds.index("notification") < kinds.index("state")

    run_simulated(scene())


@pytest.mark.parametrize("write_s", [0.0, 60.0])  # the store is away, or a write hangs
def test_a_client_is_told_that_its_conversation_has_ended_although_that_cannot_be_saved(write_s: float):
    async def scene() -> None:
        it = Scene()
        served = await it.begin()
        it.store.write_s, it.store.is_away = write_s, not write_s
        await served.end("nothing was said")
        await asyncio.sleep(20)
        assert [one["reason"] for one in it.page.of("ended")] == ["nothing was said"]
        assert served not in it.a.conversations.served.values(), "its place is free"

    run_simulated(scene())


def test_an_answer_that_waited_for_the_store_leaves_a_slow_client_time_to_play_it():
    async def scene() -> None:
        it = Scene()
        served = await it.begin()
        it.store.is_away = True
        typed(served, "what is it?", "1")
        while not it.page.sounds:
            await asyncio.sleep(0.1)
        await asyncio.sleep(3)
        served.line.note_played(max(it.page.sounds), 100)
        await asyncio.sleep(3)
        assert served.conversation.phase == "speaking"

    run_simulated(scene())
