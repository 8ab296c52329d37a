"""A dialogue that runs: interrupted listeners, crashes, checkpoints and preparation."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest

from duologue.core.errors import DuologueError
from duologue.dialogue.state import Phase
from duologue.flows.dialogue_session import DialogueSession, RecentCheckpoints
from duologue.flows.registry import Registry
from duologue.nlu.cached import CachedNlu
from duologue.nlu.local import LocalNlu
from duologue.nlu.understanding import Intent, MessageScope, Understanding
from duologue.runtime.simulated_clock import run_simulated
from tests.flows.table_session import DOMAIN, Clock, ask, functions, play, said, talk_of
from tests.limits import WAIT_S


@pytest.mark.graveyard(19)
@pytest.mark.req("D-14")
def test_running_work_is_finished_when_the_caller_stops_listening() -> None:
    done: list[int] = []

    async def reserve() -> dict[str, int]:
        await asyncio.sleep(2)
        done.append(7)
        return {"number": 7}

    async def scene(talk: DialogueSession) -> None:
        await said(talk, "book a table")
        reply = talk.hear("four")
        waiting = asyncio.ensure_future(anext(reply, None))  # type: ignore[call-overload]
        await asyncio.sleep(1)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await talk.settled()
        assert done == [7]
        assert (await said(talk, "help"))[0] == "Table 7."

    play(scene, reserve=reserve)


def test_a_message_while_an_action_runs_is_processed_next() -> None:
    async def reserve() -> dict[str, int]:
        await asyncio.sleep(2)
        return {"number": 7}

    async def scene(talk: DialogueSession) -> None:
        await said(talk, "book a table")
        first = asyncio.ensure_future(said(talk, "four"))
        await asyncio.sleep(1)
        second = await said(talk, "help")
        heard = [*await first, *second]
        assert "Table 7." in heard
        assert any("I can help you with" in text for text in heard)

    play(scene, reserve=reserve)


class Broken:
    async def understand(self, message: str, scope: MessageScope) -> Understanding:
        raise RuntimeError("no model")


@pytest.mark.req("D-11", "D-17")
def test_a_failing_nlu_is_an_error_and_plain_answers_still_work() -> None:
    async def main() -> None:
        talk = talk_of(functions(), nlu=Broken())
        await said(talk, "book a table")
        assert talk.state.phase is Phase.ERROR
        [item async for item in talk.hear("cancel")]
        [item async for item in talk.start("book")]
        assert await said(talk, "four") == ["Table 7."]

    run_simulated(main())


@pytest.mark.req("D-13")
def test_the_state_is_saved_before_an_action_begins() -> None:
    store = RecentCheckpoints()
    seen: list[Any] = []

    def reserve() -> dict[str, int]:
        seen.append(json.loads(json.dumps(store.saved["c"])))
        return {"number": 7}

    async def main() -> None:
        await ask(talk_of(functions(reserve=reserve), store=store, conversation="c"))

    run_simulated(main())
    assert seen[0]["phase"] == "executing_action"
    assert seen[0]["stack"][0]["slots"]["people"]["value"] == 4


@pytest.mark.req("D-14", "D-13")
def test_a_crash_in_an_action_runs_it_again_with_its_key() -> None:
    store, keys = RecentCheckpoints(), list[str]()

    async def reserve(key: str) -> dict[str, int]:
        keys.append(key)
        if len(keys) == 1:
            await asyncio.Event().wait()  # the process dies here
        return {"number": 7}

    async def main() -> None:
        first = talk_of(functions(reserve=reserve), store=store, conversation="c")
        await said(first, "book a table")
        asyncio.ensure_future(said(first, "four"))  # noqa: RUF006 - it is abandoned on purpose
        await asyncio.sleep(1)
        second = talk_of(functions(reserve=reserve), store=store, conversation="c")
        assert await second.restore()
        await second.settled()
        assert second.state.phase is Phase.IDLE
        assert second.state.slots["number"] == 7
        assert keys[0] == keys[1]

    run_simulated(main())


class Counting:
    """Understands nothing, and counts how often it is asked."""

    def __init__(self) -> None:
        self.calls = 0

    async def understand(self, message: str, scope: MessageScope) -> Understanding:
        self.calls += 1
        return Understanding()


@pytest.mark.req("D-15")
def test_the_same_message_within_a_second_is_understood_once() -> None:
    async def main() -> None:
        nlu, clock = Counting(), Clock()
        talk = DialogueSession(DOMAIN, Registry(functions()), nlu, today=lambda: "2026-03-04", now=clock)
        await said(talk, "what do you think of the moon")
        await said(talk, "what do you think of the moon")
        assert nlu.calls == 1
        clock.ms += 1_100
        await said(talk, "what do you think of the moon")
        assert nlu.calls == 2

    run_simulated(main())


class Learning:
    """Counts which scopes it learned before a message, and which with one."""

    def __init__(self) -> None:
        self.prepared: list[frozenset[str]] = []
        self.late: list[frozenset[str]] = []

    def prepare(self, *scopes: MessageScope) -> None:
        self.prepared += [names_of(scope) for scope in scopes]

    async def understand(self, message: str, scope: MessageScope) -> Understanding:
        if names_of(scope) not in self.prepared:
            self.late.append(names_of(scope))
        return Understanding()


def names_of(scope: MessageScope) -> frozenset[str]:
    return frozenset(intent.name for intent in scope.intents)


def test_nlu_prepares_for_the_next_message() -> None:
    nlu = Learning()

    async def main() -> None:
        talk = talk_of(functions(), nlu=nlu)
        talk.prepare()
        await asyncio.sleep(0.1)
        await said(talk, "something else")
        async for _ in talk.start("book"):
            pass
        await asyncio.sleep(0.1)
        await said(talk, "something else again")

    run_simulated(main())
    assert len(set(nlu.prepared)) == 2
    assert nlu.late == []


def test_an_nlu_that_cannot_prepare_does_no_harm() -> None:
    class Broken(Learning):
        def prepare(self, *scopes: MessageScope) -> None:
            raise OSError("no model")

    async def main() -> None:
        talk = talk_of(functions(), nlu=Broken())
        talk.prepare()
        assert await said(talk, "hello there you")

    run_simulated(main())


def test_preparing_does_not_block_the_conversation() -> None:
    learning, go_on, learned = threading.Event(), threading.Event(), threading.Event()

    class Slow(LocalNlu):
        def prepare(self, *scopes: MessageScope) -> None:
            learning.set()
            go_on.wait(WAIT_S)
            learned.set()

    async def main() -> None:
        talk = talk_of(functions(), nlu=Slow(words_only=True))
        talk.prepare()
        assert await asyncio.to_thread(learning.wait, 30)
        assert await said(talk, "book a table")
        assert not learned.is_set()
        go_on.set()

    asyncio.run(main())


def test_a_preparation_for_which_there_is_no_place_is_left_out() -> None:
    go_on = threading.Event()

    class Slow(LocalNlu):
        def prepare(self, *scopes: MessageScope) -> None:
            go_on.wait(WAIT_S)

    async def main() -> None:
        talks = [talk_of(functions(), nlu=Slow(words_only=True)) for _ in range(9)]  # all of one owner
        for talk in talks:
            talk.prepare()
        assert await said(talks[-1], "book a table")
        go_on.set()

    asyncio.run(main())


def test_a_flow_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(DuologueError, match="unknown flow 'bok'; known: book"):
        talk_of(functions()).start("bok")


@pytest.mark.req("D-03")
def test_a_flow_that_is_started_while_another_is_open_is_refused_and_changes_nothing() -> None:
    async def scene(talk: DialogueSession) -> None:
        [item async for item in talk.start("book")]
        before = talk.state
        with pytest.raises(
            DuologueError, match="'book' can't be started now: the dialogue is waiting_for_slot, in flow"
        ):
            talk.start("book", people=4)
        assert talk.state is before
        assert await said(talk, "four") == ["Table 7."]
        assert [item async for item in talk.start("book", people=2)]

    play(scene)


@pytest.mark.req("D-14")
def test_work_that_failed_is_started_again_with_the_next_message() -> None:
    """The store failed in the middle: the request is still open, and no work is running."""

    class Failing(RecentCheckpoints):
        fails = True

        async def save(self, conversation: str, checkpoint: dict[str, Any], reasons: tuple[str, ...]) -> None:
            if "before_action" in reasons and self.fails:
                self.fails = False
                raise OSError("the disk is full")

    async def main() -> None:
        talk = talk_of(functions(), store=Failing())
        await said(talk, "book a table")
        with pytest.raises(OSError, match="full"):
            await said(talk, "four")
        assert talk.state.phase is Phase.EXECUTING_ACTION
        assert "Table 7." in await said(talk, "hello?")

    run_simulated(main())


@pytest.mark.req("D-15")
def test_nlu_is_called_once_for_the_same_message_within_a_second() -> None:
    asked: list[str] = []
    clock = [0]

    class Counting:
        async def understand(self, message: str, scope: MessageScope) -> Understanding:
            asked.append(message)
            return Understanding()

    async def run() -> None:
        nlu, scope = CachedNlu(Counting(), lambda: clock[0]), MessageScope((Intent("a", ("a",)),))
        for now in (0, 999, 2_500):
            clock[0] = now
            await nlu.understand("hello", scope)

    asyncio.run(run())
    assert asked == ["hello", "hello"]
