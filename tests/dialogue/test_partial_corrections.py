"""New values in replies that aren't wholly understood."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.english import Json, SlotKind
from duologue.dialogue.flow import Collect, Confirm, PerformAction, SlotSpec
from duologue.dialogue.partial_corrections import (
    corrections_in_part,
    opens_correction,
    second_values,
    unclear_change,
    unclear_slots,
)
from tests.dialogue.dialogue_flows import TODAY, Talker, choice, number, talk

SLOTS = (
    choice("drink", "tea", "coffee"),
    SlotSpec("day", SlotKind.DATE, "Which day?"),
    SlotSpec("time", SlotKind.TIME, "When?"),
    SlotSpec("table", SlotKind.CODE, "Which table?"),
    SlotSpec("sugar", SlotKind.YES_NO, "Sugar?"),
)


def ordered() -> Talker:
    steps = [Collect(spec.name, spec.name) for spec in SLOTS]
    confirm = Confirm("sure", "{drink} {day} {time} {table} {sugar}?")
    talker = talk(*steps, confirm, PerformAction("go", "go"), slots=SLOTS)
    return talker.says("tea", "on Friday", "4 pm", "A 1 2", "no")


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("fine, but make it saturday", {"day": "2025-12-06"}),
        ("no, I said before five, make it half past three", {"time": "15:30"}),
        ("oh, and not tea, my doctor says coffee is better", {"drink": "coffee"}),
        ("make it coffee, and saturday after all", {"drink": "coffee", "day": "2025-12-06"}),
        ("could it be monday instead of friday?", {"day": "2025-12-08"}),
        ("you forgot that he's a parrot, but yeah", {}),
        ("when is the saturday market on?", {}),
        ("sorry, which fee? it leaves on saturday?", {}),
        ("sorry, could we make it saturday?", {"day": "2025-12-06"}),
        ("no, it was the friday just gone, the twenty-eighth", {"day": "2025-11-28"}),
        ("no, november twenty-eighth, four days ago", {"day": "2025-11-28"}),
        ("hang on coffee my aunt hates tea", {"drink": "coffee"}),
        ("lovely send it but on saturday", {"day": "2025-12-06"}),
        ("all good except the time it should be half past five", {"time": "17:30"}),
        ("it wasn't friday it was saturday", {"day": "2025-12-06"}),
        ("Saturday suits my aunt better", {}),
        ("Saturday suits us better", {"day": "2025-12-06"}),
        ("I'll ask my aunt and ring again on saturday", {}),
        ("you know what, we'll try again tomorrow", {}),
    ],
)
def test_a_clause_with_a_new_value_changes_its_slot(text: str, changed: dict[str, Json]) -> None:
    talker = ordered()
    before = talker.slots
    talker.says(text)
    assert talker.slots == {**before, **changed}
    assert talker.runs == []


def test_a_number_with_an_and_stays_whole() -> None:
    amount = SlotSpec("amount", SlotKind.NUMBER, "How much?")
    talker = talk(Collect("a", "amount"), Confirm("sure", "{amount}?"), slots=(amount,)).says("90")
    talker.says("no, sorry about that, make it a hundred and twenty")
    assert talker.slots == {"amount": 120}


def test_the_parts_of_a_correction() -> None:
    talker = ordered()
    top = talker.state.top
    assert top is not None
    assert opens_correction(talker.domain, "yes, but make it later")
    assert not opens_correction(talker.domain, "for my mother please")
    assert corrections_in_part(talker.domain, top, "x" * 300, TODAY) == ()
    assert unclear_change(talker.domain, top, "it's for my mother", TODAY) is None
    assert second_values(talker.domain, top, "coffee", TODAY) is None


@pytest.mark.parametrize(("language", "text"), [("de", "gut, aber lieber coffee"), ("es", "bueno, pero mejor coffee")])
def test_changes_are_found_in_other_languages(language: str, text: str) -> None:
    drink = SLOTS[0]
    talker = talk(Collect("a", "drink"), Confirm("sure", "{drink}?"), slots=(drink,)).says("tea")
    talker.domain = replace(talker.domain, language=language)
    assert talker.says(text).slots == {"drink": "coffee"}


@pytest.mark.parametrize("text", ["could you phone me instead?", "no, the last name is missing"])
def test_a_request_or_a_position_changes_no_choice(text: str) -> None:
    item = choice("item", "glasses", "phone")
    mail = SlotSpec("mail", SlotKind.EMAIL, "Your e-mail?")
    talker = talk(Collect("a", "item"), Collect("b", "mail"), slots=(item, mail)).says("glasses", text)
    assert talker.slots == {"item": "glasses"}


def test_a_denied_value_is_replaced_by_the_right_one() -> None:
    item = choice("item", "glasses", "phone")
    talker = talk(Collect("a", "item"), Confirm("sure", "A {item}?"), slots=(item,)).says("phone")
    assert talker.says("No no, not a phone, I lost my glasses!").slots == {"item": "glasses"}


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "no, it's the same price as the coffee"),
        ("en", "actually the same again for my wife with coffee"),
        ("de", "nein, dasselbe wie beim coffee"),
        ("es", "no, lo mismo que con el coffee"),
    ],
)
def test_a_thing_to_which_the_user_compares_is_no_new_value(language: str, text: str) -> None:
    talker = ordered()
    talker.domain = replace(talker.domain, language=language)
    talker.says(text)
    assert (talker.slots["drink"], talker.runs) == ("tea", [])


@pytest.mark.req("D-07", "D-09")
@pytest.mark.parametrize(
    ("text", "street", "copies"),
    [
        ("thirty one mill lane", "thirty one mill lane", 4),
        ("no it's 31 mill lane", "31 mill lane", 4),
        ("31 mill", "31 mill lane", 4),
        ("31 b mill lane actually", "31 b mill lane", 4),
        ("make it five", "thirty mill lane", 5),
    ],
)
def test_a_number_in_a_text_that_is_said_again_is_no_value_of_another_slot(text: str, street: str, copies: int) -> None:
    slots = SlotSpec("street", SlotKind.TEXT, "Where?"), SlotSpec("copies", SlotKind.NUMBER, "How many?")
    steps = *(Collect(one.name, one.name) for one in slots), Confirm("sure", "{copies} to {street}. Shall I?")
    talker = talk(*steps, PerformAction("go", "go"), slots=slots).says("thirty mill lane", "four", text)
    assert (talker.slots, talker.runs) == ({"street": street, "copies": copies}, [])


def counted() -> Talker:
    slots = (SlotSpec("time", SlotKind.TIME, "When?", hours=(8, 20)), number("rooms"))
    steps = [Collect(spec.name, spec.name) for spec in slots]
    go = Confirm("sure", "{rooms} at {time}?"), PerformAction("go", "go")
    return talk(*steps, *go, slots=slots).says("ten", "three")


@pytest.mark.req("D-09")
def test_a_value_in_a_clause_that_fits_two_slots_changes_neither_and_is_asked() -> None:
    talker = counted()
    talker.says("oh my aunt is late so make it eleven")
    assert talker.slots == {"time": "10:00", "rooms": 3}
    assert talker.said.startswith("I can't tell whether you mean the rooms or the time.")
    assert talker.says("the time").slots["time"] == "11:00"


@pytest.mark.req("D-09")
def test_the_old_value_tells_which_slot_is_meant() -> None:
    talker = counted()
    assert unclear_slots(talker.domain, talker.state.stack[-1], "forget ten, put it back to nine", TODAY) == ()
