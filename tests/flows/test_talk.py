"""A dialogue that runs: functions that fail, hang or talk nonsense, people who leave, and checkpoints."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from duologue.core.errors import DuologueError
from duologue.dialogue.effects import Respond
from duologue.dialogue.state import Phase
from duologue.flows import parse_flows
from duologue.flows.dialogue_session import DialogueSession, RecentCheckpoints
from duologue.flows.registry import AskFirst, MissingFunctions, Need, Registry
from duologue.nlu.local import LocalNlu
from duologue.nlu.understanding import MessageScope, Understanding
from duologue.runtime.simulated_clock import run_simulated

FLOWS = """
version: 1
slots:
  people: {type: number, prompt: "How many?", validator: fits, normaliser: rounded}
  day: {type: date, prompt: "When?"}
flows:
  book:
    description: book a table
    examples: [book a table, a table please, I want a table]
    steps:
      - collect: people
      - action: reserve
        outputs: [number]
    completed: "Table {number}."
"""
DOMAIN = parse_flows(FLOWS)
Functions = dict[str, Callable[..., Any]]


class Clock:
    def __init__(self) -> None:
        self.ms = 0

    def __call__(self) -> int:
        self.ms += 1
        return self.ms


def functions(**more: Any) -> Functions:
    return {"fits": lambda value: True, "rounded": lambda value: value, "reserve": lambda: {"number": 7}, **more}


def talk_of(given: Functions, **more: Any) -> DialogueSession:
    nlu = more.pop("nlu", None) or LocalNlu(words_only=True)
    return DialogueSession(DOMAIN, Registry(given), nlu, today=lambda: "2026-03-04", now=Clock(), **more)


async def said(talk: DialogueSession, text: str) -> list[str]:
    return [item.text async for item in talk.hear(text) if isinstance(item, Respond)]


def play(scene: Callable[[DialogueSession], Coroutine[Any, Any, None]], **given: Any) -> None:
    async def main() -> None:
        await scene(talk_of(functions(**given)))

    run_simulated(main())


async def ask(talk: DialogueSession) -> list[str]:
    await said(talk, "book a table")
    return await said(talk, "four")


# -- Validators and normalisers


@pytest.mark.req("D-06")
@pytest.mark.parametrize(
    ("validator", "told"),
    [
        (lambda value: False, "doesn't work"),
        (lambda value: "We have only three chairs.", "We have only three chairs."),
        (lambda people: people < 4 or "Too many.", "Too many."),
    ],
    ids=["false", "a reason", "a name of its own"],
)
def test_a_refused_value_is_not_written_and_asked_for_again(validator: Callable[..., Any], told: str) -> None:
    async def scene(talk: DialogueSession) -> None:
        heard = await ask(talk)
        assert told in " ".join(heard)
        assert heard[-1] == "How many?"
        assert talk.state.slots == {}
        assert talk.state.waiting_for == "people"

    play(scene, fits=validator)


def test_a_value_error_refuses_too() -> None:
    def fits(value: int) -> None:
        raise ValueError("Never on a Monday.")

    async def scene(talk: DialogueSession) -> None:
        assert "Never on a Monday." in await ask(talk)

    play(scene, fits=fits)


def test_a_normalised_value_is_written() -> None:
    async def scene(talk: DialogueSession) -> None:
        await ask(talk)
        assert talk.state.slots["people"] == 40

    play(scene, rounded=lambda value: value * 10)


@pytest.mark.req("D-11")
@pytest.mark.parametrize("name", ["fits", "rounded"])
def test_a_validator_that_breaks_is_an_error_that_can_be_retried(name: str) -> None:
    calls: list[int] = []

    def broken(value: int) -> Any:
        calls.append(value)
        if len(calls) == 1:
            raise RuntimeError("the database is away")
        return value if name == "rounded" else True

    async def scene(talk: DialogueSession) -> None:
        assert "retry" in " ".join(await ask(talk))
        assert talk.state.phase is Phase.ERROR
        assert talk.state.trouble is not None
        assert (talk.state.trouble.type, talk.state.trouble.recovery) == ("RuntimeError", Phase.VALIDATING_SLOT)
        assert await said(talk, "retry") == ["Table 7."]

    play(scene, **{name: broken})


# -- Actions


async def hanging() -> None:
    await asyncio.Event().wait()


def test_a_function_that_fails_is_named_in_the_log_and_nothing_that_was_said(caplog: pytest.LogCaptureFixture) -> None:
    def reserve() -> None:
        raise LookupError("four people on Friday")

    async def scene(talk: DialogueSession) -> None:
        await ask(talk)

    play(scene, reserve=reserve)
    assert [one.getMessage() for one in caplog.records if one.levelname == "WARNING"] == [
        "action reserve failed: LookupError"
    ]


@pytest.mark.graveyard(24)
@pytest.mark.req("D-11", "D-08")
@pytest.mark.parametrize(
    ("reserve", "kind"),
    [
        (lambda: 1 / 0, "ZeroDivisionError"),
        (lambda: "yes", "TypeError"),
        (lambda: {1: 2}, "TypeError"),
        (lambda: {"number": {1, 2}}, "TypeError"),
        (hanging, "TimeoutError"),
    ],
    ids=["raises", "returns a text", "returns odd keys", "returns no JSON", "hangs"],
)
def test_an_action_that_fails_never_falls_through(reserve: Callable[..., Any], kind: str) -> None:
    async def scene(talk: DialogueSession) -> None:
        heard = await ask(talk)
        assert not any("Table" in text for text in heard)
        assert talk.state.phase is Phase.ERROR
        assert talk.state.trouble is not None
        assert talk.state.trouble.type == kind
        assert "leave it" in " ".join(await said(talk, "cancel"))
        assert talk.state.phase is Phase.IDLE

    play(scene, reserve=reserve)


@pytest.mark.req("D-14")
def test_a_retry_has_the_same_key_and_another_booking_another_one() -> None:
    keys: list[str] = []

    def reserve(key: str) -> dict[str, int]:
        keys.append(key)
        if len(keys) == 1:
            raise TimeoutError
        return {"number": len(keys)}

    async def scene(talk: DialogueSession) -> None:
        await ask(talk)
        assert await said(talk, "try again") == ["Table 2."]
        await ask(talk)
        assert keys[0] == keys[1] != keys[2]

    play(scene, reserve=reserve)


@pytest.mark.req("D-08")
def test_an_action_may_need_another_slot_first() -> None:
    async def scene(talk: DialogueSession) -> None:
        assert await ask(talk) == ["When?"]
        assert await said(talk, "tomorrow") == ["Table 7."]
        assert talk.state.slots["day"] == "2026-03-05"

    play(scene, reserve=lambda day=None: {"number": 7} if day else Need("day"))


@pytest.mark.req("D-08", "D-09")
@pytest.mark.parametrize(("answer", "told"), [("yes", ["Table 7."]), ("no", ["All right, let's leave it."])])
def test_an_action_may_ask_for_a_yes_first(answer: str, told: list[str]) -> None:
    def reserve(confirmed: bool) -> Any:
        return {"number": 7} if confirmed else AskFirst("That costs ten euros. Shall I?")

    async def scene(talk: DialogueSession) -> None:
        assert await ask(talk) == ["That costs ten euros. Shall I?"]
        assert talk.state.phase is Phase.CONFIRMING
        assert await said(talk, answer) == told

    play(scene, reserve=reserve)


def test_an_action_that_asks_for_what_it_has_is_an_error_and_no_circle() -> None:
    async def scene(talk: DialogueSession) -> None:
        await ask(talk)
        assert talk.state.trouble is not None
        assert talk.state.trouble.type == "ActionGoesRound"

    play(scene, reserve=lambda: Need("people"))


def test_functions_that_are_missing_are_told_at_once() -> None:
    with pytest.raises(MissingFunctions, match="function 'reserve' isn't registered; did you mean 'reserves'"):
        talk_of({"fits": print, "rounded": print, "reserves": print})


# -- People who leave, and people who go on talking


@pytest.mark.graveyard(19)
@pytest.mark.req("D-14")
def test_work_that_has_begun_is_finished_though_nobody_listens_and_its_words_come_next() -> None:
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


def test_what_is_said_while_an_action_runs_is_heard_next() -> None:
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


# -- Understanding that fails


class Broken:
    async def understand(self, message: str, scope: MessageScope) -> Understanding:
        raise RuntimeError("no model")


@pytest.mark.req("D-11", "D-17")
def test_an_nlu_that_raises_is_an_error_and_plain_answers_go_on() -> None:
    async def main() -> None:
        talk = talk_of(functions(), nlu=Broken())
        await said(talk, "book a table")
        assert talk.state.phase is Phase.ERROR
        [item async for item in talk.hear("cancel")]
        [item async for item in talk.start("book")]
        assert await said(talk, "four") == ["Table 7."]

    run_simulated(main())


# -- Checkpoints


@pytest.mark.req("D-13")
def test_the_state_is_saved_before_an_action_begins() -> None:
    store = RecentCheckpoints()
    seen: list[Any] = []

    def reserve() -> dict[str, int]:
        seen.append(json.loads(json.dumps(store.kept["c"])))
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
        asyncio.ensure_future(said(first, "four"))  # noqa: RUF006 - nobody will ever see it again
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


# -- Ready before anybody speaks


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


def test_what_may_be_meant_next_is_learned_before_somebody_says_it() -> None:
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


def test_learning_does_not_hold_up_the_conversation() -> None:
    learning, go_on = threading.Event(), threading.Event()

    class Slow(LocalNlu):
        def prepare(self, *scopes: MessageScope) -> None:
            learning.set()
            assert go_on.wait(30)
            super().prepare(*scopes)

    async def main() -> None:
        talk = talk_of(functions(), nlu=Slow(words_only=True))
        talk.prepare()
        assert await asyncio.to_thread(learning.wait, 30)
        assert await said(talk, "book a table")  # meanwhile
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
def test_work_that_nobody_is_at_any_more_is_taken_up_with_the_next_message() -> None:
    """The store failed in the middle: the request is still open, and nobody works on it."""

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
