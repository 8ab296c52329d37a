"""The tokenizer agrees with the reference, and takes any text."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.nlu.wordpiece import WordPiece, read_vocabulary, words

SMALL = {piece: number for number, piece in enumerate("[PAD] [UNK] [CLS] [SEP] un ##aff ##able a b ##b , ' i".split())}
PIECES = WordPiece(SMALL)

# What the library `tokenizers` 0.22 makes of these with the model's own tokenizer.json.
REFERENCE = [
    ("I'd like a table for two, please!", [1045, 1005, 1040, 2066, 1037, 2795, 2005, 2048, 1010, 3531, 999]),
    (
        "Zürich — naïve café, \u03a3\u038a\u03a3\u03a5\u03a6\u039f\u03a3",
        [10204, 1517, 15743, 7668, 1010, 1173, 18199, 29733, 29735, 29736, 29730, 29733],
    ),
    ("預約 a table 在東京", [100, 100, 1037, 2795, 100, 1879, 1755]),
    ("don't\u200bstop\xa0now\x00\x07", [2123, 1005, 24529, 14399, 2085]),
    (
        "unaffable antidisestablishmentarianism",
        [14477, 20961, 3468, 3424, 10521, 4355, 7875, 13602, 3672, 12199, 2964],
    ),
    ("$5.50 + 10% = ?", [1002, 1019, 1012, 2753, 1009, 2184, 1003, 1027, 1029]),
    ("e\u0301\u0300 \ufb01ne ½ İstanbul", [1041, 1984, 2638, 1092, 9960]),
    ("नमस्ते दुनिया", [1327, 29867, 29874, 29859, 1325, 29863, 29877, 29868, 29876]),
    ("\U0001f642 ok \U0001f44d\U0001f3fd", [100, 7929, 100]),
    ("x" * 101, [100]),
    (
        "한국어 텍스트",
        [1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008, 1467, 30009, 30020, 29997, 30017, 30003, 30017],
    ),
    ("\t a \n b \r\n", [1037, 1038]),
    ("\uff21 fullwidth \uff42", [100, 2440, 9148, 11927, 2232, 100]),
    (
        "\u05e9\u05dc\u05d5\u05dd \u0639\u0644\u064a\u0643\u0645",
        [1266, 29799, 29792, 29800, 1288, 23673, 14498, 29835, 22192],
    ),
    ("co-op's A/B-test_v2", [2522, 1011, 6728, 1005, 1055, 1037, 1013, 1038, 1011, 3231, 1035, 1058, 2475]),
]


@pytest.fixture(scope="session")
def pieces(minilm_folder: Path) -> WordPiece:
    return WordPiece(read_vocabulary(minilm_folder / "vocab.txt"))


@pytest.mark.parametrize(("text", "numbers"), REFERENCE, ids=range(len(REFERENCE)))
def test_pieces_are_those_of_the_reference(pieces: WordPiece, text: str, numbers: list[int]) -> None:
    assert pieces.numbers(text, 96) == [101, *numbers, 102]


def test_the_longest_piece_comes_first() -> None:
    assert PIECES.numbers("unaffable abb", 9) == [2, 4, 5, 6, 7, 9, 9, 3]


def test_a_word_that_can_not_be_pieced_together_is_unknown_as_a_whole() -> None:
    assert PIECES.numbers("unaffabx a", 9) == [2, 1, 7, 3]


def test_signs_for_the_model_are_plain_characters_in_a_message() -> None:
    assert 3 not in PIECES.numbers("a [SEP] b", 20)[1:-1]


def test_of_too_long_a_text_the_middle_is_left_out() -> None:
    assert PIECES.numbers("a a a a b b b b b b", 7) == [2, 7, 7, 7, 8, 8, 3]


@given(st.text(max_size=200), st.integers(4, 40))
def test_any_text_has_pieces_and_never_too_many(text: str, pieces_max: int) -> None:
    found = PIECES.numbers(text, pieces_max)
    assert 2 <= len(found) <= pieces_max
    assert (found[0], found[-1]) == (2, 3)
    assert all(0 <= number < len(SMALL) for number in found)


@given(st.text(max_size=100))
def test_case_accents_and_space_around_change_nothing(text: str) -> None:
    plain = list(words(text))
    assert list(words(f" \t{text}\n ")) == plain
    assert list(words(unicodedata.normalize("NFD", text))) == plain
    if text.isascii():
        assert list(words(text.upper())) == plain


@given(st.lists(st.text(st.characters(codec="ascii", categories=("Ll", "Nd")), min_size=1, max_size=9), max_size=9))
def test_plain_words_stay_as_they_are(plain: list[str]) -> None:
    assert list(words(" ".join(plain))) == plain


@given(st.text(max_size=60), st.text(max_size=60))
def test_what_space_parts_stays_apart(one: str, other: str) -> None:
    assert list(words(f"{one} {other}")) == [*words(one), *words(other)]
