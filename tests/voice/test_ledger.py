"""The playback ledger: heard words are known exactly, in every script, and no word is lost or split."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.ports.sound import Sound, Word
from duologue.spoken.forms import SpokenForms
from duologue.voice.ledger import Ledger, Passage, Split

WORDS = st.text(alphabet="abcdeäßé日本ы0123.,!?'’-", min_size=1, max_size=9).filter(lambda w: bool(w.split()))  # noqa: RUF001
TEXTS = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)
SPACED = TEXTS.map(lambda text: text.replace("日", "a").replace("本", "b"))  # every word has a space behind it
LETTERS = st.lists(st.text(alphabet="abcde", min_size=1, max_size=5), min_size=1, max_size=10)


def bare(text: str) -> str:
    """A text without the space in it."""
    return "".join(text.split())


def spoken(texts: list[str], timed: bool, char_ms: int = 50, pieces: int = 3, whole: bool = True) -> Ledger:
    """A ledger of these sentences, each in a few pieces of sound. With `whole=False` the last isn't complete."""
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
def test_heard_and_unheard_together_are_the_whole_text(texts: list[str], timed: bool, at: int, whole: bool) -> None:
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
def test_words_that_a_voice_spells_differently_never_split_a_word(
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
def test_later_sound_does_not_count_as_heard_for_a_sentence_that_broke_off() -> None:
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
def test_heard_time_only_grows_and_never_exceeds_the_total(claims: list[int]) -> None:
    ledger = spoken(["one two three"], timed=True)
    before = 0
    for claim in claims:
        ledger.note_heard(claim)
        assert before <= ledger.heard_ms <= ledger.total_ms
        before = ledger.heard_ms


def test_an_empty_ledger_splits_into_nothing() -> None:
    assert Ledger().split() == ("", "")
    assert Ledger().split(500) == ("", "")


# -- Other scripts

WORD_MS = 100


def heard_of(text: str, words: list[str], count: int) -> Split:
    """What was heard of a voice with word times that was stopped after `count` words."""
    times = tuple(Word(word, at * WORD_MS, (at + 1) * WORD_MS) for at, word in enumerate(words))
    ledger = Ledger()
    ledger.begin(text)
    ledger.add(Sound(len(words) * WORD_MS, words=times))
    ledger.end()
    ledger.note_heard(count * WORD_MS)
    return ledger.split()


@pytest.mark.graveyard(8)
@pytest.mark.req("L-06")
@pytest.mark.parametrize(
    "text",
    [
        "Groß süß heiß weiß, ab zu dem See",  # ß is two letters when case is folded
        "İstanbul İzmir İznik İpek ve en iyi ev",
        "ﬁn ﬂy ﬃ oﬃce a b c d",
    ],
)
def test_letters_that_case_fold_into_two_do_not_shift_the_cut(text: str) -> None:
    words = text.split()
    for count in range(1, len(words) + 1):
        assert heard_of(text, words, count).heard == " ".join(words[:count])


@pytest.mark.graveyard(8)
@pytest.mark.req("L-06")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("你好，我是小明。", ["你好，", "我", "是", "小明。"]),  # noqa: RUF001
        ("今日はとても良い天気ですね。", ["今日", "は", "とても", "良い", "天気", "ですね。"]),
        ("สวัสดีครับวันนี้", ["สวัสดี", "ครับ", "วันนี้"]),
    ],
)
def test_a_script_without_spaces_is_cut_at_the_last_heard_word(text: str, words: list[str]) -> None:
    for count in range(1, len(words)):
        assert heard_of(text, words, count).heard == "".join(words[:count])
    assert heard_of(text, words, len(words)) == (text, "")


@pytest.mark.graveyard(8)
@pytest.mark.req("L-06")
def test_a_script_without_spaces_is_cut_by_length_without_word_times() -> None:
    text = "今日はとても良い天気ですね。散歩に行きましょう。"
    ledger = Ledger()
    ledger.begin(text)
    ledger.add(Sound(2_400))
    ledger.end()
    ledger.note_heard(1_200)
    heard, unheard = ledger.split()
    assert heard + unheard == text
    assert abs(len(heard) - len(unheard)) <= 2


# -- Questions


@pytest.mark.req("H-06.early", "H-14")
@pytest.mark.parametrize(
    ("text", "values", "span"),
    [
        ("It is late.", None, None),
        ("Is it late?", None, (1_000, 2_000, 0)),
        ("Say if it is.", (), (1_000, 2_000, 0)),
        ("Are 4 people ok?", None, (1_000, 2_000, 1_450)),
        ("Is it for Ada?", None, (1_000, 2_000, 1_928)),
        ("Can I go now ?", None, (1_000, 2_000, 0)),
        ("A window seat?", ("window seat",), (1_000, 2_000, 1_928)),
    ],
)
def test_the_last_sentence_is_the_question_if_it_asks_and_its_values_end_somewhere(
    text: str, values: tuple[str, ...] | None, span: tuple[int, int, int] | None
) -> None:
    ledger = Ledger()
    ledger.begin("It is Ada.")
    ledger.add(Sound(1_000))
    ledger.end()
    ledger.begin(text, values)
    ledger.add(Sound(1_000))
    ledger.end()
    assert ledger.last_question() == span


@pytest.mark.req("H-14")
def test_a_value_that_was_shown_or_is_only_a_noun_needs_not_be_heard() -> None:
    ledger = Ledger()
    ledger.begin("Is it for Ada?")
    ledger.add(Sound(1_000))
    ledger.end()
    assert ledger.last_question(has_names=False) == (0, 1_000, 0)
    ledger.shown = "Passenger: ada"
    assert ledger.last_question() == (0, 1_000, 0)


@pytest.mark.req("H-14")
def test_the_times_of_words_tell_when_a_value_was_said() -> None:
    ledger = Ledger()
    ledger.begin("Is it for Ada then?")
    ledger.add(Sound(1_000, words=(Word("Is", 0, 100), Word("it", 100, 200), Word("for", 200, 300))))
    ledger.add(Sound(1_000, words=(Word("Ada", 0, 400), Word("then", 400, 900))))
    ledger.end()
    assert ledger.last_question() == (0, 2_000, 1_400)


def test_words_have_times_from_the_beginning_of_the_reply() -> None:
    ledger = Ledger()
    for text in ("One two.", "Three."):
        ledger.begin(text)
        times = [(word, at * 100) for at, word in enumerate(text.split())]
        ledger.add(Sound(300, words=tuple(Word(word, at, at + 100) for word, at in times)))
        ledger.end()
    assert ledger.words == [Word("One", 0, 100), Word("two.", 100, 200), Word("Three.", 300, 400)]


def test_without_word_times_words_are_as_long_as_their_letters() -> None:
    ledger = Ledger()
    ledger.begin("One three")
    ledger.add(Sound(900))
    ledger.end()
    assert ledger.words == [Word("One", 0, 400), Word("three", 400, 900)]


def test_without_word_times_a_number_takes_longer_than_its_digits() -> None:
    ledger = Ledger()
    ledger.begin("It costs 1298 and no more.")
    ledger.add(Sound(4_200))
    ledger.end()
    words = {word.text: word.end_ms - word.start_ms for word in ledger.words}
    assert words["1298"] == 2_100
    assert ledger.split(2_500).heard.strip() == "It costs"
    assert ledger.split(3_100).heard.strip() == "It costs 1298"


# -- Progress, as a line reports it


@pytest.mark.req("L-06", "V-01")
@given(st.lists(TEXTS, min_size=1, max_size=4), st.booleans(), st.lists(st.integers(0, 3_000), max_size=12))
def test_reports_that_come_while_sound_is_added_give_what_one_report_would_give(
    texts: list[str], timed: bool, reports: list[int]
) -> None:
    ledger, whole = Ledger(), spoken(texts, timed)
    for text, passage in zip(texts, whole.dump()["passages"], strict=True):
        ledger.begin(text)
        ledger.note_heard(reports.pop() if reports else 0)
        ledger.add(Sound(passage[2], words=tuple(Word(*word) for word in passage[3])))
        ledger.note_heard(reports.pop() if reports else 0)
        assert ledger.split() == ledger.split(ledger.heard_ms)
        ledger.end()
        assert ledger.split() == ledger.split(ledger.heard_ms)
    for heard_ms in reports:
        before, place = ledger.split(), ledger.place()
        ledger.note_heard(heard_ms)
        assert ledger.split() == whole.split(ledger.heard_ms)
        assert (ledger.split() == before) is (ledger.place() == place)


def test_a_report_costs_the_same_in_a_long_reply_as_in_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    looked, cut = [0], Passage.cut

    def counted(self: Any, heard_ms: int) -> int:
        looked[0] += 1
        return cut(self, heard_ms)

    monkeypatch.setattr(Passage, "cut", counted)
    costs = []
    for sentences in (3, 300):
        ledger = spoken(["One two three four."] * sentences, timed=True)
        reports = range(0, ledger.total_ms, 20)
        looked[0] = 0
        for heard_ms in reports:
            ledger.note_heard(heard_ms)
            ledger.place()
        costs.append(looked[0] / len(reports))
    assert costs[1] < costs[0] + 0.5


def test_words_that_are_only_shown_are_a_new_place_too() -> None:
    ledger = spoken(["Hello there."], timed=True)
    before = ledger.place()
    ledger.shown += "42"
    assert ledger.place() != before


# -- What is said isn't what is written


def say_form(written: str, timed: bool, word_ms: int = 100) -> Ledger:
    """A ledger of one sentence of which the voice says the spoken form, each word in `word_ms`."""
    form = SpokenForms("en").of(written)
    ledger = Ledger()
    ledger.begin(written, spoken=form)
    for word in form.text.split():
        ledger.add(Sound(word_ms, words=(Word(word, 0, word_ms),) if timed else ()))
    ledger.end()
    return ledger


@pytest.mark.req("L-06", "V-01")
def test_a_number_is_heard_when_its_last_spoken_word_was_heard() -> None:
    ledger = say_form("Dr. Smith paid **$3.50** at 5 p.m. today.", timed=True)
    heard = {words: ledger.split(100 * words).heard for words in range(14)}
    assert heard[1] == "Dr."
    assert heard[3] == heard[7] == "Dr. Smith paid"
    assert heard[8] == "Dr. Smith paid **$3.50**"  # Doctor Smith paid three dollars and fifty cents
    assert heard[9] == heard[10] == heard[11] == "Dr. Smith paid **$3.50** at"
    assert heard[12] == "Dr. Smith paid **$3.50** at 5 p.m."
    assert heard[13] == "Dr. Smith paid **$3.50** at 5 p.m. today."


@pytest.mark.req("L-06", "V-01")
def test_without_word_times_the_spoken_form_measures_how_much_was_heard() -> None:
    ledger = say_form("It costs $1,234,567 in all.", timed=False)
    assert ledger.split(ledger.total_ms // 2).heard == "It costs"
    assert ledger.split(ledger.total_ms).heard == "It costs $1,234,567 in all."


@pytest.mark.req("L-06")
@pytest.mark.parametrize("timed", [True, False])
def test_captions_have_the_written_words_with_the_times_of_what_is_said_for_them(timed: bool) -> None:
    ledger = say_form("Pay $20 now!", timed)  # Pay twenty dollars now
    words = ledger.words
    assert [word.text for word in words] == ["Pay", "$20", "now!"]
    assert words[1].end_ms - words[1].start_ms > words[0].end_ms - words[0].start_ms
    if timed:
        assert [(word.start_ms, word.end_ms) for word in words] == [(0, 100), (100, 300), (300, 400)]


@pytest.mark.req("H-12")
@pytest.mark.parametrize("timed", [True, False])
def test_an_echo_is_compared_with_what_is_said_and_not_with_what_is_written(timed: bool) -> None:
    ledger = say_form("Pay $20 now!", timed)
    assert [word.text for word in ledger.said_words] == ["Pay", "twenty", "dollars", "now!"]
    assert ledger.said_words[-1].end_ms == ledger.total_ms


@pytest.mark.req("L-06")
def test_a_spoken_form_survives_a_crash() -> None:
    ledger = say_form("Pay $20 now!", timed=True)
    ledger.note_heard(250)
    loaded = Ledger.load(ledger.dump())
    assert loaded.split() == ledger.split() == Split("Pay", "$20 now!")


@pytest.mark.req("L-06")
def test_what_is_only_written_counts_as_heard_once_what_came_before_it_was_heard() -> None:
    ledger = say_form("All done.", timed=True)
    ledger.begin("👍", spoken=SpokenForms("en").of("👍"))
    ledger.end()
    assert ledger.split(100) == Split("All", "done. 👍")
    assert ledger.split(200) == Split("All done. 👍", "")


@pytest.mark.req("L-06", "H-06.early", "H-14")
def test_a_question_in_two_parts_is_one_question() -> None:
    ledger = Ledger()
    ledger.begin("Shall I book it for Ada,", goes_on=True)
    ledger.add(Sound(1_000))
    ledger.end()
    ledger.begin("or do you want to wait?")
    ledger.add(Sound(1_000))
    ledger.end()
    question = ledger.last_question()
    assert question is not None
    assert question[:2] == (0, 2_000)
    assert 0 < question[2] <= 1_000
    ledger.note_heard(1_500)
    assert ledger.rest_from_sentence().strip() == "Shall I book it for Ada, or do you want to wait?"


@given(st.text(alphabet="aB 5$.,*%🙂:", max_size=40), st.booleans(), st.integers(0, 4_000))
def test_nothing_written_is_lost_whatever_is_said_for_it(text: str, timed: bool, at: int) -> None:
    ledger = say_form(text, timed)
    heard, unheard = ledger.split(at)
    assert bare(heard) + bare(unheard) == bare(text)
    assert len(ledger.split(at + 100).heard) >= len(heard)


# -- The text of a speech-to-speech model


def spoken_by_a_model(*texts: str) -> Ledger:
    """A ledger of sounds that each bring their own piece of text, 400 ms each."""
    ledger = Ledger()
    for text in texts:
        ledger.add(Sound(400, text=text))
    return ledger


@pytest.mark.req("H-11.cut")
@pytest.mark.parametrize(
    ("heard_ms", "rest"),
    [
        (100, "One is here. Two goes on. Three."),
        (800, "Two goes on. Three."),
        (1_000, "Two goes on. Three."),
        (1_600, "Three."),
        (2_000, ""),
    ],
)
def test_the_rest_of_a_models_answer_begins_with_the_sentence_that_was_cut(heard_ms: int, rest: str) -> None:
    ledger = spoken_by_a_model("One is", " here. ", "Two ", "goes on. ", "Three.")
    ledger.note_heard(heard_ms)
    assert ledger.rest_from_sentence() == rest


def test_the_text_of_the_last_question_is_known() -> None:
    ledger = Ledger()
    for text in ("I found one.", "Shall I book it?"):
        ledger.begin(text)
        ledger.add(Sound(500))
        ledger.end()
    assert ledger.question_text() == "Shall I book it?"
    assert spoken_by_a_model("I found one.").question_text() == ""
