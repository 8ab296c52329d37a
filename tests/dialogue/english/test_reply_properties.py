"""What holds for every text: no failure, spans inside the reply, the same value however it is written, bounded work."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.dialogue.english import (
    Ambiguous,
    Choice,
    Confirmation,
    Direct,
    NameList,
    Question,
    Reading,
    Slot,
    SlotKind,
    Unclear,
    read,
    read_confirmation,
)
from tests.dialogue.english.grammar_replies import WEDNESDAY

NAMES = NameList.of(["Paris", "New York", "Port Louis", "The Hague", "Saint-Denis", "A & B", "One Two"])

SLOTS = tuple(
    Slot(f"{kind}_slot", kind, choices=(Choice("red"), Choice("dark blue", ("navy",))), names=NAMES, may_be_any=True)
    for kind in SlotKind
)

WORDS = """yes no not one two twenty hundred thousand and a half past quarter to six pm am in the morning evening next
this
friday week of march 5th the first second last at from until double oh dash dot o'clock $ 5 12 18:30 3/5 2026-03-04 -
couple dozen day after tomorrow hour minutes dollars cents Paris New York red blue navy I'd like please , . ? ! @ com
as for B alpha don't mind any it is that's how about may end month weekend year nineteen &""".split()

texts = st.one_of(st.text(max_size=80), st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))


def check(reading: Reading, reply: str) -> None:
    """A reading is whole: JSON values, spans in the reply."""
    values = []
    if isinstance(reading, Direct | Confirmation):
        values = [(value.value, value.raw, value.span) for value in reading.values]
        assert isinstance(reading, Confirmation) or values
    elif isinstance(reading, Ambiguous):
        assert len(reading.candidates) > 1
        values = [(candidate, reading.raw, reading.span) for candidate in reading.candidates]
    for value, raw, (start, end) in values:
        assert json.loads(json.dumps(value)) == value
        assert 0 <= start < end <= len(reply)
        assert raw == reply[start:end]


PLAIN = {
    SlotKind.DATE: ["tomorrow", "the fifth of may", "friday next week", "in two weeks"],
    SlotKind.TIME: ["half past six in the evening", "around noon", "six thirty pm"],
    SlotKind.NUMBER: ["twenty one", "a couple", "one thousand and five"],
    SlotKind.DURATION: ["an hour and a half", "three nights"],
    SlotKind.MONEY: ["fifty bucks", "two euros and ten cents"],
    SlotKind.YES_NO: ["yes please", "i'd rather not"],
    SlotKind.CHOICE: ["dark blue", "the last one"],
    SlotKind.NAME: ["new york", "in port louis please"],
    SlotKind.PHONE: ["five five five oh one double two"],
    SlotKind.EMAIL: ["anna dot k at example dot com"],
}


def values_of(reading: Reading) -> list[object]:
    assert isinstance(reading, Direct), reading
    return [value.value for value in reading.values]


@given(reply=texts, slot=st.sampled_from(SLOTS), is_flow=st.booleans())
@settings(max_examples=600, deadline=None)
def test_every_text_can_be_read(reply: str, slot: Slot, is_flow: bool) -> None:
    others = tuple(other for other in SLOTS if other is not slot) if is_flow else ()
    check(read(Question(slot, "Which one, please?", others=others), reply, WEDNESDAY), reply)


@given(reply=texts)
@settings(max_examples=300, deadline=None)
def test_every_text_can_answer_a_confirmation(reply: str) -> None:
    check(read_confirmation("Two people at six?", reply, WEDNESDAY, SLOTS), reply)


@given(
    reply=texts,
    slot=st.sampled_from(SLOTS),
    among=st.lists(st.sampled_from(["06:30", "18:30", "2026-03-05", "red", 2]), max_size=3, unique=True),
)
@settings(max_examples=300, deadline=None)
def test_every_text_can_answer_the_question_back(reply: str, slot: Slot, among: list[str | int]) -> None:
    check(read(Question(slot, among=tuple(among)), reply, WEDNESDAY), reply)


@pytest.mark.parametrize(("kind", "reply"), [(kind, reply) for kind, replies in PLAIN.items() for reply in replies])
@pytest.mark.parametrize("dress", [str.upper, str.capitalize, "{}.".format, "  {}!  ".format, "um, {}".format])
def test_a_value_is_the_same_however_it_is_written(kind: SlotKind, reply: str, dress: object) -> None:
    slot = next(slot for slot in SLOTS if slot.kind is kind)
    plain = values_of(read(Question(slot), reply, WEDNESDAY))
    assert callable(dress)
    assert values_of(read(Question(slot), dress(reply), WEDNESDAY)) == plain


@pytest.mark.parametrize("text", ["a", "one ", "1", "no, ", "half past ", "A&", "5th of ", "@", "x@", "\u2019", "🙂 "])
def test_a_huge_text_is_refused(text: str) -> None:
    huge = text * (100_000 // len(text))
    for slot in SLOTS:
        assert isinstance(read(Question(slot, huge, others=SLOTS), huge, WEDNESDAY), Unclear)
    assert isinstance(read_confirmation(huge, huge, WEDNESDAY), Unclear)


@pytest.mark.parametrize("text", ["one ", "half past ", "the 5th of ", "double ", "Paris ", "no "])
def test_the_longest_reply_that_is_read_comes_to_an_end(text: str) -> None:
    """Catastrophic backtracking would hang here. `duologue bench dialogue` measures how long it takes."""
    longest = (text * 500)[:480]
    for slot in SLOTS:
        check(read(Question(slot, others=SLOTS), longest, WEDNESDAY), longest)
