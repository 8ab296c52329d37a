"""Cutting text into sentences: nothing is lost or added, however the text arrives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.spoken.speech_tags import is_in_tag
from duologue.voice.sentences import CHARS_MAX, Sentences


def bare(text: str) -> str:
    """A text without the space in it."""
    return "".join(text.split())


# -- Sentences


def cut(text: str, sizes: list[int]) -> list[str]:
    """The sentences of a text that comes in pieces of these sizes."""
    splitter, found, at = Sentences(), [], 0
    for size in sizes:
        found += splitter.feed(text[at : at + size])
        at += size
    found += splitter.feed(text[at:])
    return [*found, *([rest] if (rest := splitter.rest()) else [])]


PROSE = st.text(alphabet="aB3 .,!?…。！？」』\n\t\"')]—日ж\u2028\x1c", max_size=300)  # noqa: RUF001


@pytest.mark.req("T-08")
@given(PROSE, st.lists(st.integers(1, 12), max_size=40))
def test_nothing_is_lost_or_added_however_the_text_arrives(text: str, sizes: list[int]) -> None:
    assert "".join(bare(sentence) for sentence in cut(text, sizes)) == bare(text)


@pytest.mark.req("T-08")
@given(st.text(max_size=300), st.lists(st.integers(1, 12), max_size=40))
def test_nothing_is_lost_of_any_text(text: str, sizes: list[int]) -> None:
    assert "".join(bare(sentence) for sentence in cut(text, sizes)) == bare(text)


@pytest.mark.req("T-08")
@given(PROSE, st.lists(st.integers(1, 12), max_size=40))
def test_a_sentence_is_never_empty_and_never_too_long(text: str, sizes: list[int]) -> None:
    for sentence in cut(text * 9, sizes):
        assert sentence.strip() == sentence != ""
        assert len(sentence) <= CHARS_MAX + 12


@pytest.mark.req("T-08")
@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Hello there. How are you?", ["Hello there.", "How are you?"]),
        ("Mr. Smith and Dr. Jones met. They left.", ["Mr. Smith and Dr. Jones met.", "They left."]),
        ("It costs 3.50 euros. Fine.", ["It costs 3.50 euros.", "Fine."]),
        ("J. R. R. Tolkien wrote it. Yes.", ["J. R. R. Tolkien wrote it.", "Yes."]),
        ("Use e.g. this one. Good.", ["Use e.g. this one.", "Good."]),
        ("Wait... what? No!", ["Wait...", "what?", "No!"]),
        ("1. Eggs\n2. Milk\nThat is all.", ["1. Eggs", "2. Milk", "That is all."]),
        ('She said "Go." Then she left.', ['She said "Go."', "Then she left."]),
        ("今日は。元気ですか？はい！", ["今日は。", "元気ですか？", "はい！"]),  # noqa: RUF001
        ("Привет. Как дела?", ["Привет.", "Как дела?"]),
        ("See www.example.com for more. Bye.", ["See www.example.com for more.", "Bye."]),
        ("No end", ["No end"]),
        ("", []),
        (" \n\n ", []),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_sentences_end_where_a_reader_would_end_them(text: str, sentences: list[str], size: int) -> None:
    assert cut(text, [size] * (len(text) // size)) == sentences


@pytest.mark.req("T-08")
def test_a_sentence_is_returned_as_soon_as_it_is_complete() -> None:
    splitter = Sentences()
    assert splitter.feed("Hello there.") == []  # it may go on: "Hello there.com"
    assert splitter.feed(" ") == ["Hello there."]


@pytest.mark.req("T-08")
def test_text_without_an_end_is_cut_between_words() -> None:
    sentences = cut("word " * 500, [7] * 400)
    assert all(sentence.split()[0] == "word" and sentence.split()[-1] == "word" for sentence in sentences)
    assert max(map(len, sentences)) <= CHARS_MAX


def test_a_text_of_marks_alone_takes_no_time() -> None:
    """Each piece is looked at again only near its end."""
    assert bare("".join(cut("." * 20_000, [1] * 20_000))) == "." * 20_000


@pytest.mark.req("T-08")
@pytest.mark.parametrize("text", ["a", "word ", "e.g. ", "J. ", "1. ", ".", "Well. ", f"{'word ' * 150}the end. "])
def test_a_long_text_is_cut_the_same_in_one_piece_and_in_many(text: str) -> None:
    """How much is looked at for one sentence has a bound, however much text comes at once."""
    book = text * (4_000 // len(text))
    at_once, streamed = Sentences(), Sentences()
    found = at_once.feed(book)
    assert bare("".join([*found, at_once.rest()])) == bare(book)
    assert max(map(len, found)) <= CHARS_MAX
    pieces = [book[at : at + CHARS_MAX] for at in range(0, len(book), CHARS_MAX)]
    assert [sentence for piece in pieces for sentence in streamed.feed(piece)] == found


TAGGED = (
    '<speed ratio="0.8">It is 5 p.m. <break time="0.5s"/>now.</speed> Is it <phoneme ph="a">Dr.</phoneme> Smith?'
    '<break time="1s"/> Yes, <emotion value="calm"/>he is. '
)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 500])
def test_speech_tags_are_never_cut_and_never_end_a_sentence(size: int) -> None:
    splitter = Sentences("en")
    found = [one for at in range(0, len(TAGGED), size) for one in splitter.feed(TAGGED[at : at + size])]
    assert [*found, *filter(None, [splitter.rest()])] == [
        '<speed ratio="0.8">It is 5 p.m. <break time="0.5s"/>now.</speed>',
        'Is it <phoneme ph="a">Dr.</phoneme> Smith?<break time="1s"/>',
        'Yes, <emotion value="calm"/>he is.',
    ]


@pytest.mark.parametrize("size", [1, 4, 9])
def test_words_that_cannot_wait_end_before_an_unfinished_tag(size: int) -> None:
    for cut in range(0, len(TAGGED), size):
        splitter = Sentences("en")
        splitter.feed(TAGGED[:cut])
        assert not is_in_tag(splitter.opening(joins_words=True))
        assert not is_in_tag(splitter.whole_words())
