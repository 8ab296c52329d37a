"""Codes, phone numbers and e-mail addresses."""

from __future__ import annotations

from duologue.dialogue.grammar.codes import find_code, find_email, find_phone
from tests.dialogue.grammar.lexicons import GERMAN, SPANISH, tokens


def test_an_example_word_stands_for_the_letter_before_it() -> None:
    assert find_code(GERMAN, tokens("A wie Anton 3 7"))[0].candidates == ("A37",)
    assert find_code(SPANISH, tokens("ce de casa cinco cinco", SPANISH))[0].candidates == ("C55",)


def test_a_small_word_between_two_codes_is_no_letter() -> None:
    assert [match.candidates for match in find_code(SPANISH, tokens("AB123 o AB124", SPANISH))] == [
        ("AB123",),
        ("AB124",),
    ]


def test_capitals_are_letters_and_no_name_of_one() -> None:
    assert find_code(GERMAN, tokens("KA 327"))[0].candidates == ("KA327",)
    assert find_code(GERMAN, tokens("ka 327"))[0].candidates == ("K327",)


def test_a_phone_number_has_enough_digits() -> None:
    assert find_phone(GERMAN, tokens("112")) == []
    assert find_phone(GERMAN, tokens("plus neunundvierzig dreißig 123456"))[0].candidates == ("+4930123456",)


def test_an_address_needs_a_dot_after_its_sign() -> None:
    assert find_email(GERMAN, tokens("anna at web")) == []
    assert find_email(GERMAN, tokens("anna punkt b at web punkt de"))[0].candidates == ("anna.b@web.de",)
    assert find_email(GERMAN, tokens("anna at web punkt at"))[0].candidates == ("anna@web.at",)


def test_a_comment_within_an_address_is_no_part_of_it() -> None:
    assert find_email(GERMAN, tokens("uwe punkt bach, bach wie der fluss, at web punkt de")) == []
    assert find_email(SPANISH, tokens("luz punto mar, mar de agua, arroba correo punto es", SPANISH)) == []


def test_letters_in_lower_case_before_digits_are_spelled() -> None:
    assert find_code(GERMAN, tokens("rv 5520"))[0].candidates == ("RV5520",)
    assert find_code(GERMAN, tokens("um 5520"))[0].candidates == ("5520",)
    assert find_code(SPANISH, tokens("rv 5520", SPANISH))[0].candidates == ("RV5520",)


def test_signs_that_are_written_in_a_spoken_address_are_part_of_it() -> None:
    for written, value in {
        "m.okoye at web punkt de": "m.okoye@web.de",
        "ted_hill at web.de": "ted_hill@web.de",
        "j.r.wald at web.de": "j.r.wald@web.de",
    }.items():
        assert find_email(GERMAN, tokens(written))[0].candidates == (value,)
    assert find_email(SPANISH, tokens("m.diaz arroba correo.es", SPANISH))[0].candidates == ("m.diaz@correo.es",)


def test_a_sign_that_stt_may_have_added_to_an_address_is_asked() -> None:
    assert find_email(GERMAN, tokens("eva-maria at web punkt de"))[0].candidates == (
        "eva-maria@web.de",
        "evamaria@web.de",
    )
