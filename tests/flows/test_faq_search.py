"""Searching the FAQ with the local NLU."""

from __future__ import annotations

import asyncio

import pytest

from duologue.dialogue.commands import Affirm, AnswerQuestion, ChitChat, SetSlot, StartFlow
from duologue.dialogue.effects import Understand
from duologue.dialogue.flow import Domain, FaqEntry
from duologue.dialogue.state import DialogueState, Instance, Phase
from duologue.flows.faq_search import faq_scope, search_faq, with_faq, with_leading_yes
from duologue.nlu.local import LocalNlu

FAQ = (
    FaqEntry(("When are you open?", "what are your opening hours"), "From nine to five."),
    FaqEntry(("How long does delivery take?",), "Forty minutes."),
    FaqEntry(("Can I pay by card?",), "Yes."),
)
SHOP = Domain({}, {}, faq=FAQ)
NLU = LocalNlu(words_only=True)


def test_every_entry_is_an_intent() -> None:
    assert [intent.title for intent in faq_scope(FAQ).intents] == [entry.questions[0] for entry in FAQ]


@pytest.mark.req("D-08")
@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("until what time are you open", 0),
        ("how long does it take", 1),
        ("can I pay cash", 2),
        ("are you a robot", None),
    ],
)
def test_an_answer_is_found_only_if_the_search_is_sure(text: str, entry: int | None) -> None:
    assert asyncio.run(search_faq(NLU, SHOP, text)) == entry
    assert asyncio.run(search_faq(NLU, Domain({}, {}), text)) is None
    assert asyncio.run(search_faq(NLU, SHOP, text, sure_min=1.1)) is None


def test_values_and_sure_guesses_win_over_the_faq() -> None:
    asked = "can I pay by card?"
    assert asyncio.run(with_faq(NLU, SHOP, asked, (), 0.0)) == (AnswerQuestion(2),)
    assert asyncio.run(with_faq(NLU, SHOP, asked, (ChitChat(),), 0.9)) == (AnswerQuestion(2),)
    assert asyncio.run(with_faq(NLU, SHOP, asked, (StartFlow("pay"),), 1.0)) == (StartFlow("pay"),)
    assert asyncio.run(with_faq(NLU, SHOP, asked, (SetSlot("a", 1),), 0.0)) == (SetSlot("a", 1),)
    assert asyncio.run(with_faq(NLU, SHOP, "pay", (StartFlow("pay"),), 0.2)) == (StartFlow("pay"),)


@pytest.mark.req("D-09")
@pytest.mark.parametrize(("text", "is_yes"), {"yes. when are you open?": True, "when are you open?": False}.items())
def test_a_yes_before_an_answered_question_is_not_lost(text: str, is_yes: bool) -> None:
    state = DialogueState(phase=Phase.UNDERSTANDING, stack=(Instance(1, "buy"),))
    asked = Understand(1, text, (), (), None, "Shall I order it?")
    found = with_leading_yes(SHOP, asked, state, (AnswerQuestion(0),), "2026-03-04")
    assert found == ((AnswerQuestion(0), Affirm()) if is_yes else (AnswerQuestion(0),))
    assert with_leading_yes(SHOP, asked, state, (ChitChat(),), "2026-03-04") == (ChitChat(),)
