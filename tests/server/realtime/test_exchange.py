"""The draft of one step: ids and items."""

from __future__ import annotations

from duologue.server.realtime.exchange import ExchangeDraft, ExchangeState
from duologue.server.realtime.items import ITEMS_MAX, ItemKind, ItemRecord


def test_ids_differ_and_the_state_isnt_changed() -> None:
    state = ExchangeState("sess_12345678", "conv")
    draft = ExchangeDraft(state)
    assert len({draft.new_id("item") for _ in range(100)}) == 100
    assert state.counted == 0


def test_old_items_are_forgotten() -> None:
    draft = ExchangeDraft(ExchangeState("sess_12345678", "conv"))
    for number in range(ITEMS_MAX + 5):
        draft.add(ItemRecord(str(number), ItemKind.USER_TEXT, "x"))
    assert len(draft.s.items) == ITEMS_MAX
    assert draft.find("4") is None
    assert draft.last_id == str(ITEMS_MAX + 4)


def test_an_item_is_found_by_its_voice() -> None:
    draft = ExchangeDraft(ExchangeState("sess_12345678", "conv"))
    draft.add(ItemRecord("a", ItemKind.AGENT_AUDIO, "x", voice=3))
    draft.add(ItemRecord("b", ItemKind.USER_TEXT, "x"))
    found = draft.find_voice(3)
    assert found is not None
    assert found.id == "a"
    assert draft.find_voice(0) is None
    assert draft.change(found, text="y").text == "y"
    assert draft.s.items[0].text == "y"
