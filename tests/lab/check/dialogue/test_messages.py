"""What is tried in dialogues is understood in its language."""

from __future__ import annotations

import pytest

from duologue.dialogue.language.packs import PACKS, pack_of
from duologue.dialogue.language.readings import Ambiguous, Direct, Question, Slot, SlotKind
from duologue.lab.check.dialogue.messages import MESSAGES, messages_of

TODAY = "2025-12-03"


def test_every_pack_is_tried_in_its_language() -> None:
    assert set(MESSAGES) == set(PACKS)
    assert messages_of("de-AT") is MESSAGES["de"]


@pytest.mark.parametrize("code", MESSAGES)
def test_answers_are_answers_and_commands_are_commands(code: str) -> None:
    messages, pack = messages_of(code), pack_of(code)
    for kind, answers in messages.said.items():
        for text in answers if kind is not SlotKind.CHOICE else ():
            assert isinstance(pack.replies.read(Question(Slot("name", kind)), text, TODAY), Direct), text
    for text in messages.common[2:]:
        assert pack.signs.command_of(pack.words.tokens_of(text)), text
    for kind, text in messages.ambiguous.items():
        assert isinstance(pack.replies.read(Question(Slot("x", kind)), text, TODAY), Ambiguous), text
