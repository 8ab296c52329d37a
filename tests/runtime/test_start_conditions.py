"""A start is refused while the session is inactive or about to expire, or the line isn't ready, and says why."""

from __future__ import annotations

import time
from typing import Any

import pytest

from duologue.brains.realtime import RealtimeModel
from duologue.core.settings import profile
from duologue.lines.scripted import ScriptedLine
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation, StartRefused
from duologue.runtime.simulated_clock import run_simulated
from duologue.runtime.start_conditions import StartConditions
from duologue.testing import ScriptedBrain, ScriptedSession
from tests.runtime.runtime_fakes import Stage, play


@pytest.mark.req("C-INT-001")
@pytest.mark.parametrize(
    ("life", "why"),
    [
        ({"active": False}, "^the session is not active$"),
        ({"active": False, "left_ms": 600_000}, "^the session is not active$"),
        ({"left_ms": 0}, "^the session expires in 0 s: renew it before the start$"),
        ({"left_ms": 30_000}, "^the session expires in 30 s: renew it before the start$"),
        ({"left_ms": 30_001}, None),
        ({"left_ms": None}, None),
    ],
)
def test_a_start_is_refused_while_the_session_reports_that_it_is_inactive_or_about_to_expire(
    life: dict[str, Any], why: str | None
) -> None:
    session = ScriptedSession()

    async def scene(stage: Stage) -> None:
        await stage.conversation.initialize()
        session.report_life(**life)
        if why is not None:
            with pytest.raises(StartRefused, match=why):
                await stage.conversation.start()
            assert (stage.state, session.opens) == ("idle", 0)
            session.report_life(left_ms=900_000)  # it was renewed
        await stage.conversation.start()
        assert (stage.state, session.opens) == ("listening", 1)

    play(scene, ScriptedBrain(), start=False, session=lambda: session)
    assert session.followers == [], "the session is left when the conversation is over"


@pytest.mark.req("C-INT-001")
def test_the_time_that_a_session_has_left_passes_while_the_start_is_prepared() -> None:
    session = ScriptedSession()

    async def scene(stage: Stage) -> None:
        session.report_life(left_ms=60_000)
        await stage.conversation.initialize()
        await stage.sleep(40_000)
        with pytest.raises(StartRefused, match="expires in 20 s"):
            await stage.conversation.start()

    play(scene, ScriptedBrain(), start=False, session=lambda: session)


@pytest.mark.req("C-INT-001")
def test_how_much_of_its_life_a_session_needs_follows_from_its_limits() -> None:
    session = ScriptedSession()

    async def scene(stage: Stage) -> None:
        session.report_life(left_ms=50_000)
        with pytest.raises(StartRefused, match="expires in 50 s"):
            await stage.conversation.start()
        session.report_life(left_ms=70_000)
        await stage.conversation.start()

    limits = profile("confirm", session_ms_max=600_000, session_warning_ms=540_000)
    play(scene, ScriptedBrain(), start=False, session=lambda: session, profile=limits)


@pytest.mark.req("C-INT-001")
def test_a_start_with_a_key_that_is_about_to_expire_is_refused_and_connects_to_nothing() -> None:
    async def dial(url: str, headers: dict[str, str]) -> Any:
        raise AssertionError(url)

    async def scene() -> None:
        model = RealtimeModel(api_key="secret", key_expires_at=time.time() + 10, wire=dial)
        with pytest.raises(StartRefused, match="the session expires in"):
            await Conversation(Agent(model), ScriptedLine()).start()

    run_simulated(scene())


def test_every_problem_is_named_at_once() -> None:
    line = ScriptedLine()
    conditions = StartConditions(ScriptedSession(active=False), line, profile("confirm"), lambda: 0)
    line.primed = False
    assert not conditions.session_active
    assert conditions.problem == "the session is not active, and the line's audio is not ready"


def test_without_a_session_only_the_line_matters() -> None:
    conditions = StartConditions(None, ScriptedLine(), profile("confirm"), lambda: 0)
    conditions.follow()
    assert (conditions.session_active, conditions.audio_primed, conditions.problem) == (True, True, "")
