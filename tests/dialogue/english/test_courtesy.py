"""Hello, thanks and goodbye get a short reply."""

from __future__ import annotations

import pytest

from duologue.dialogue.commands import StartFlow
from duologue.dialogue.effects import Respond
from duologue.dialogue.english.courtesy import courtesy_of
from duologue.dialogue.english.tokens import tokens_of
from duologue.dialogue.events import UserMessage
from duologue.dialogue.flow import Flow, SayText
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import TODAY, TRANSFER, Talker


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
        ("super, see you on monday at nine", "farewell"),
        ("see you in half an hour", "farewell"),
        ("I see you have a garden", None),
        ("good night", "farewell"),
        ("No, that's all. Goodbye.", "farewell"),
        ("I'm done, bye", "farewell"),
        ("no, thank you", "refusal"),
        ("nothing else", "refusal"),
        ("no", "refusal"),
        ("no, a table for two", None),
        ("thank you, is it done", None),
        ("it is done", None),
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
    assert talker.says("no, thank you").said == "All right."
    assert talker.says("bye").said == "Goodbye!"
    assert talker.phase == "idle"


def ends(talker: Talker) -> bool:
    return any(isinstance(effect, Respond) and effect.ends for effect in talker.effects)


@pytest.mark.req("H-05")
def test_a_goodbye_ends_the_conversation_and_other_courtesies_do_not() -> None:
    talker = Talker(TRANSFER)
    for said in ("hello", "thanks", "okay great", "no, that's all"):
        assert not ends(talker.says(said))
    assert ends(talker.says("no, that's all, goodbye"))


@pytest.mark.req("H-05")
def test_a_goodbye_in_the_middle_of_a_task_ends_the_conversation_and_keeps_the_question_open() -> None:
    talker = Talker(TRANSFER).starts("transfer")
    waiting, phase = talker.state.waiting_for, talker.phase
    assert talker.says("goodbye").said == "Goodbye!"
    assert ends(talker)
    assert (talker.state.waiting_for, talker.phase) == (waiting, phase)


def test_a_goodbye_that_was_heard_with_low_confidence_ends_nothing() -> None:
    talker = Talker(TRANSFER).happen(UserMessage("bye", 0, TODAY, confidence=0.1))
    assert not ends(talker)
    assert "not sure" in talker.said


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


@pytest.mark.req("D-10")
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("lovely, you take care", "farewell"),
        ("cheers, speak to you soon", "farewell"),
        ("thank you so much and have a lovely evening", "farewell"),
        ("okay great talk to you then", "farewell"),
        ("take a seat", None),
        ("can I have a day ticket", None),
    ],
)
def test_good_wishes_are_a_goodbye(text: str, kind: str | None) -> None:
    assert courtesy_of(tokens_of(text)) == kind
