"""Every telephone story in the examples, played on the simulated clock: it goes as its file expects."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from duologue.ears.local import LocalEars
from duologue.lab.sim.call_script import PlayWav, Say
from duologue.lab.sim.phone_speech import PhoneSpeech
from duologue.lab.sim.phone_story import PhoneStory, read_story
from duologue.lab.sim.phone_story_play import PhoneStoryOutcome, outcome_as_json, play_story
from duologue.lines.phone.carriers import CARRIERS
from duologue.runtime.agent import Agent
from duologue.runtime.find_agent import find_agent
from duologue.runtime.simulated_clock import run_simulated
from duologue.voice.local import LocalVoice
from duologue.voice.scripted import ScriptedVoice
from tests.needs import needs_model

FOLDER = Path(__file__).parents[3] / "examples" / "phone"
FILES = sorted(FOLDER.glob("*.yaml"))
INVALID = ["The phone number is not valid"]
REFUSED = {"outbound_unknown_number": INVALID, "transfer_refused": INVALID}  # what these stories are about


@pytest.fixture(autouse=True)
def in_the_folder() -> Iterator[None]:
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))


def story_of(name: str) -> PhoneStory:
    return read_story(yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8")))


@cache
def real_ears() -> LocalEars:
    for name in ("silero-vad", "moonshine-tiny", "smart-turn", "svox-pico"):
        needs_model(name)
    ears = LocalEars(final_model="doubt")
    ears.load()
    return ears


@cache
def real_speech() -> PhoneSpeech:
    return PhoneSpeech(LocalVoice(), FOLDER)


async def silent(step: Say | PlayWav) -> bytes:
    return b"\xff" * 4_000


def is_spoken(story: PhoneStory) -> bool:
    """Does something at the other end of the line speak, so that the agent needs ears?"""
    steps = [step for phone in story.telephones for step in phone.telephone.steps]
    return any(isinstance(step, Say) for step in steps) or any(phone.menu for phone in story.telephones)


def play(story: PhoneStory, **changes: Any) -> PhoneStoryOutcome:
    """The story with its own agent. Ears and speech are real if the story is spoken."""
    agent: Agent = replace(find_agent(story.agent), voice=ScriptedVoice(char_ms=40))
    if not is_spoken(story):
        return run_simulated(play_story(replace(story, **changes), agent, silent))
    agent = replace(agent, ears=real_ears())
    return run_simulated(play_story(replace(story, **changes), agent, real_speech()))


def stories_and_carriers() -> list[Any]:
    """Every story on both carriers. What is said takes most of the time, so `make sweeps` plays most of the spoken
    stories on the carrier that isn't their own."""
    found = []
    for file in FILES:
        story = story_of(file.stem)
        for carrier in CARRIERS:
            rare = carrier != story.carrier and is_spoken(story) and file.stem != "warm_transfer_accepted"
            marks = [pytest.mark.sweep] if rare else []
            found.append(pytest.param(file.stem, carrier, id=f"{file.stem}-{carrier}", marks=marks))
    return found


@pytest.mark.parametrize(("name", "carrier"), stories_and_carriers())
def test_a_story_goes_as_its_file_expects_on_both_carriers(name: str, carrier: str) -> None:
    told = play(story_of(name), carrier=carrier)
    sys.stdout.write("\n".join(map(str, told.timeline)))
    assert told.problem == ""
    assert told.timeline
    assert [line.at_ms for line in told.timeline] == sorted(line.at_ms for line in told.timeline)
    assert told.refused == REFUSED.get(name, [])


def test_only_existing_stories_are_refused() -> None:
    assert {*REFUSED} <= {file.stem for file in FILES}


def test_the_same_story_gives_the_same_timeline() -> None:
    once, again = (play(story_of("warm_transfer_refused")).timeline for _ in range(2))
    assert once == again


def test_a_story_that_goes_otherwise_is_told() -> None:
    story = story_of("outbound_busy")
    told = play(story, expect=replace(story.expect, outcome="completed", timeline=("ann: dances",)))
    assert "the outcome is busy, not completed" in told.problem
    assert "no line 'ann: dances'" in told.problem
    assert outcome_as_json(told)["result"] == "failed"


def test_a_story_without_an_end_is_ended() -> None:
    told = play(story_of("outbound_no_answer"), limit_s=5.0)
    assert "has not ended after 5 s" in told.problem


def test_a_machine_is_told_by_the_carrier_alone_if_the_agent_has_no_ears() -> None:
    story = story_of("machine_told_by_carrier")
    agent = replace(find_agent(story.agent), voice=ScriptedVoice(char_ms=40))
    told = run_simulated(play_story(story, agent, silent))
    assert told.problem == ""
    assert told.outcome == "message left"


@pytest.mark.parametrize(
    ("detected", "outcome"),
    [("human", "completed"), ("unknown", "completed"), ("fax", "machine"), ("machine_end_beep", "message left")],
)
@pytest.mark.parametrize("carrier", ["twilio", "telnyx"])
def test_what_the_carrier_detects_decides(carrier: str, detected: str, outcome: str) -> None:
    steps = ["listen", "hang_up"] if outcome == "completed" else ["listen", {"expect": {"over": True}}]
    data = {
        "story": "The carrier detects who has answered.",
        "agent": "desk:agent",
        "carrier": carrier,
        "settings": {"carrier_amd": True},
        "telephones": {"ann": {"answer": "machine", "detected": detected, "detected_ms": 2_000, "steps": steps}},
        "dial": {"to": "ann", "machine_message": "Your book is here."},
        "expect": {"outcome": outcome},
    }
    if outcome == "machine":
        data["telephones"]["ann"]["steps"] = [{"expect": {"over": True}}]  # type: ignore[index]
    told = play(read_story(data))
    assert (told.problem, told.refused) == ("", [])


def test_a_message_that_is_cut_off_by_the_machine_was_not_left() -> None:
    data = {
        "story": "The machine hangs up during the message.",
        "agent": "desk:agent",
        "telephones": {
            "ann": {"answer": "machine", "steps": [{"pause": 500}, {"beep": 800}, {"hear": 300}, "hang_up"]}
        },
        "dial": {"to": "ann", "machine_message": "This is a rather long message about a book that is here for you."},
        "expect": {"outcome": "hung up", "timeline": ["call ann: message", "call ann: ended, hung up"]},
    }
    assert play(read_story(data)).problem == ""


def test_wrong_settings_are_told_by_their_names() -> None:
    story = story_of("outbound_busy")
    with pytest.raises(Exception, match="drain_to must be a number"):
        play(story, settings={"drain_to": "the night desk"})
