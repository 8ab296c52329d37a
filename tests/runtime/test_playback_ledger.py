"""The ledger of what was heard and the cutting of text into sentences: nothing lost, nothing added."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.ports.sound import Sound, Word
from duologue.voice.ledger import Ledger
from duologue.voice.sentences import CHARS_MAX, Sentences

WORDS = st.text(alphabet="abcdeäßé日本ы0123.,!?'’-", min_size=1, max_size=9).filter(lambda w: bool(w.split()))  # noqa: RUF001
TEXTS = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)
SPACED = TEXTS.map(lambda text: text.replace("日", "a").replace("本", "b"))  # every word has a space behind it
LETTERS = st.lists(st.text(alphabet="abcde", min_size=1, max_size=5), min_size=1, max_size=10)


def bare(text: str) -> str:
    """A text without the space in it."""
    return "".join(text.split())


def spoken(texts: list[str], timed: bool, char_ms: int = 50, pieces: int = 3, whole: bool = True) -> Ledger:
    """A ledger of these sentences, each in a few pieces of sound. `whole` off: the last is still made."""
    ledger = Ledger()
    for number, text in enumerate(texts, start=1):
        ledger.begin(text)
        tokens = text.split()
        word_ms = max(1, char_ms)
        total_ms = max(pieces, word_ms * len(tokens))
        each = total_ms // pieces
        sizes = [each] * (pieces - 1) + [total_ms - each * (pieces - 1)]
        at = 0
        for size in sizes:
            words = [
                Word(token, index * word_ms - at, (index + 1) * word_ms - at)
                for index, token in enumerate(tokens)
                if at < (index + 1) * word_ms <= at + size
            ]
            ledger.add(Sound(size, words=tuple(words) if timed else ()))
            at += size
        if whole or number < len(texts):
            ledger.end()
    return ledger


@pytest.mark.req("L-06", "V-01")
@given(st.lists(TEXTS, min_size=1, max_size=4), st.booleans(), st.integers(0, 9_999), st.booleans())
def test_heard_and_unheard_are_always_the_whole_text(texts: list[str], timed: bool, at: int, whole: bool) -> None:
    ledger = spoken(texts, timed, whole=whole)
    heard, unheard = ledger.split(at)
    assert bare(heard) + bare(unheard) == bare(" ".join(texts))


@pytest.mark.req("L-06", "V-01")
@given(st.lists(SPACED, min_size=1, max_size=4), st.booleans(), st.integers(0, 9_999))
def test_the_cut_is_never_in_the_middle_of_a_word(texts: list[str], timed: bool, at: int) -> None:
    heard, unheard = spoken(texts, timed).split(at)
    assert heard.split() + unheard.split() == " ".join(texts).split()


@pytest.mark.req("L-06", "V-01")
@given(st.lists(TEXTS, min_size=1, max_size=4), st.booleans(), st.lists(st.integers(0, 5_000), min_size=2))
def test_more_time_never_means_less_heard(texts: list[str], timed: bool, times: list[int]) -> None:
    ledger = spoken(texts, timed)
    lengths = [len(bare(ledger.split(at).heard)) for at in sorted(times)]
    assert lengths == sorted(lengths)


@pytest.mark.req("L-06")
@given(st.lists(TEXTS, min_size=1, max_size=4), st.booleans())
def test_at_the_end_all_is_heard_and_at_the_beginning_nothing(texts: list[str], timed: bool) -> None:
    ledger = spoken(texts, timed)
    assert ledger.split(0).heard == ""
    assert ledger.split(ledger.total_ms).unheard == ""


@pytest.mark.req("L-06", "V-01")
@given(LETTERS, st.integers(1, 10), st.data())
def test_word_times_without_punctuation_still_cut_between_words(
    words: list[str], many: int, data: st.DataObject
) -> None:
    """Voices tell bare words; the text has commas and quotes."""
    marks = [data.draw(st.sampled_from(["", ",", ".", "!", '"', "…"])) for _ in words]
    text = " ".join(word + mark for word, mark in zip(words, marks, strict=True))
    ledger = Ledger()
    ledger.begin(text)
    timed = tuple(Word(word, index * 100, index * 100 + 100) for index, word in enumerate(words))
    ledger.add(Sound(100 * len(words), words=timed))
    ledger.end()
    heard, unheard = ledger.split(min(many, len(words)) * 100)
    assert heard.split() + unheard.split() == text.split()
    assert len(heard.split()) == min(many, len(words))


@pytest.mark.req("L-06")
@pytest.mark.parametrize(
    ("text", "words", "heard_words"),
    [
        ("That is $5 for Dr. Smith today", ["That", "is", "five", "dollars", "for", "doctor", "Smith", "today"], 3),
        ("It is I", ["it", "is", "I"], 1),
        ("Call 555-1234 now please", ["call", "five", "five", "five", "one", "two", "three", "four", "now"], 4),
        ("A cat at noon", ["the", "cat", "at", "noon"], 1),
    ],
)
def test_words_that_a_voice_writes_differently_never_cut_a_word_in_two(
    text: str, words: list[str], heard_words: int
) -> None:
    ledger = Ledger()
    ledger.begin(text)
    timed = tuple(Word(word, index * 100, index * 100 + 100) for index, word in enumerate(words))
    ledger.add(Sound(100 * len(words), words=timed))
    ledger.end()
    heard, unheard = ledger.split(heard_words * 100)
    assert heard.split() + unheard.split() == text.split()


@pytest.mark.req("L-06")
def test_a_sentence_that_broke_off_is_not_heard_further_by_what_follows_it() -> None:
    ledger = Ledger()
    ledger.begin("A long sentence of which only the first words were ever made into sound")
    ledger.add(Sound(300))
    ledger.begin("Sorry.")
    ledger.add(Sound(2_000))
    ledger.end()
    ledger.note_heard(ledger.total_ms)
    heard, unheard = ledger.split()
    assert heard in ("A Sorry.", "Sorry."), f"300 ms of it sounded, and unheard is {unheard!r}"


@pytest.mark.req("L-06")
def test_a_sentence_without_any_sound_is_not_heard() -> None:
    ledger = Ledger()
    ledger.begin("First.")
    ledger.add(Sound(500))
    ledger.end()
    ledger.begin("Nobody spoke this.")
    ledger.end()
    ledger.begin("Third.")
    ledger.add(Sound(500))
    ledger.end()
    ledger.note_heard(1_000)
    assert ledger.split().heard == "First. Third."


@pytest.mark.req("V-01")
@given(st.lists(st.integers(-500, 10**9), max_size=20))
def test_what_was_heard_only_grows_and_never_beyond_what_there_is(claims: list[int]) -> None:
    ledger = spoken(["one two three"], timed=True)
    before = 0
    for claim in claims:
        ledger.note_heard(claim)
        assert before <= ledger.heard_ms <= ledger.total_ms
        before = ledger.heard_ms


def test_an_empty_ledger_splits_into_nothing() -> None:
    assert Ledger().split() == ("", "")
    assert Ledger().split(500) == ("", "")


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
def test_nothing_is_lost_or_added_however_the_text_comes(text: str, sizes: list[int]) -> None:
    assert "".join(bare(sentence) for sentence in cut(text, sizes)) == bare(text)


@pytest.mark.req("T-08")
@given(st.text(max_size=300), st.lists(st.integers(1, 12), max_size=40))
def test_nothing_is_lost_of_any_text_at_all(text: str, sizes: list[int]) -> None:
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
def test_a_sentence_is_handed_on_as_soon_as_it_is_complete() -> None:
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
def test_a_book_in_one_piece_is_cut_as_it_is_in_small_ones(text: str) -> None:
    """How much is looked at for one sentence has a bound, however much text comes at once."""
    book = text * (4_000 // len(text))
    at_once, streamed = Sentences(), Sentences()
    found = at_once.feed(book)
    assert bare("".join([*found, at_once.rest()])) == bare(book)
    assert max(map(len, found)) <= CHARS_MAX
    pieces = [book[at : at + CHARS_MAX] for at in range(0, len(book), CHARS_MAX)]
    assert [sentence for piece in pieces for sentence in streamed.feed(piece)] == found
