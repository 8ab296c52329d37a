"""A real call for the debug view: the demo's steps as the protocol tells them."""

from __future__ import annotations

from functools import cache
from typing import Any

from duologue.lab.sim.demo_call import play_demo, stage_for_demo
from duologue.server.debug_steps import step_to_json, table

__all__ = ["demo_steps", "table"]


@cache
def demo_steps() -> tuple[dict[str, Any], ...]:
    stage = stage_for_demo()
    steps = [step_to_json(record) for scene in play_demo(stage) for record in scene.records if record.fired]
    return tuple(step for step in steps if step["cause"] != "PlaybackProgressed")
