"""Tokens become words with a confidence; both file formats are read."""

from __future__ import annotations

from pathlib import Path

from duologue.ears.moonshine import Moonshine
from duologue.ears.token_vocabulary import Vocabulary, WrittenWord, read_vocabulary

PIECES = ["<unk>", "<s>", "</s>", "▁Hello", ",", "▁wor", "ld", ".", "▁♪", "▁“", "▁"]


def test_a_word_has_the_lowest_confidence_of_its_tokens() -> None:
    vocabulary = Vocabulary([piece.encode() for piece in PIECES])
    tokens, sure = (3, 4, 5, 6, 7, 2), (0.9, 0.1, 0.8, 0.6, 0.2, 1.0)
    assert vocabulary.words(tokens, sure) == (WrittenWord("Hello,", 0.9, 2), WrittenWord("world.", 0.6, 6))
    assert vocabulary.words((), ()) == ()


def test_music_quotation_marks_and_repeated_punctuation_are_removed() -> None:
    vocabulary = Vocabulary([piece.encode() for piece in PIECES])
    assert vocabulary.text((8, 9, 3, 4, 7, 8)) == "Hello,"
    assert vocabulary.words((8, 8, 10, 7), (0.9,) * 4) == ()


def test_a_letter_may_be_split_over_tokens(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.bin"
    long = b"x" * 130
    path.write_bytes(b"\x01\xc3\x01\xa9" + bytes([0x80 | 130 & 0x7F, 130 >> 7]) + long)
    vocabulary = read_vocabulary(path)
    assert len(vocabulary) == 3
    assert vocabulary.text((0, 1)) == "é"
    assert vocabulary.text((0,)) == ""
    assert vocabulary.text((2,)) == long.decode()


def test_both_file_formats_hold_the_same_vocabulary(tiny: Moonshine, base: Moonshine) -> None:
    one, other = tiny.vocabulary, base.vocabulary
    assert len(one) == len(other) == 32_768
    assert all(one.text((token,)) == other.text((token,)) for token in range(len(one)))
