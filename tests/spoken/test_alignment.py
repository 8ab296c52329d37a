"""The alignment of the written and the spoken text: a written word counts when all of its spoken words were said."""

from __future__ import annotations

import pytest

from duologue.spoken.alignment import AlignedPiece, SpokenForm
from duologue.spoken.forms import SpokenForms


def said(spoken: SpokenForm, until: str) -> str:
    """The written text up to where the spoken text has been said, which ends with `until`."""
    place = spoken.text.index(until) + len(until)
    return spoken.written[: spoken.written_place(place)]


@pytest.mark.req("L-06")
@pytest.mark.parametrize(
    ("until", "written"),
    [
        ("Doctor", "Dr."),
        ("paid", "Dr. Smith paid"),
        ("three dollars", "Dr. Smith paid"),
        ("fifty", "Dr. Smith paid"),
        ("cents", "Dr. Smith paid **$3.50**"),
        ("at five", "Dr. Smith paid **$3.50** at"),
        ("p m", "Dr. Smith paid **$3.50** at 5 p.m."),
    ],
)
def test_a_written_word_has_been_said_when_all_spoken_words_for_it_have(until: str, written: str) -> None:
    spoken = SpokenForms("en").of("Dr. Smith paid **$3.50** at 5 p.m. today 🙂.")
    assert said(spoken, until) == written


def test_at_its_end_everything_has_been_said_also_what_is_only_written() -> None:
    spoken = SpokenForms("en").of("Done today 🙂 **!**")
    assert spoken.written_place(len(spoken.text)) == len(spoken.written)


def test_a_plain_text_is_its_own_spoken_form() -> None:
    spoken = SpokenForms("en").of("Nothing to see here.")
    assert spoken == SpokenForm("Nothing to see here.", "Nothing to see here.")
    assert [spoken.written_place(place) for place in (0, 7, 99)] == [0, 7, 20]


def test_a_sentence_without_letters_is_silent() -> None:
    assert SpokenForms("en").of("👍 **!**").is_silent
    assert not SpokenForms("en").of("&").is_silent


def test_an_alignment_survives_json() -> None:
    spoken = SpokenForms("de").of("Am 3. Mai kostet es 3,50 €.")
    assert SpokenForm.load(spoken.written, spoken.dump()) == spoken


@pytest.mark.parametrize(
    "data",
    [
        ["a"],
        [5, []],
        ["a", [[0, 1, 0]]],
        ["a", [[0, 1, 0, -1]]],
        ["a", [[0, True, 0, 1]]],
        ["a", [[0, 2, 0, 1]]],
        ["a", [[0, 1, 0, 9]]],
        ["ab", [[1, 2, 1, 2], [0, 1, 0, 1]]],
    ],
)
def test_an_alignment_that_is_broken_is_refused(data: list[object]) -> None:
    with pytest.raises((ValueError, TypeError)):
        SpokenForm.load("ab", data)


def test_the_pieces_name_what_is_said_for_what() -> None:
    spoken = SpokenForms("en").of("Pay $5 now.")
    assert spoken.pieces == (AlignedPiece(0, 3, 0, 3), AlignedPiece(4, 16, 4, 6), AlignedPiece(17, 21, 7, 11))
    assert spoken.text == "Pay five dollars now."


def test_a_stretch_of_the_written_text_is_found_in_the_spoken_text() -> None:
    spoken = SpokenForms("en").of("Dr. Smith paid $3.50 today.")
    start, end = spoken.spoken_start(spoken.written.index("$")), spoken.spoken_end(spoken.written.index(" today"))
    assert spoken.text[start:end] == "three dollars and fifty cents"
    assert spoken.text[spoken.spoken_start(2) : spoken.spoken_end(9)] == "Doctor Smith"  # from within "Dr."
    assert spoken.text[spoken.spoken_start(5) : spoken.spoken_end(7)] == "mi"
    assert spoken.spoken_start(len(spoken.written)) == len(spoken.text)
    assert spoken.spoken_end(0) == 0
    plain = SpokenForms("en").of("Nothing here.")
    assert (plain.spoken_start(8), plain.spoken_end(12)) == (8, 12)
