"""What must have happened before an instruction is reached."""

from __future__ import annotations

from duologue.dialogue.conditions import parse
from duologue.dialogue.flow import Collect, Confirm, End, Jump, JumpUnless, PerformAction
from duologue.lab.check.dialogue.program_paths import slots_before, yeses_before


def test_a_question_on_the_only_path_comes_before() -> None:
    program = (Collect("a", "size"), Confirm("sure", "Sure?"), PerformAction("go", "go"), End())
    assert slots_before(program, 2) == ("size",)
    assert yeses_before(program, 2) == ("sure",)
    assert slots_before(program, 0) == ()


def test_a_question_in_a_branch_can_be_passed_by() -> None:
    program = (
        Collect("a", "amount"),
        JumpUnless("large", parse("amount > 5"), 3),
        Collect("b", "reason"),
        PerformAction("go", "go"),
        End(),
    )
    assert slots_before(program, 3) == ("amount",)


def test_a_no_that_leads_to_the_action_makes_the_yes_unnecessary() -> None:
    program = (Confirm("sure", "Sure?", on_no=2), Jump("over", 2), PerformAction("go", "go"), End())
    assert yeses_before(program, 2) == ()


def test_a_final_action_uses_up_the_confirmation_before_it() -> None:
    program = (Confirm("sure", "Sure?"), PerformAction("block", "block", is_final=True), PerformAction("send", "send"))
    assert yeses_before(program, 1) == ("sure",)
    assert yeses_before(program, 2) == ()
