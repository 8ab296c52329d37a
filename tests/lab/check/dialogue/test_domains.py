"""The explored domains use everything that a flow can use."""

from __future__ import annotations

from dataclasses import fields

from duologue.dialogue.flow import Instruction, SlotSpec
from duologue.lab.check.dialogue.domains import SCENES


def test_the_domains_use_every_instruction_and_every_option() -> None:
    domains = [scene.domain for scene in SCENES.values()]
    programs = [one.program for domain in domains for one in domain.flows.values()]
    used = {type(at) for program in programs for at in program}
    assert used == set(Instruction.__args__)  # type: ignore[attr-defined]
    specs = [spec for domain in domains for spec in domain.slots.values()]
    of_grammars = {"names", "is_open", "hours", "is_past", "label", "name", "kind", "prompt", "pattern", "language"}
    of_words = {"rephrase", "item_text"}  # they change words only
    for option in {one.name for one in fields(SlotSpec)} - of_grammars - of_words:
        assert len({repr(getattr(spec, option)) for spec in specs}) > 1, f"no scene uses {option}"
