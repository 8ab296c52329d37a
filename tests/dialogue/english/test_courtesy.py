"""Hello, thanks and goodbye get a short reply."""

from __future__ import annotations

import pytest

from duologue.dialogue.commands import StartFlow
from duologue.dialogue.english.courtesy import courtesy_of
from duologue.dialogue.english.tokens import tokens_of
from duologue.dialogue.flow import Flow, SayText
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import TRANSFER, Talker


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("hi", "greeting"),
        ("Good evening!", "greeting"),
        ("hello there", "greeting"),
        ("thanks", "thanks"),
        ("oh great, thank you so much", "thanks"),
        ("ok", "assent"),
        ("that's perfect", "assent"),
        ("thanks, bye", "farewell"),
        ("see you later", "farewell"),
        ("good night", "farewell"),
        ("hello, I need a table", None),
        ("thanks, and the second one?", None),
        ("good", "assent"),
        ("evening", None),
        ("you", None),
        ("", None),
        ("see", None),
    ],
)
def test_a_message_that_is_nothing_but_courtesy(said: str, kind: str | None) -> None:
    assert courtesy_of(tokens_of(said)) == kind


@pytest.mark.req("D-10")
def test_a_courtesy_is_returned_without_nlu() -> None:
    talker = Talker(TRANSFER).says("hello")
    assert talker.said.startswith("Hello! I can help you with: ")
    assert not talker.asked_nlu
    assert talker.says("thanks").said == "You're welcome."
    assert talker.says("okay great").said == "All right."
    assert talker.says("bye").said == "Goodbye!"
    assert talker.phase == "idle"


def test_a_task_may_begin_with_a_courtesy() -> None:
    said: Flow = flow("welcome", SayText("hi", "Welcome to the museum."))
    about = domain(Flow(said.name, said.description, said.program, examples=("Hello",)))
    talker = Talker(about).says("hello!")
    assert talker.asked_nlu
    assert talker.means(StartFlow("welcome")).said == "Welcome to the museum."


@pytest.mark.req("D-12")
def test_a_courtesy_does_not_answer_a_question() -> None:
    talker = Talker(TRANSFER).starts("transfer").says("thanks")
    assert "You're welcome" not in talker.said
