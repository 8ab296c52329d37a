"""Which text of an answer is passed on, and where another brain may go on."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from duologue.failover.sentence_seam import HELD_MS_MAX, SentenceSeam
from duologue.ports import Part, Show, ToolCall, Working


def take(seam: SentenceSeam, *parts: Part, at_ms: int = 0) -> list[Part]:
    return [ready for part in parts for ready in seam.take(part, at_ms)]


def test_the_first_sentence_is_passed_on_as_it_arrives_and_later_ones_whole() -> None:
    seam = SentenceSeam()
    assert take(seam, "Your table ", "is booked. ", "We look ", "forward. ", "Good ") == [
        "Your table ",
        "is booked. "[: -len(" ")],
        " We look forward.",
    ]
    assert list(seam.rest()) == [" Good "]


def test_another_brain_may_go_on_after_a_whole_sentence_only() -> None:
    seam = SentenceSeam()
    assert not seam.is_open  # nothing was said
    take(seam, "Your table ")
    assert not seam.is_open
    take(seam, "is booked. We ")
    assert seam.is_open
    assert seam.said == "Your table is booked."


def test_after_anything_but_text_no_other_brain_goes_on() -> None:
    for part in (ToolCall("book", {}), Show("x")):
        seam = SentenceSeam()
        take(seam, "One moment. And ", part)
        assert not seam.is_open
    seam = SentenceSeam()
    take(seam, "One moment. ", Working())
    assert seam.is_open


def test_a_sentence_that_was_said_is_not_said_again() -> None:
    seam = SentenceSeam()
    take(seam, "Your table is booked. We look for")
    seam.go_on()
    assert take(seam, "Your table is booked! ", "See you ", "at seven. ") == [" See you at seven."]
    assert seam.said == "Your table is booked. See you at seven."


def test_words_of_a_slow_brain_do_not_wait_for_long() -> None:
    seam = SentenceSeam()
    take(seam, "One moment. I am ")
    assert take(seam, "still ", at_ms=HELD_MS_MAX - 1) == []
    assert take(seam, "looking ", at_ms=HELD_MS_MAX) == [" I am still looking "]
    assert not seam.is_open


@example(["?", "??", "????? ", "?"])
@given(st.lists(st.text("ab.!? \n", max_size=6), max_size=30))
def test_no_character_is_lost_or_repeated(parts: list[str]) -> None:
    seam = SentenceSeam()
    passed = [*take(seam, *parts), *seam.rest()]
    assert "".join(str(one) for one in passed) == "".join(parts)
