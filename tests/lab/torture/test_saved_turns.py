"""What was typed and what was saved are compared in order."""

from __future__ import annotations

import pytest

from duologue.lab.torture.person_notes import TypedTurn
from duologue.lab.torture.saved_turns import Compared, compare


def turns(*texts: str) -> list[TypedTurn]:
    return [TypedTurn(str(number), text, "1", 0.0) for number, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("typed", "saved", "missing", "unexpected"),
    [
        (("order 1", "yes"), ("order 1", "yes"), (), ()),
        (("order 1", "yes"), ("order 1 yes",), (), ()),  # two messages that were saved as one
        (("order 1", "yes"), ("order 1",), (1,), ()),
        (("order 1", "yes"), (), (0, 1), ()),
        (("order 1", "yes"), ("order 1", "yes", "yes"), (), ("yes",)),
        (("order 1", "yes", "order 2", "yes"), ("order 1", "order 2", "yes", "yes"), (1,), ("yes",)),
        (("order 1", "yes"), ("order", "yes"), (0,), ()),  # half of a message is missing
        ((), ("yes",), (), ("yes",)),
    ],
)
def test_what_is_missing_and_what_is_there_too_often_is_found(
    typed: tuple[str, ...], saved: tuple[str, ...], missing: tuple[int, ...], unexpected: tuple[str, ...]
) -> None:
    assert compare(turns(*typed), [False] * len(typed), saved) == Compared(missing, unexpected)


@pytest.mark.parametrize("excused", [0, 1])
def test_a_saved_word_counts_for_the_message_that_must_be_there(excused: int) -> None:
    may_miss = [number == excused for number in range(2)]
    assert compare(turns("yes", "yes"), may_miss, ("yes",)).missing == (excused,)
