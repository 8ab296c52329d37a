"""Conversations in known situations, for the tests of the core: quiet, asked, speaking, in a call."""

from __future__ import annotations

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import (
    TIMER_INDEX,
    Timer,
    Voice,
)
from duologue.core.settings import profile
from duologue.lab.sim.stage import Stage

ASKED_AT = 1_150  # when a turn of `Stage.say` that began at 0 is complete


def up(name: str = "confirm", **changes: object) -> Stage:
    """A conversation that is up and quiet at 0 ms; nothing greets and nothing checks in."""
    stage = Stage(profile(name, **{"dead_air_ms": 0, "greets": False, **changes}))
    stage.start()
    return stage


def asked(name: str = "confirm", **changes: object) -> Stage:
    """Turn 1 is complete and its request has just left, at 1150 ms."""
    stage = up(name, **changes)
    stage.say()
    return stage


def speaking(heard_ms: int = 600, name: str = "confirm", **changes: object) -> Stage:
    """The answer to turn 1 is being played."""
    stage = asked(name, **changes)
    stage.think()
    stage.speak(heard_ms)
    return stage


def in_a_call(cancellable: bool = False) -> Stage:
    """The reply to turn 1 ended in call 1, which runs."""
    stage = asked()
    stage.happen(ev.ReplyAccepted)
    stage.call_tool(cancellable)
    stage.happen(ev.ReplyFinished)
    return stage


def when(stage: Stage, kind: type[fx.Effect]) -> list[int]:
    return [record.event.at for record in stage.records for effect in record.effects if type(effect) is kind]


def requests(stage: Stage) -> list[tuple[int, int]]:
    return [(start.first, start.last) for start in stage.effects(fx.StartReply)]


def due(stage: Stage, timer: Timer) -> int:
    return stage.state.due[TIMER_INDEX[timer]]


def fall_silent(stage: Stage, heard_ms: int) -> None:
    """The line confirms the stop, and the short breath passes."""
    stage.happen(ev.PlaybackStopped, heard_ms=heard_ms)
    stage.wait(stage.settings.breath_ms)
    assert stage.state.voice is Voice.SILENT
