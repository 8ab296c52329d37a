"""A yes with something behind it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, Confirm, FaqEntry, PerformAction, SayText, SlotSpec
from tests.dialogue.dialogue_flows import SIZE, Talker, at_confirmation, talk

PLACE = SlotSpec("place", SlotKind.TEXT, "Where?")


def with_faq() -> Talker:
    talker = at_confirmation()
    talker.domain = replace(talker.domain, faq=(FaqEntry(("do you take dogs",), "Dogs are welcome."),), faq_min=0.5)
    return talker


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    "text",
    [
        "that is correct",
        "yes, do. Thanks ever so much, young man",
        "yes please be quick, it's raining here",
        "oh yes please, you're an angel",
        "yes, my wife will be so pleased",
    ],
)
def test_a_comment_behind_a_yes_does_not_lose_it(text: str) -> None:
    talker = at_confirmation().says(text)
    assert (len(talker.runs), talker.asked_nlu) == (1, False)


@pytest.mark.req("D-09")
def test_a_goodbye_behind_a_yes_waits_for_the_action() -> None:
    talker = at_confirmation().says("Yes, thank you. Bye bye.")
    assert len(talker.runs) == 1
    assert talker.done(ref="R1").said.endswith("Goodbye!")


@pytest.mark.req("D-09")
@pytest.mark.parametrize("text", ["okay bye", "Ok, goodbye", "alright, bye then"])
def test_an_okay_before_a_goodbye_confirms_nothing_and_the_question_is_asked_again(text: str) -> None:
    talker = at_confirmation()
    asked = talker.said
    talker.says(text)
    assert (talker.runs, talker.asked_nlu) == ([], False)
    assert talker.said.endswith(asked)
    assert len(talker.says("yes").runs) == 1


@pytest.mark.req("D-09")
def test_a_question_behind_a_yes_is_answered_and_the_yes_is_used() -> None:
    talker = with_faq().says("yes that's right. oh, do you take dogs?")
    assert (len(talker.runs), talker.said.startswith("Dogs are welcome.")) == (1, True)
    weighed = with_faq().says("yes, but do you take dogs?")
    assert (weighed.runs, weighed.said.startswith("Dogs are welcome.")) == ([], True)


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    "text",
    [
        "okay and the cleaning is included right",
        "yes and there's a lift isn't there",
        "sure, you send me the papers, correct",
        "yes and they take cards don't they",
        "so we can park there huh",
        "yes and it's mister lee right he always does it",
        "yes I take it the towels are there",
        "yes so we just come over yeah",
    ],
)
def test_a_statement_with_a_tag_is_a_question_and_runs_nothing(text: str) -> None:
    talker = at_confirmation()
    asked = talker.said
    talker.says(text)
    assert (talker.runs, talker.asked_nlu) == ([], False)
    assert talker.said.startswith(talker.domain.patterns.cannot_answer)
    assert talker.said.endswith(asked)
    assert len(talker.says("yes").runs) == 1


def test_a_statement_with_a_tag_is_answered_if_the_faq_can_and_runs_nothing() -> None:
    talker = with_faq().says("yes and you take dogs don't you")
    assert (talker.runs, talker.said.startswith("Dogs are welcome.")) == ([], True)


@pytest.mark.parametrize("text", ["yes, that's right", "yeah right", "you've got that right", "that's all correct"])
def test_praise_is_no_tag(text: str) -> None:
    assert len(at_confirmation().says(text).runs) == 1


@pytest.mark.parametrize("text", ["yes, Lakeside Café", "yes if it's free", "yes, but not there", "yes, maybe it is"])
def test_a_yes_with_a_value_or_a_doubt_behind_it_runs_nothing(text: str) -> None:
    flow = (Collect("a", "place"), Confirm("sure", "At {place}?"), PerformAction("go", "go", ("place",)))
    assert talk(*flow, slots=(PLACE,)).says("by the lake", text).runs == []


@pytest.mark.parametrize(
    ("language", "text"),
    [("de", "ja, meine Frau wird sich freuen"), ("es", "sí, mi mujer se va a alegrar"), ("de", "ja, danke, tschüss")],
)
def test_a_yes_is_kept_in_other_languages(language: str, text: str) -> None:
    talker = talk(Collect("a", "size"), Confirm("sure", "{size}?"), SayText("ok", "Fertig."), slots=(SIZE,))
    talker.domain = replace(talker.domain, language=language)
    assert "Fertig." in talker.says("small", text).said


@pytest.mark.req("D-09")
def test_after_a_yes_the_wish_for_the_same_again_waits_for_the_action() -> None:
    talker = at_confirmation().says("yes and the same for my mother please")
    assert (len(talker.runs), talker.state.queue) == (1, ("same for my mother please",))


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    "text",
    [
        "yes and the movers should come through the yard",
        "yes and I'm up on the roof terrace",
        "that's right, and my uncle needs a ramp",
        "yes, leave it with the neighbours",
        "yes please, he must phone my sister",
    ],
)
def test_a_wish_beside_a_yes_is_not_passed_over(text: str) -> None:
    talker = at_confirmation().says(text)
    assert (talker.runs, talker.asked_nlu) == ([], True)
    assert talker.means().said.startswith(talker.domain.patterns.only_yes.partition("{")[0])
    assert len(talker.says("yes").runs) == 1


def test_a_wish_before_a_yes_is_not_passed_over() -> None:
    talker = at_confirmation().says("the movers should come through the yard, yes")
    assert (talker.runs, talker.asked_nlu) == ([], True)


@pytest.mark.parametrize(
    "text",
    ["yes and thank you so much", "yes we should", "yes that should be fine", "yes send it, my brother's waiting"],
)
def test_thanks_and_words_of_agreement_beside_a_yes_are_no_wish(text: str) -> None:
    talker = at_confirmation().says(text)
    assert (len(talker.runs), talker.asked_nlu) == (1, False)


@pytest.mark.parametrize(
    ("language", "text"),
    [("de", "ja, meine Eltern brauchen einen Kinderwagen"), ("es", "sí, mis padres necesitan una rampa")],
)
def test_a_wish_beside_a_yes_is_found_in_other_languages(language: str, text: str) -> None:
    talker = talk(Collect("a", "size"), Confirm("sure", "{size}?"), SayText("ok", "Fertig."), slots=(SIZE,))
    talker.domain = replace(talker.domain, language=language)
    assert "Fertig." not in talker.says("small", text).said
