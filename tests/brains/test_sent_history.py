"""What a model has heard itself is not sent to it again."""

from __future__ import annotations

from duologue.brains.sent_history import UNMATCHED_MAX, HeardSpeech, key_of, needed_summary, place_of
from duologue.ports import AgentSaid, CallOutput, News, UserSaid
from duologue.ports.session import SessionContext


def test_words_that_were_heard_are_taken_out_of_a_turn() -> None:
    heard = HeardSpeech()
    heard.add("a", "book a table")
    heard.add("b", "for two")
    assert heard.match("book a table please for two".split()) == (["please"], ["a", "b"])
    assert heard.match("book a table".split()) == (["book", "a", "table"], []), "matched once"


def test_one_utterance_can_be_split_into_two_turns() -> None:
    heard = HeardSpeech()
    heard.add("a", "yes and then")
    assert heard.match(["yes"]) == ([], [])
    assert heard.match(["and", "then"]) == ([], ["a"])


def test_what_is_never_matched_is_forgotten() -> None:
    heard = HeardSpeech()
    for number in range(UNMATCHED_MAX + 1):
        heard.add("", f"word{number}")
    heard.add("", "   ")
    assert heard.match(["word0"]) == (["word0"], [])
    assert heard.match(["word1"]) == ([], [""])


def test_a_key_stays_the_same_while_an_item_grows() -> None:
    history = (UserSaid(1, "a"), AgentSaid(1, "b"), CallOutput(3, "c"), News(4, "d"))
    assert key_of(UserSaid(1, "a b")) == key_of(history[0])
    assert [place_of(key_of(item), history) for item in history] == [0, 1, 2, 3]
    assert place_of(None, history) == place_of(("user", 9), history) == 0


def test_a_summary_leaves_out_what_is_restored_word_for_word() -> None:
    context = SessionContext("User: one\nAgent: two\nUser: three", (UserSaid(3, "three"), AgentSaid(2, "two")))
    assert needed_summary(context) == "User: one"
