"""Yes and no as people say them."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.english.tokens import tokens_of
from duologue.dialogue.english.yes_no import opening_answer, trick_of
from tests.dialogue.english.grammar_replies import ask, said


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "yes": True,
        "yeah sure": True,
        "that's fine with me": True,
        "sounds good": True,
        "why not": True,
        "I don't mind": True,
        "no problem": True,
        "please do": True,
        "I'd like a wake-up call": True,
        "a wake up call would be great": True,
        "no": False,
        "nope, thanks": False,
        "no thank you": False,
        "I'd rather not": False,
        "not really": False,
        "I don't need that": False,
        "I won't be needing a wake-up call": False,
        "no, that's fine": None,
        "yes but only tomorrow": None,
        "I don't know": None,
        "yes, at seven": None,
        "I'm good, thanks": None,
        "I'm good with that": True,
        "I'd like to think about it": None,
        "let me see": None,
        "what does it cost?": None,
    }.items(),
)
def test_yes_and_no_as_people_say_it(reply: str, value: bool | None) -> None:
    question = ask(SlotKind.YES_NO, "Would you like a wake-up call?", "wake_up_call")
    assert said(question, reply) is value


def test_a_question_that_minds_or_offers_two_things_needs_more_than_yes() -> None:
    minds = ask(SlotKind.YES_NO, "Do you mind sharing a table?", "shared_table")
    assert said(minds, "yes") is None
    assert said(minds, "no") is None
    assert said(minds, "no, I don't mind") is True
    assert said(minds, "that's fine") is True
    offers = ask(SlotKind.YES_NO, "A shared table or your own?", "shared_table")
    assert said(offers, "yes") is None
    assert said(offers, "my own would be great") is None
    assert said(offers, "a shared one is fine") is True


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "that's it": False,
        "that's all, thanks": False,
        "nothing else": False,
        "yeah, that's all": False,
        "no more, thank you": False,
        "I'm good": False,
        "yes": True,
        "yes please": True,
        "no": False,
        "that's all nonsense": None,
    }.items(),
)
def test_a_content_user_wants_nothing_else(reply: str, value: bool | None) -> None:
    # Past bug: "that's it" and "nothing else" were a yes, and the next dish was asked for.
    assert said(ask(SlotKind.YES_NO, "Anything else?", "more"), reply) is value


def test_that_is_it_is_a_yes_where_nothing_more_is_asked_for() -> None:
    assert said(ask(SlotKind.YES_NO, "Is this the right one?"), "that's it") is True


@pytest.mark.req("D-05")
def test_i_do_not_mind_does_not_answer_do_you_need_one() -> None:
    # Past bug: "I don't mind", after "do you need an automatic?", was a yes.
    assert said(ask(SlotKind.YES_NO, "Do you need an automatic?"), "I don't mind") is None
    assert said(ask(SlotKind.YES_NO, "Is a shared ride all right?"), "I don't mind") is True


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("reply", "answer"),
    {
        "no, it's short": False,
        "no it's rather short": False,
        "yes, they came": True,
        "yes please, as soon as possible": True,
        "no idea": None,
        "no, I don't know": None,
        "yes, but only on Mondays": None,
        "yes, maybe": None,
        "no, what is that": None,
        "they came": None,
    }.items(),
)
def test_a_reply_may_open_with_yes_or_no_and_explain_it(reply: str, answer: bool | None) -> None:
    assert opening_answer(tokens_of(reply)) is answer


@pytest.mark.req("D-05")
def test_getting_fit_is_not_a_yes() -> None:
    # Past bug: the user's aim ordered a trainer.
    trainer = ask(SlotKind.YES_NO, "Would you like a personal trainer?")
    assert said(trainer, "get fit") is None
    assert said(trainer, "that would be great") is True


@pytest.mark.req("D-04")
@pytest.mark.parametrize("reply", ["no we don't need any", "no, I don't want any", "no, sorry", "sorry, no"])
def test_a_no_may_apologise_and_refuse_any(reply: str) -> None:
    assert said(ask(SlotKind.YES_NO, "Do you need 3D glasses?", "glasses"), reply) is False


@pytest.mark.req("D-04")
@pytest.mark.parametrize("reply", ["thankfully no", "luckily not", "unfortunately not"])
def test_a_no_may_come_with_relief_or_regret(reply: str) -> None:
    assert said(ask(SlotKind.YES_NO, "Was anybody hurt?", "injured"), reply) is False


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["I will", "I want to", "please do", "do it", "I'd like to"])
def test_a_plan_does_not_answer_a_question_about_the_past(reply: str) -> None:
    # Past bug: "I will" said that it had been switched off and on again.
    assert said(ask(SlotKind.YES_NO, "Have you switched it off and on again?"), reply) is None
    assert said(ask(SlotKind.YES_NO, "Would you like a window seat?"), reply) is True


@pytest.mark.parametrize(("reply", "value"), {"yes I did": True, "I did": True, "I haven't": False}.items())
def test_a_question_about_the_past_is_answered_in_the_past(reply: str, value: bool) -> None:
    assert said(ask(SlotKind.YES_NO, "Have you switched it off and on again?"), reply) is value


@pytest.mark.req("D-04")
@pytest.mark.parametrize("reply", ["I think so", "I guess so", "yeah, I suppose so", "I'd say so"])
def test_a_hedged_yes_is_a_yes(reply: str) -> None:
    assert said(ask(SlotKind.YES_NO, "Would you like breakfast?", "breakfast"), reply) is True


@pytest.mark.parametrize("reply", ["I don't think so", "I wouldn't say so", "I guess not"])
def test_a_hedged_no_is_a_no(reply: str) -> None:
    assert said(ask(SlotKind.YES_NO, "Would you like breakfast?", "breakfast"), reply) is False


@pytest.mark.req("D-04")
def test_not_yet_is_a_no() -> None:
    assert said(ask(SlotKind.YES_NO, "Is it vaccinated?", "vaccinated"), "not yet") is False


def test_a_no_may_be_followed_by_what_the_user_wants_instead() -> None:
    assert opening_answer(tokens_of("no just a lift to the corner")) is False
    assert opening_answer(tokens_of("no idea")) is None


@pytest.mark.parametrize(
    ("question", "is_clear"),
    [
        ("Do you have any cats or dogs?", True),
        ("Are there stairs or a ramp?", True),
        ("Do you want it delivered or will you fetch it?", False),
        ("Are there any stairs or not?", False),
    ],
)
def test_a_question_for_any_of_two_things_is_answered_with_yes_or_no(question: str, is_clear: bool) -> None:
    assert (trick_of(question) is None) is is_clear
