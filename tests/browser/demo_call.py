"""A real call for the debug view: the demo's steps as the protocol tells them."""

from __future__ import annotations

from functools import cache
from typing import Any

from duologue.core.codec import event_to_json
from duologue.core.leaves import JobKind, Link, Reply, User, Voice
from duologue.core.machine import MACHINE
from duologue.core.state import State, floor, next_deadline
from duologue.core.step_record import StepRecord
from duologue.core.views import VIEWS
from duologue.lab.sim.demo_call import play_demo
from duologue.lab.sim.stage import Stage
from duologue.observe.view_history import cause_of

REGIONS = {"link": Link, "user": User, "voice": Voice, "reply": Reply, "jobs": JobKind}


@cache
def demo_steps() -> tuple[dict[str, Any], ...]:
    stage = Stage()
    steps = [step_to_json(record) for scene in play_demo(stage) for record in scene.records if record.fired]
    return tuple(step for step in steps if step["cause"] != "PlaybackProgressed")


def table() -> dict[str, Any]:
    rows = [
        {
            "id": index,
            "region": {"JobKind": "jobs"}.get(type(row.sources[0]).__name__, type(row.sources[0]).__name__.lower()),
            "name": row.name,
            "why": row.why,
        }
        for index, row in enumerate(MACHINE.rows)
    ]
    rules = [
        {"id": -1 - index, "region": "rule", "name": rule.name, "why": rule.why}
        for index, rule in enumerate(MACHINE.rules)
    ]
    return {"rows": rows + rules, "regions": {name: [leaf.value for leaf in kind] for name, kind in REGIONS.items()}}


def step_to_json(record: StepRecord) -> dict[str, Any]:
    s = record.after
    fields = event_to_json(record.event)
    deadline = next_deadline(s)
    return {
        "at": fields.pop("at"),
        "event": fields.pop("type"),
        "cause": cause_of(record.event),
        "fields": fields,
        "fired": list(record.fired),
        "effects": [type(effect).__name__ for effect in record.effects],
        "regions": _regions(s),
        "floor": floor(s),
        "views": {name: view.see(s) for name, view in VIEWS.items()},
        "turns": {"answered": s.answered, "asked": s.asked, "said": s.said, "turn": s.turn},
        "timers": [{"timer": deadline.timer.value, "due": deadline.due}] if deadline else [],
        "ignored": s is record.before,
    }


def _regions(s: State) -> dict[str, str]:
    jobs = ", ".join(job.kind.value for job in s.jobs) or "none"
    return {"link": s.link.value, "user": s.user.value, "voice": s.voice.value, "reply": s.reply.value, "jobs": jobs}
