"""Messages that come while no question is open."""

from __future__ import annotations

import pytest

from duologue.dialogue.effects import Respond
from duologue.dialogue.english import Json, SlotKind
from duologue.dialogue.flow import Collect, Confirm, PerformAction, SlotSpec
from duologue.dialogue.idle_messages import IDLE
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import COLOUR, OTHER, SIZE, Talker, number


def talker() -> Talker:
    return Talker(domain(flow("size", Collect("size", "size"), completed="Done."), slots=(SIZE,)))


@pytest.mark.req("D-10")
@pytest.mark.parametrize("text", ["no, that's all", "no thanks, that's everything", "thanks, that's all"])
def test_that_is_all_ends_the_conversation_after_a_task(text: str) -> None:
    done = talker().starts("size").says("small")
    assert done.says(text).said == "Goodbye!"
    assert [effect.ends for effect in done.effects if isinstance(effect, Respond)] == [True]


@pytest.mark.req("D-10")
def test_a_plain_no_is_not_a_goodbye() -> None:
    assert talker().starts("size").says("small", "no").said == "All right."


@pytest.mark.req("D-10")
def test_going_back_without_a_task_offers_help() -> None:
    assert talker().says("go back").said == "I can help you with: do size."


def test_nlu_is_the_last_interpreter() -> None:
    assert IDLE[-1].name == "NLU"
    assert talker().says(OTHER).asked_nlu


def offers_more() -> Talker:
    ended = flow("size", Collect("size", "size"), completed="Done. Can I help you with anything else?")
    return Talker(domain(ended, slots=(SIZE,))).starts("size").says("small")


@pytest.mark.req("D-10")
@pytest.mark.parametrize("text", ["no", "no thanks", "nope"])
def test_a_no_to_anything_else_ends_the_conversation(text: str) -> None:
    done = offers_more().says(text)
    assert done.said == "Goodbye!"
    assert [effect.ends for effect in done.effects if isinstance(effect, Respond)] == [True]


@pytest.mark.req("D-10")
def test_a_yes_to_anything_else_tells_what_is_possible() -> None:
    assert offers_more().says("yes").said == "I can help you with: do size."


def with_cancelling(*names: str) -> Talker:
    book = flow("book_room", Collect("size", "size"), completed="Done.")
    others = [flow(name, Collect("c", "colour"), completed="Gone.") for name in names]
    about = domain(book, *others, slots=(SIZE, COLOUR), correctable_turns=2)
    return Talker(about).starts("book_room").says("small")


@pytest.mark.req("D-10")
@pytest.mark.parametrize("text", ["cancel that", "actually cancel it please", "I want to cancel"])
@pytest.mark.parametrize("names", [("cancel_stay",), ("cancel_room", "cancel_car")])
def test_cancel_right_after_a_task_starts_the_flow_that_cancels_it(text: str, names: tuple[str, ...]) -> None:
    talker = with_cancelling(*names).says(text)
    assert talker.state.top is not None
    assert (talker.state.top.flow, talker.said) == (names[0], "colour?")


@pytest.mark.parametrize(
    ("names", "text"),
    [((), "cancel that"), (("cancel_stay", "cancel_car"), "cancel that"), (("cancel_stay",), "never mind")],
)
def test_no_flow_starts_if_it_is_not_clear_what_to_cancel(names: tuple[str, ...], text: str) -> None:
    talker = with_cancelling(*names).says(text)
    assert (talker.state.top, talker.said) == (None, talker.domain.patterns.nothing_to_cancel)


def ended_visit() -> Talker:
    slots = (SlotSpec("time", SlotKind.TIME, "When?", hours=(8, 20)), number("rooms"))
    steps = [Collect(one.name, one.name) for one in slots]
    go = Confirm("sure", "{rooms} at {time}?"), PerformAction("go", "go")
    about = domain(flow("visit", *steps, *go, completed="Done."), slots=slots, correctable_turns=3)
    return Talker(about).starts("visit").says("ten", "three", "yes").done()


@pytest.mark.req("D-10")
def test_a_change_after_a_task_that_fits_two_slots_is_asked() -> None:
    talker = ended_visit().says("hang on, could we make it eleven instead?")
    assert talker.said.startswith("I can't tell whether you mean the time or the rooms.")
    assert talker.says("the time").slots == {"time": "11:00", "rooms": 3}


@pytest.mark.req("D-10")
@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("could we perhaps make it four rooms after all?", {"rooms": 4}),
        ("oh gosh it's five rooms my aunts are coming", {"rooms": 5}),
        ("half past nine would suit us better", {"time": "09:30"}),
        ("can it start at nine instead of ten?", {"time": "09:00"}),
    ],
)
def test_a_wish_after_a_task_changes_its_value(text: str, changed: dict[str, Json]) -> None:
    assert ended_visit().says(text).slots == {"time": "10:00", "rooms": 3, **changed}


@pytest.mark.req("D-10")
@pytest.mark.parametrize(
    "text", ["brilliant, see you on Monday then, bye", "that's a pity well goodbye", "fair enough bye"]
)
def test_a_goodbye_after_a_task_may_stand_behind_other_words(text: str) -> None:
    assert ended_visit().says(text).said == "Goodbye!"
