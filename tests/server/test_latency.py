"""The latency of an answer, stage by stage."""

from __future__ import annotations

from duologue.server.latency import LatencyStages
from tests.server.recorded_steps import agent_that_answers, steps_of_a_call


def test_each_stage_of_an_answer_is_measured() -> None:
    stages = LatencyStages()
    assert set(stages.newest.values()) == {None}
    for record in steps_of_a_call(agent_that_answers()):
        stages.follow(record)
    assert stages.newest == {"speechEndToText": 0, "textToToken": 300, "tokenToAudio": 0, "audioToPlayed": 100}


def test_a_new_request_starts_with_nothing_measured() -> None:
    stages = LatencyStages()
    records = steps_of_a_call(agent_that_answers())
    typed = next(number for number, record in enumerate(records) if type(record.event).__name__ == "TextTyped")
    for record in (*records, *records[: typed + 1]):
        stages.follow(record)
    assert stages.newest == {"speechEndToText": 0, "textToToken": None, "tokenToAudio": None, "audioToPlayed": None}
