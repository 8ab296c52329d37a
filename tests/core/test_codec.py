"""Events, settings and states as JSON: nothing is lost, damage is refused by name, digests are stable."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from duologue.core.codec import digest, event_from_json, event_to_json, restore, snapshot, state_to_json
from duologue.core.errors import InvalidSnapshot
from duologue.core.events import EVENTS
from duologue.core.leaves import ErrorClass, FaultSource, Timer
from duologue.lab.sim.stage import Stage


def played() -> Stage:
    stage = Stage()
    stage.start()
    stage.say()
    stage.think()
    stage.call_tool()
    stage.speak(600)
    stage.interrupt()
    stage.wait(5_000)
    return stage


def journal_of(stage: Stage, seed: int = 7) -> list[str]:
    out = io.StringIO()
    stage.write_journal(out, seed)
    return out.getvalue().splitlines(keepends=True)


def test_every_kind_of_event_survives_json() -> None:
    stage = Stage()
    for kind in EVENTS:
        given = {name: value for name, value in SAMPLES.items() if name in kind.__dataclass_fields__}
        event = stage.make(kind, **given)
        assert event_from_json(json.loads(json.dumps(event_to_json(event)))) == event


SAMPLES = {
    "error": ErrorClass.UNKNOWN,
    "part": FaultSource.EARS,
    "timer": Timer.BEAT,
    "due": 5,
    "heard_ms": 7,
    "words": 2,
    "substantial": 1,
    "bid": True,
}


def test_a_snapshot_is_the_whole_truth() -> None:
    for record in played().records:
        assert restore(snapshot(record.after)) == record.after


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema": 1}', '{"schema": 2}'])
def test_a_broken_snapshot_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InvalidSnapshot) as raised:
        restore(text)
    assert "\n" not in str(raised.value)


def test_a_snapshot_with_a_wrong_leaf_names_the_place() -> None:
    data = json.loads(snapshot(played().state))
    data["state"]["voice"] = "singing"
    with pytest.raises(InvalidSnapshot, match="voice: 'singing' isn't a valid Voice"):
        restore(json.dumps(data))


def test_digests_differ_when_states_do() -> None:
    seen = {}
    for record in played().records:
        assert seen.setdefault(digest(record.after), record.after) == record.after
    assert "settings" not in state_to_json(played().state)


@pytest.mark.parametrize("seed", ["0", "1", "4711"])
def test_digests_are_the_same_under_any_hash_seed(seed: str) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from tests.replay.test_journal import journal_of, played; sys.stdout.write(''.join(journal_of(played())))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parents[2])],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": seed},
    )
    assert done.stdout == "".join(journal_of(played()))
