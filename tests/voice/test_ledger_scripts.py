"""The playback ledger in scripts other than plain Latin: what was heard is known to the word there, too."""

from __future__ import annotations

import pytest

from duologue.ports.sound import Sound, Word
from duologue.voice.ledger import Ledger, Split

WORD_MS = 100


def heard_of(text: str, words: list[str], count: int) -> Split:
    """A voice that tells its words, cut after so many of them."""
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
def test_letters_that_fold_into_two_move_no_word_into_what_was_heard(text: str) -> None:
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
def test_of_a_script_without_spaces_no_more_is_history_than_was_heard(text: str, words: list[str]) -> None:
    for count in range(1, len(words)):
        assert heard_of(text, words, count).heard == "".join(words[:count])
    assert heard_of(text, words, len(words)) == (text, "")


@pytest.mark.graveyard(8)
@pytest.mark.req("L-06")
def test_of_a_script_without_spaces_and_a_voice_without_times_something_was_heard() -> None:
    text = "今日はとても良い天気ですね。散歩に行きましょう。"
    ledger = Ledger()
    ledger.begin(text)
    ledger.add(Sound(2_400))
    ledger.end()
    ledger.note_heard(1_200)
    heard, unheard = ledger.split()
    assert heard + unheard == text
    assert abs(len(heard) - len(unheard)) <= 2
