"""For every notice: one conversation in which it is true and shown, and a similar one in which it would be false and
isn't shown. A notice without both fails the first test."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.core import events as ev
from duologue.core.leaves import ErrorClass, FaultSource, Link, Timer, Voice
from duologue.core.settings import POLICIES
from duologue.lab.sim.stage import Stage
from duologue.observe.notices import NOTICE_ROWS
from duologue.observe.recorder import Recorder
from duologue.phrases.texts import notice
from duologue.ports.ears import Heard, Incoming
from duologue.ports.scripted_steps import Fail
from duologue.ports.sound import Sound
from duologue.ports.tool_call import ToolCall
from duologue.runtime.agent import Agent
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.client_messages import ClientMessage
from duologue.testing import ScriptedVoice
from duologue.workers.function_tools import tool
from tests.observe.test_notices import asking, come_back, faulted, lost, shown
from tests.server.moving_nodes import Node, Page, store_here
from tests.server.running_server import RunningServer, serve
from tests.server.test_leases import away_store

E, P, T = ErrorClass, FaultSource, Timer


class Shown(NamedTuple):
    """What identifies a row of the table, as far as a client sees it."""

    code: str
    fatal: bool = False


Case = Callable[[], list[Shown]]
TRUE: dict[Shown, Case] = {}
FALSE: dict[Shown, Case] = {}


def case(table: dict[Shown, Case], *keys: Shown) -> Callable[[Case], Case]:
    def add(made: Case) -> Case:
        for key in keys:
            assert key not in table, key
            table[key] = made
        return made

    return add


def of(stage: Stage) -> list[Shown]:
    return [Shown(one.code, one.fatal) for one in shown(stage)]


def on_page(page: Page) -> list[Shown]:
    for one in page.of("notification"):
        assert one["message"], one
    return [Shown(one["code"], one["fatal"]) for one in page.of("notification")]


# -- Faults


def fails_at_start(error: ErrorClass, **changes: object) -> list[Shown]:
    """The session can't be opened."""
    stage = Stage(replace(asking().settings, **changes))  # type: ignore[arg-type]
    stage.happen(ev.StartRequested)
    stage.happen(ev.SessionFailed, error=error)
    assert stage.state.link is Link.FAULTED
    return of(stage)


def tool_fails(error: ErrorClass) -> list[Shown]:
    """A tool fails with this class. The brain is told, and nothing in the conversation has failed."""
    stage = asking()
    call = stage.call_tool()
    stage.happen(ev.JobFailed, call=call, error=error)
    assert stage.state.link is Link.UP
    return of(stage)


def expires_in_a_call() -> list[Shown]:
    """A session that expires is replaced, which is no fault."""
    stage = asking()
    stage.happen(ev.ServiceFailed, part=P.SESSION, error=E.SESSION_EXPIRED)
    assert stage.state.link is Link.BACKING_OFF
    return of(stage)


def retried(error: ErrorClass) -> list[Shown]:
    stage = asking()
    stage.fail_reply(error)
    assert stage.state.link is Link.UP
    return of(stage)


for error in ErrorClass:
    recoverable, final = Shown(error.value), Shown(error.value, fatal=True)
    if not POLICIES[error].ends:
        case(TRUE, recoverable)(lambda error=error: fails_at_start(error))  # type: ignore[misc]
        case(TRUE, final)(lambda error=error: fails_at_start(error, faults_max=1))  # type: ignore[misc]
        case(FALSE, final)(lambda error=error: fails_at_start(error))  # type: ignore[misc]
for error in (E.RATE_LIMIT, E.NETWORK_TIMEOUT, E.SERVER_ERROR):
    case(FALSE, Shown(error.value))(lambda error=error: retried(error))  # type: ignore[misc]
for error in (E.TOOL_ERROR, E.INVALID_ARGS, E.UNKNOWN):
    case(FALSE, Shown(error.value))(lambda error=error: tool_fails(error))  # type: ignore[misc]
case(FALSE, Shown("SESSION_EXPIRED"))(expires_in_a_call)
case(TRUE, Shown("AUTH_FAILURE", fatal=True))(lambda: fails_at_start(E.AUTH_FAILURE))
case(FALSE, Shown("AUTH_FAILURE", fatal=True))(lambda: tool_fails(E.AUTH_FAILURE))


@case(TRUE, Shown("stalled"))
def sound_stops_arriving() -> list[Shown]:
    stage = asking()
    stage.think()
    stage.speak(400)
    stage.wait_for(T.STALL)
    return of(stage)


@case(FALSE, Shown("stalled"), Shown("long_speech"))
def sound_arrives_slowly() -> list[Shown]:
    stage = asking(long_speech_ms=3_600_000)
    stage.think()
    stage.speak(400)
    for heard_ms in range(500, 3_000, 500):
        stage.wait(stage.settings.stall_ms_max - 1)
        stage.happen(ev.PlaybackProgressed, heard_ms=heard_ms)
    assert stage.state.voice is Voice.PLAYING
    return of(stage)


@case(TRUE, Shown("not_restored"))
def nothing_brings_the_line_back() -> list[Shown]:
    stage = lost()
    stage.wait(stage.settings.reconnect_ms_max)
    assert stage.state.link is Link.FAULTED
    return of(stage)


@case(FALSE, Shown("not_restored"))
@case(TRUE, Shown("restored"))
def the_second_attempt_brings_the_line_back() -> list[Shown]:
    stage = lost()
    stage.wait_for(T.BACKOFF)
    stage.happen(ev.SessionFailed, error=E.NETWORK_TIMEOUT)
    come_back(stage)
    assert stage.state.link is Link.UP
    return of(stage)


@case(FALSE, Shown("restored"))
def the_session_is_renewed() -> list[Shown]:
    stage = asking()
    stage.answer()
    stage.wait_for(T.SESSION_LIMIT)
    stage.happen(ev.SessionReady)
    return of(stage)


@case(TRUE, Shown("recovered"))
def an_answer_is_heard_after_the_fault() -> list[Shown]:
    stage = faulted()
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)
    stage.wait_for(T.BEAT)
    stage.answer()
    return of(stage)


@case(FALSE, Shown("recovered"))
@case(TRUE, Shown("lost"))
def the_fault_is_only_dismissed() -> list[Shown]:
    stage = faulted()
    stage.happen(ev.DismissRequested)
    stage.happen(ev.SessionReady)
    assert stage.state.answered == 1
    return of(stage)


@case(FALSE, Shown("lost"))
def the_question_is_asked_again_by_itself() -> list[Shown]:
    stage = faulted()
    stage.wait_for(T.DISMISS)
    stage.happen(ev.SessionReady)
    stage.wait_for(T.BEAT)
    stage.answer()
    return of(stage)


# -- Long turns, long speeches and pauses


def talking(for_ms: int) -> list[Shown]:
    stage = Stage(replace(asking().settings, talk_ms_max=5_000))
    stage.start()
    stage.begin_talking()
    stage.hear_words()
    stage.wait(for_ms)
    return of(stage)


case(TRUE, Shown("long_turn"))(lambda: talking(5_000))
case(FALSE, Shown("long_turn"))(lambda: talking(4_999))


@case(TRUE, Shown("long_speech"))
def an_answer_takes_long() -> list[Shown]:
    stage = asking(long_speech_ms=1_000)
    stage.think()
    stage.speak(2_000)
    return of(stage)


def paused(ends: Callable[[Stage], object]) -> list[Shown]:
    stage = asking(suspend_ms_max=30_000)
    stage.answer()
    stage.happen(ev.SuspendRequested)
    ends(stage)
    assert stage.state.link is Link.TERMINATING
    return of(stage)


case(TRUE, Shown("pause_over"))(lambda: paused(lambda stage: stage.wait_for(T.SUSPEND)))
case(FALSE, Shown("pause_over"))(lambda: paused(lambda stage: stage.happen(ev.EndRequested)))


# -- Problems of the parts, as a client of a server is told of them


class BrokenEars:
    """Ears that fail when they hear the first sound."""

    def listen(self, incoming: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        async def broken() -> AsyncIterator[Heard]:
            async for _ in incoming:
                raise ConnectionError("no ears")
            return
            yield

        return broken()


class BrokenVoice:
    async def speak(self, text: str) -> AsyncIterator[Sound]:
        raise ConnectionError("no voice")
        yield Sound(1)


@tool
async def look_up(word: str) -> str:
    """Looks something up."""
    raise OSError(f"{word} isn't there")


async def told(agent: Agent, journals: Path | None = None) -> list[Shown]:
    """What a client of this agent is told, after it has typed and made a sound."""
    node, page = Node("a", store_here(), lambda: agent, journals), Page()
    await node.open()
    served = await node.begin(page)
    served.do(ClientMessage("type", {"text": "what is it?", "id": "1"}))
    served.line.hear(bytes(640))
    await asyncio.sleep(1.0)
    found = on_page(page)
    node.die()
    return found


def answering(*answers: Any, **more: Any) -> Agent:
    return Agent(ScriptedBrain(list(answers) or ["An answer."]), **{"voice": ScriptedVoice(), **more})


def brain_fails() -> list[Shown]:
    return run_simulated(told(answering([Fail(E.SERVER_ERROR)], "An answer.")))


case(TRUE, Shown("problem_ears"))(lambda: run_simulated(told(answering(ears=BrokenEars()))))
case(FALSE, Shown("problem_ears"))(brain_fails)
case(TRUE, Shown("problem_voice"))(lambda: run_simulated(told(answering(voice=BrokenVoice()))))
case(FALSE, Shown("problem_voice"))(brain_fails)
case(TRUE, Shown("problem_tools"))(
    lambda: run_simulated(told(answering([ToolCall("look_up", {"word": "it"})], "An answer.", tools=[look_up])))
)
case(FALSE, Shown("problem_tools"))(  # the brain names an argument that the tool doesn't have
    lambda: run_simulated(told(answering([ToolCall("look_up", {"what": "it"})], "An answer.", tools=[look_up])))
)


def recorded(is_disk_full: bool) -> list[Shown]:
    full = mock.patch.object(Recorder, "add", side_effect=OSError(28, "No space left on device"))
    with tempfile.TemporaryDirectory() as folder, full if is_disk_full else contextlib.nullcontext():
        return run_simulated(told(answering(), Path(folder)))


case(TRUE, Shown("problem_journal"))(lambda: recorded(is_disk_full=True))
case(FALSE, Shown("problem_journal"))(lambda: recorded(is_disk_full=False))


# -- Saving, stopping, and clients that come too late


def with_store(comes_back: bool, is_away: bool = True) -> list[Shown]:
    async def scene() -> list[Shown]:
        store = away_store()
        node, page = Node("a", store, answering), Page()
        await node.open()
        store.is_away = is_away
        await node.begin(page)
        store.is_away = is_away and not comes_back
        await asyncio.sleep(4.0)
        return on_page(page)

    return run_simulated(scene())


case(TRUE, Shown("unsaved"))(lambda: with_store(comes_back=False))
case(FALSE, Shown("unsaved"))(lambda: with_store(comes_back=True, is_away=False))
case(TRUE, Shown("saved_again"))(lambda: with_store(comes_back=True))
case(FALSE, Shown("saved_again"))(lambda: with_store(comes_back=False))


def ended_by(drain: bool) -> list[Shown]:
    found: list[Shown] = []

    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        draining = asyncio.ensure_future(running.conversations.drain()) if drain else None
        if draining is not None:
            await client.expect("notification")
        await client.send("end")
        await client.expect("ended")
        if draining is not None:
            await draining
        found.extend(Shown(one["code"], one["fatal"]) for one in client.told("notification"))

    serve(script)
    return found


case(TRUE, Shown("stopping"))(lambda: ended_by(drain=True))
case(FALSE, Shown("stopping"))(lambda: ended_by(drain=False))


def come_back_to(is_over: bool) -> list[Shown]:
    found: list[Shown] = []

    async def script(running: RunningServer) -> None:
        first = await running.connect()
        began = await first.begin("alice")
        if is_over:
            await first.send("end")
            await first.expect("ended")
        second = await running.connect()
        await second.hello("alice", conversation=began["conversation"], key=began["key"])
        await second.expect("notification" if is_over else "conversation")
        found.extend(Shown(one["code"], one["fatal"]) for one in second.told("notification"))

    serve(script)
    return found


case(TRUE, Shown("gone"))(lambda: come_back_to(is_over=True))
case(FALSE, Shown("gone"))(lambda: come_back_to(is_over=False))


# -- The tests


@pytest.mark.req("H-11.so")
def test_every_notice_has_a_case_in_which_it_is_true_and_one_in_which_it_would_be_false() -> None:
    rows = {Shown(row.code, row.fatal) for row in NOTICE_ROWS}
    assert TRUE.keys() == rows
    assert FALSE.keys() == rows


@pytest.mark.req("H-11.so")
@pytest.mark.parametrize("key", sorted(TRUE), ids=str)
def test_a_notice_is_shown_when_it_is_true(key: Shown) -> None:
    assert key in TRUE[key]()


@pytest.mark.req("H-11.so")
@pytest.mark.parametrize("key", sorted(FALSE), ids=str)
def test_a_notice_is_not_shown_when_it_would_be_false(key: Shown) -> None:
    assert key not in FALSE[key]()


@pytest.mark.req("H-11.so")
@pytest.mark.parametrize("row", NOTICE_ROWS, ids=lambda row: f"{row.code} {row.fatal}")
def test_a_notice_has_a_text_and_offers_only_what_a_client_can_do(row: Any) -> None:
    assert notice("en", row.text, part="voice", said="a table").strip()
    assert set(row.actions) <= {"retry", "dismiss", "restart"}
