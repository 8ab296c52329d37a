"""The agent that briefs a person who should take over a call."""

from __future__ import annotations

import pytest

from duologue.runtime.agent import Agent, Phrases
from duologue.server.phone.briefing import briefing_agent
from duologue.testing import Call
from duologue.voice.scripted import ScriptedVoice

BRIEFING = "Ada asks about invoice 17."


def made(told: list[bool], language: str = "en") -> Agent:
    agent = Agent(lambda request: "hello", name="desk", language=language, phrases=Phrases(greeting="Welcome."))
    return briefing_agent(agent, BRIEFING, told.append)


def test_the_briefing_is_said_first_with_the_question() -> None:
    with Call(made([])) as call:
        call.expect_heard(BRIEFING).expect_heard("Press 1 to take the call, or 2 to decline it.")


@pytest.mark.parametrize(
    ("answer", "accepts"), [("1", True), ("yes", True), ("yes please", True), ("2", False), ("no", False)]
)
def test_a_person_accepts_or_declines_by_key_or_word(answer: str, accepts: bool) -> None:
    told: list[bool] = []
    with Call(made(told)) as call:
        call.user(answer)
    assert told == [accepts]


@pytest.mark.parametrize(
    ("language", "answer", "accepts"),
    [
        ("de", "ja gerne", True),
        ("de", "eins", True),
        ("de", "lieber nicht", False),
        ("de", "zwei", False),
        ("es", "sí, claro", True),
        ("es", "uno", True),
        ("es", "no, gracias", False),
        ("fr", "1", True),
    ],
)
def test_the_answer_is_read_in_the_agents_language(language: str, answer: str, accepts: bool) -> None:
    told: list[bool] = []
    with Call(made(told, language)) as call:
        call.user(answer)
    assert told == [accepts]


def test_another_answer_gets_the_briefing_again() -> None:
    told: list[bool] = []
    with Call(made(told)) as call:
        call.user("what is it about").expect_heard(BRIEFING)
    assert told == []


def test_the_question_is_in_the_agents_language() -> None:
    with Call(made([], "de")) as call:
        call.expect_heard("Drücken Sie die 1")


def test_the_voice_and_the_ears_are_those_of_the_agent() -> None:
    voice = ScriptedVoice()
    agent = Agent(lambda request: "hello", voice=voice)
    assert briefing_agent(agent, BRIEFING, lambda accepts: None).voice is voice


def test_a_briefing_is_private_and_says_words_as_its_agent_does() -> None:
    agent = Agent(lambda request: "hello", private=True, pronunciations={"Nguyen": "win"}, spoken_forms=False)
    made_for_it = briefing_agent(agent, BRIEFING, lambda accepts: None)
    assert made_for_it.private
    assert (made_for_it.pronunciations, made_for_it.spoken_forms) == (agent.pronunciations, False)
    assert not briefing_agent(Agent(lambda request: "hello"), BRIEFING, lambda accepts: None).private
