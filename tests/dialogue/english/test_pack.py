"""English is a pack like the others."""

from __future__ import annotations

from duologue.dialogue.english import Direct, Question, Slot, SlotKind, read
from duologue.dialogue.english.pack import ENGLISH


def test_the_pack_reads_with_the_english_grammars() -> None:
    question = Question(Slot("day", SlotKind.DATE))
    reading = ENGLISH.replies.read(question, "on friday", "2026-03-04")
    assert isinstance(reading, Direct)
    assert reading == read(question, "on friday", "2026-03-04")
    assert ENGLISH.signs.command_of(ENGLISH.words.tokens_of("go back, please")) == "back"
