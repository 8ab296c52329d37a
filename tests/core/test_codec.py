"""Events, settings and states as JSON: nothing is lost, damage is refused by name, digests are stable."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from duologue.core.codec import (
    canonical,
    digest,
    event_from_json,
    event_to_json,
    restore,
    settings_digest,
    settings_from_json,
    settings_to_json,
    snapshot,
    state_to_json,
)
from duologue.core.errors import InvalidSnapshot
from duologue.core.events import EVENTS
from duologue.core.leaves import ErrorClass, FaultSource, Timer
from duologue.core.settings import profile
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
    "played": 3,
}


def test_a_snapshot_restores_the_same_state() -> None:
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
        "import sys; sys.path[:0] = sys.argv[1:];"
        "from tests.core.test_codec import journal_of, played; sys.stdout.write(''.join(journal_of(played())))"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code, str(root), str(root / "src")],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": seed},
    )
    assert done.stdout == "".join(journal_of(played()))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"turn": -1}, "turn: -1 isn't a valid int"),
        ({"at": True}, "at: True isn't a valid int"),
        ({"final": 1}, "final: 1 isn't a valid bool"),
        ({"heard_ms": 1 << 50}, "heard_ms: 1125899906842624 isn't a valid int"),
        ({"answered": 9}, "expected answered <= asked <= said <= turn"),
        ({"due": {"stall": -5}}, "due, jobs: every number must be whole"),
        ({"due": {"stall": "soon"}}, "due, jobs: every number must be whole"),
        ({"fault": {"part": "ears", "error": "UNKNOWN", "fatal": 1}}, "every flag must be true or false"),
        ({"jobs": [{"call": 1, "kind": "tool"}]}, "missing or invalid"),
        ({"jobs": None}, "missing or invalid"),
    ],
)
def test_damage_in_a_snapshot_is_refused(change: dict[str, object], problem: str) -> None:
    data = json.loads(snapshot(played().state))
    data["state"] |= change
    with pytest.raises(InvalidSnapshot, match=problem):
        restore(json.dumps(data))


def test_a_snapshot_without_a_field_or_a_setting_names_it() -> None:
    data = json.loads(snapshot(played().state))
    del data["state"]["said"]
    with pytest.raises(InvalidSnapshot, match="state: 'said' is missing"):
        restore(json.dumps(data))
    del data["settings"]["beat_ms"]
    with pytest.raises(InvalidSnapshot, match="settings: 'beat_ms' is missing"):
        restore(json.dumps(data))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (None, "unknown event None"),
        ({"type": "Hiccuped", "at": 1}, "unknown event 'Hiccuped'"),
        ({"type": ["StartRequested"]}, "unknown event"),
        ({"type": "PttPressed", "at": 1, "seq": 1, "loud": True}, "PttPressed has no field 'loud'"),
        ({"type": "PttPressed", "at": 1}, "PttPressed: .*seq"),
        ({"type": "PttPressed", "at": -1, "seq": 1}, "PttPressed.at must not be negative"),
        (
            {"type": "ReplyFailed", "at": 1, "reply": 1, "error": "BAD"},
            "ReplyFailed.error: 'BAD' isn't a valid ErrorClass",
        ),
    ],
)
def test_an_event_that_can_not_be_read_is_refused_by_name(data: object, problem: str) -> None:
    with pytest.raises(InvalidSnapshot, match=problem):
        event_from_json(data)


def test_settings_survive_json_and_their_digest_tells_them_apart() -> None:
    changed = profile("words", backoff_ms=(1, 2))
    assert settings_from_json(json.loads(json.dumps(settings_to_json(changed)))) == changed
    assert settings_digest(changed) != settings_digest(profile("words"))


def test_canonical_json_does_not_depend_on_the_order_of_keys() -> None:
    assert canonical({"b": 1, "a": "ü"}) == canonical({"a": "ü", "b": 1}) == '{"a":"ü","b":1}'


def test_a_snapshot_of_the_previous_version_gets_the_defaults_of_what_is_new() -> None:
    state = played().state
    data = json.loads(snapshot(state))
    for name in ("commit_ms", "sent_text_ms_max"):
        del data["settings"][name]
    for name in ("unread", "firm"):
        del data["state"][name]
    assert restore(json.dumps(data)) == state


@pytest.mark.parametrize(("part", "name"), [("settings", "talk_ms_max"), ("state", "final")])
def test_anything_else_that_is_missing_is_named(part: str, name: str) -> None:
    data = json.loads(snapshot(played().state))
    del data[part][name]
    with pytest.raises(InvalidSnapshot, match=name):
        restore(json.dumps(data))
