"""The latency of an answer, stage by stage."""

from __future__ import annotations

from duologue.core import events as ev
from duologue.lab.sim.stage import Stage
from duologue.ports.tool_call import ToolCall
from duologue.runtime.agent import Agent, Phrases
from duologue.server.latency import LatencyStages
from duologue.testing import Delay, ScriptedBrain, ScriptedVoice, scripted_tool
from tests.server.recorded_steps import agent_that_answers, steps_of_a_call


def measured(agent: Agent) -> LatencyStages:
    stages = LatencyStages()
    for record in steps_of_a_call(agent):
        stages.follow(record)
    return stages


def test_each_stage_of_an_answer_is_measured() -> None:
    stages = LatencyStages()
    assert set(stages.newest.values()) == {None}
    for record in steps_of_a_call(agent_that_answers()):
        stages.follow(record)
    assert stages.newest == {"speechEndToText": 0, "textToToken": 300, "tokenToAudio": 0, "audioToPlayed": 0}


def test_a_new_request_starts_with_nothing_measured() -> None:
    stages = LatencyStages()
    records = steps_of_a_call(agent_that_answers())
    typed = next(number for number, record in enumerate(records) if type(record.event).__name__ == "TextTyped")
    for record in (*records, *records[: typed + 1]):
        stages.follow(record)
    assert stages.newest == {"speechEndToText": 0, "textToToken": None, "tokenToAudio": None, "audioToPlayed": None}


def test_the_mean_is_that_of_whole_answers() -> None:
    stages = measured(agent_that_answers())
    assert stages.mean_ms == sum(ms or 0 for ms in stages.newest.values()) == 300


def test_a_greeting_is_no_answer_and_is_not_in_the_mean() -> None:
    brain = ScriptedBrain([[Delay(300), "It rains."]])
    agent = Agent(brain, voice=ScriptedVoice(), phrases=Phrases(greeting="Good morning!"))
    stages = measured(agent)
    assert stages.newest["textToToken"] is not None
    assert stages.mean_ms is not None
    assert stages.mean_ms >= 300, "a greeting is there at once, and would halve the mean"


def test_the_time_of_a_tool_is_part_of_its_answer() -> None:
    tool = scripted_tool("look_up", Delay(2_000), "rain")
    brain = ScriptedBrain([[ToolCall("look_up", {})], [Delay(300), "It rains."]])
    stages = measured(Agent(brain, voice=ScriptedVoice(), tools=[tool]))
    assert stages.newest["textToToken"] is not None
    assert stages.newest["textToToken"] >= 2_300
    assert stages.mean_ms == sum(ms or 0 for ms in stages.newest.values())


def test_a_wait_begins_when_the_voice_falls_silent_and_ends_with_the_first_sound() -> None:
    stages, stage = LatencyStages(), Stage()
    stage.watch = stages.follow
    stage.start()
    stage.begin_talking()
    stage.hear_words()
    stage.wait(1_000)
    stage.happen(ev.SpeechStopped, quiet_ms=192)
    stage.hear_words(final=True)
    stage.wait(60)
    stage.happen(ev.TurnEnded)
    stage.wait(5)
    stage.happen(ev.TokenArrived)
    stage.happen(ev.AudioBuffered)
    stage.wait(85)
    stage.happen(ev.PlaybackProgressed, heard_ms=55)
    assert stages.newest == {"speechEndToText": 268, "textToToken": 5, "tokenToAudio": 0, "audioToPlayed": 30}
    assert stages.mean_ms == 303


def test_a_wait_after_push_to_talk_begins_with_the_release() -> None:
    stages, stage = LatencyStages(), Stage()
    stage.watch = stages.follow
    stage.start()
    stage.happen(ev.PttPressed)
    stage.wait(1_000)
    stage.happen(ev.PttReleased)
    stage.wait(40)
    stage.hear_words(final=True)
    assert stages.newest["speechEndToText"] == 40


def test_before_the_first_answer_there_is_no_mean() -> None:
    assert LatencyStages().mean_ms is None
