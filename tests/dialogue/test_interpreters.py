"""The interpreters of a message, in their order."""

from __future__ import annotations

import pytest

from duologue.dialogue.answers import QUESTION
from duologue.dialogue.confirmation import CONFIRMATION
from duologue.dialogue.flow import Collect
from duologue.dialogue.idle_messages import IDLE
from tests.dialogue.dialogue_flows import OTHER, SIZE, Talker, at_confirmation, talk


def taken_by(talker: Talker) -> list[str]:
    return [dict(line.data)["by"] for line in talker.state.trace if line.event == "interpreted"]


@pytest.mark.parametrize("ladder", [IDLE, QUESTION, CONFIRMATION])
def test_every_interpreter_has_its_own_name_and_says_what_it_understands(ladder: tuple[object, ...]) -> None:
    names = [one.name for one in ladder]  # type: ignore[attr-defined]
    assert len(set(names)) == len(names)
    assert all(one.about for one in ladder)  # type: ignore[attr-defined]
    assert names[-1] == "NLU"


@pytest.mark.parametrize(
    ("text", "name"),
    {"": "nothing said", "small": "value", "help": "command", "any of them": "no preference", OTHER: "NLU"}.items(),
)
def test_the_trace_names_the_interpreter_that_took_a_reply(text: str, name: str) -> None:
    assert taken_by(talk(Collect("size", "size"), slots=(SIZE,)).says(text))[-1] == name


@pytest.mark.parametrize(
    ("text", "name"), {"yes": "yes", "no": "no", "not yet": "not yet", "no, change it": "wish for a change"}.items()
)
def test_the_trace_names_the_interpreter_that_took_a_confirmation(text: str, name: str) -> None:
    assert taken_by(at_confirmation().says(text))[-1] == name
