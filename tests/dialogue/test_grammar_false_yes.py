"""A yes is only what says yes: not an order, not half of one, not being content with what there is (D-09)."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Confirmation, SlotKind, plain_answer, read_confirmation
from duologue.dialogue.flow import Collect, Confirm, PerformAction, SlotSpec
from tests.dialogue.dialogue_flows import choice, number, talk
from tests.dialogue.grammar_replies import WEDNESDAY, ask, said

ASKED = "A suite on that date for 240 euros. Shall I change it?"


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    "reply",
    [
        "suite",  # once: it had the stem of "that suits me"
        "correct the date",
        "please correct my date",
        "almost right",
        "that's mostly correct",
        "half right",
        "definitely maybe",
        "that would work if",
        "that's enough",
        "leave it as it is",
    ],
)
def test_what_only_sounds_like_a_yes_is_none(reply: str) -> None:
    reading = read_confirmation(ASKED, reply, WEDNESDAY)
    assert not isinstance(reading, Confirmation)
    assert plain_answer(ASKED, reply, WEDNESDAY) is None


@pytest.mark.parametrize("reply", ["that's correct", "correct", "yes, it is", "that suits me", "correct, thanks"])
def test_a_yes_stays_one(reply: str) -> None:
    reading = read_confirmation(ASKED, reply, WEDNESDAY)
    assert isinstance(reading, Confirmation)
    assert reading.answer == "yes"


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
def test_whoever_is_content_wants_nothing_else(reply: str, value: bool | None) -> None:
    # Once: "that's it" and "nothing else" were a yes, and the next dish was asked for.
    assert said(ask(SlotKind.YES_NO, "Anything else?", "more"), reply) is value


def test_that_is_it_is_a_yes_where_nothing_more_is_asked_for() -> None:
    assert said(ask(SlotKind.YES_NO, "Is this the right one?"), "that's it") is True


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "slots"),
    {
        "yes please, two small ones": {"more": True, "amount": 2, "size": "small"},
        "no, a large one": {"more": False, "size": "large"},
        "a large one": {"size": "large"},
    }.items(),
)
def test_a_yes_that_comes_with_values_counts_as_well(reply: str, slots: dict[str, object]) -> None:
    # Once: the values were taken and the yes was not, and "anything else?" was asked again.
    more = SlotSpec("more", SlotKind.YES_NO, "Anything else?", ask_before_filling=True)
    steps = (Collect("a", "more"), Collect("b", "size"), Collect("c", "amount"), Confirm("sure", "Right?"))
    talker = talk(
        *steps, PerformAction("send", "send"), slots=(more, choice("size", "small", "large"), number("amount"))
    )
    assert talker.says(reply).slots == slots
