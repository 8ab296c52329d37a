"""Greetings at the beginning of a message give no value."""

from __future__ import annotations

import pytest

from duologue.dialogue.language.packs import pack_of
from duologue.dialogue.language.readings import Choice, Slot, SlotKind

TODAY = "2026-11-18T10:00"


@pytest.mark.parametrize(
    ("language", "choices", "greeting", "value"),
    [
        ("en", ("morning", "evening"), "Good morning, I have three coats", "three coats in the evening"),
        ("en", ("morning", "evening"), "oh hello, good evening dear, three coats", "tomorrow evening please"),
        ("de", ("Morgen", "Abend"), "Guten Abend, ich habe drei Hemden", "drei Hemden, am Abend"),
        ("es", ("tarde", "noche"), "Buenas tardes, tengo tres camisas", "tres camisas por la tarde"),
    ],
)
def test_a_greeting_is_no_part_of_the_day(language: str, choices: tuple[str, ...], greeting: str, value: str) -> None:
    slot = Slot("half", SlotKind.CHOICE, choices=tuple(map(Choice, choices)))
    read = pack_of(language).replies.read_parts
    assert read((slot,), greeting, TODAY) == ()
    assert len(read((slot,), value, TODAY)) == 1
