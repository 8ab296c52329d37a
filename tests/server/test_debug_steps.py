"""The steps of a conversation for the debug view, and its journal."""

from __future__ import annotations

import gc

from duologue.core.events import PersonSeen
from duologue.core.machine import MACHINE
from duologue.core.step_record import StepRecord
from duologue.replay.journal import read_journal, replay
from duologue.runtime.agent import Agent
from duologue.server.debug_steps import EventLog, is_worth_showing, step_to_json, table
from tests.server.recorded_steps import agent_that_answers, steps_of_a_call
from tests.server.running_server import RunningServer, serve, talk


def test_the_debug_view_gets_all_steps_so_far_and_then_each_new_one() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        await talk(client, "first words")
        await client.send("debug", on=True)
        opened = await client.expect("debug")
        assert {"rows", "regions", "settings", "moments"} <= set(opened)
        assert opened["moments"][0]["event"] == "StartRequested"
        await talk(client, "second words", after=1)
        steps = [*opened["moments"], *client.told("moment")]
        assert [step["at"] for step in steps] == sorted(step["at"] for step in steps)
        assert {"TextTyped", "TokenArrived", "PlaybackFinished"} <= {step["event"] for step in client.told("moment")}
        assert "words" not in str(steps)
        await client.send("debug", on=False)
        await client.send("ping", t=1)
        await client.expect("pong")
        seen = len(client.told("moment"))
        await talk(client, "third words", after=2)
        assert len(client.told("moment")) == seen

    serve(script)


def test_the_steps_of_a_log_are_those_that_were_made() -> None:
    agent = agent_that_answers()
    records = steps_of_a_call(agent)
    log = EventLog(agent.settings)
    for record in records:
        log.add(record)
    shown = [record for record in records if is_worth_showing(record)]
    assert [record.event for record in log.newest(100, len(log))] == [record.event for record in shown]
    assert [record.after for record in log.newest(3, len(log))] == [record.after for record in shown[-3:]]
    assert [record.event for record in log.since(len(log) - 5)] == [
        record.event for record in records[-5:] if is_worth_showing(record)
    ]


def steps_of_a_long_call(agent: Agent) -> list[StepRecord]:
    records = list(steps_of_a_call(agent))
    while len(records) < 350:
        s = records[-1].after
        event = PersonSeen(at=s.at + 60, seq=s.seq + 1)
        records.append(StepRecord(event, s, MACHINE.step(s, event)[0], (), ()))
    return records


def test_older_events_of_a_long_call_are_kept_compressed() -> None:
    agent = agent_that_answers()
    log = EventLog(agent.settings)
    for record in steps_of_a_long_call(agent):
        log.add(record)
    assert len(log) == 350
    assert sum(type(one) is PersonSeen for one in gc.get_objects()) < 100


def test_the_events_of_a_long_call_lead_to_the_same_steps() -> None:
    agent = agent_that_answers()
    records = steps_of_a_long_call(agent)
    log = EventLog(agent.settings)
    for record in records:
        log.add(record)
    assert [record.after for record in log.records()] == [record.after for record in records]
    for upto in (99, 100, 101, 250, 350):
        found = log.newest(1_000, upto)
        assert [record.event for record in found] == [one.event for one in records[:upto] if is_worth_showing(one)]
    for start in (0, 100, 299, 349):
        found = log.since(start)
        assert [record.event for record in found] == [one.event for one in records[start:] if is_worth_showing(one)]


def test_a_log_that_another_process_began_knows_the_same_states() -> None:
    agent = agent_that_answers()
    records = steps_of_a_call(agent)
    log = EventLog(agent.settings, [record.event for record in records])
    assert [record.after for record in log.records()] == [record.after for record in records]


def test_the_journal_of_a_log_replays_and_ends_only_with_the_conversation() -> None:
    agent = agent_that_answers()
    records = steps_of_a_call(agent)
    log = EventLog(agent.settings, [record.event for record in records])
    running, ended = log.journal(is_over=False), log.journal(is_over=True)
    assert ended.startswith(running)
    assert len(ended) > len(running)
    journal = read_journal(ended.splitlines(keepends=True))
    assert [record.event for record in replay(journal)] == [record.event for record in records]


def test_a_step_is_shown_with_its_event_rows_and_regions() -> None:
    shown = [step_to_json(record) for record in steps_of_a_call(agent_that_answers())]
    (typed,) = [step for step in shown if step["event"] == "TextTyped"]
    assert typed["regions"]["reply"] != "none"
    assert typed["fired"]
    assert not typed["ignored"]
    known = {row["id"] for row in table()["rows"]}
    assert all(set(step["fired"]) <= known for step in shown)
