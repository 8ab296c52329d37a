"""The notes that the verdict checks."""

from __future__ import annotations

import pytest

from duologue.core.leaves import Voice
from duologue.lab.torture.person_notes import ConversationNotes, SavedConversation


def test_an_entry_has_its_time_in_milliseconds() -> None:
    notes = ConversationNotes(1, "c")
    notes.note(1.23456, "typed", "pay 7")
    notes.note(2.0, "ended")
    assert notes.entries == [(1.235, "typed", "pay 7"), (2.0, "ended", "")]


@pytest.mark.parametrize("voice", list(Voice))
def test_a_conversation_sounds_unless_its_voice_is_silent(voice: Voice) -> None:
    saved = SavedConversation("c", (), 0, False, {"voice": voice.value})
    assert saved.is_sounding == (voice is not Voice.SILENT)


def test_a_conversation_without_a_machine_is_silent() -> None:
    assert not SavedConversation("c", (), 0, False).is_sounding
