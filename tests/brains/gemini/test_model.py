"""The model beside a conversation: bad arguments, sessions that are closed, set phrases."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue import Agent, DuologueError, GeminiLive, ServiceError
from duologue.brains.gemini import GeminiSettings
from duologue.ears.scripted import ScriptedEars
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.ports import Closed, Healed, Wobbled
from duologue.ports.brain import Request
from duologue.testing.gemini import BreakDown, GeminiServer
from tests.limits import WAIT_S


def test_ears_must_listen() -> None:
    with pytest.raises(TypeError, match="such as LocalEars"):
        GeminiLive(ears=object())  # type: ignore[arg-type]


def test_the_ears_say_what_they_transcribe_and_whether_they_are_loaded() -> None:
    class Loading(ScriptedEars):
        languages = frozenset({"en"})
        is_ready = False

        async def prepare(self) -> None:
            self.is_ready = True

    ears = Loading()
    model = GeminiLive(ears=ears)
    assert model.languages == {"en"}
    assert not model.is_ready
    run_jumping(model.prepare())
    assert model.is_ready
    assert GeminiLive().is_ready
    assert GeminiLive(ears=ScriptedEars()).languages is None
    with pytest.raises(DuologueError, match="language"):
        Agent(model, language="de", profile="confirm")


def test_a_reply_without_a_session_fails_as_a_lost_connection() -> None:
    async def run() -> None:
        async for _ in GeminiLive(api_key="x").reply(Request(1, "hello")):
            pass

    with pytest.raises(ServiceError, match="can't be reached"):
        run_jumping(run())


def test_a_set_phrase_is_spoken_without_a_session_and_leaves_no_connection() -> None:
    async def run() -> tuple[int, list[Any]]:
        async with GeminiServer() as server:
            model = GeminiLive(url=server.url)
            ms = 0
            async for sound in model.speak("Good day!"):
                ms += sound.ms
                assert sound.text == ""
            left = [task for task in asyncio.all_tasks() if task.get_name().startswith("gemini")]
            return ms, left

    assert run_jumping(run()) == (200, [])


def test_a_set_phrase_that_fails_raises() -> None:
    async def run() -> None:
        server = GeminiServer(otherwise=BreakDown())
        server.closes = [(1011, "internal")]
        async with server:
            async for _ in GeminiLive(url=server.url).speak("Good day!"):
                pass

    with pytest.raises(ServiceError, match="failed"):
        run_jumping(run())


def test_a_closed_session_reports_nothing_any_more() -> None:
    async def run() -> list[Wobbled | Healed | Closed]:
        reported: list[Wobbled | Healed | Closed] = []
        async with GeminiServer() as server:
            model = GeminiLive(url=server.url)
            await model.open(None, reported.append)
            await model.close()
            server.session.hang_up()
            await model.open(None, reported.append)
            server.session.hang_up()
            async with asyncio.timeout(WAIT_S):
                while not reported:
                    await asyncio.sleep(0.005)
            await model.close()
        return reported

    assert run_jumping(run()) == [Closed()]


def test_a_new_conversation_does_not_resume_the_last_one() -> None:
    async def run() -> list[Any]:
        async with GeminiServer() as server:
            model = GeminiLive(url=server.url, settings=GeminiSettings(voice="Kore"))
            await model.open(None, lambda event: None)
            await server.session.offer_handle()
            async for _ in model.reply(Request(1, "hello")):
                pass
            await model.close()
            await model.open(None, lambda event: None)
            await model.close()
            return [one["sessionResumption"] for one in server.got("setup")]

    assert run_jumping(run()) == [{}, {}]
