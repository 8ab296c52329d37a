"""Receipts of answers: sealed by the server, kept by the client, and what follows from them."""

from __future__ import annotations

from itertools import product

import pytest

from duologue.ports.line import Played
from duologue.ports.sound import Sound
from duologue.runtime.receipts import (
    RECEIPT_CHARS_MAX,
    AnswerReceipt,
    HeardAnswer,
    HeardText,
    ReceiptTurn,
    heard_answer,
    joined,
    read_receipts,
    seal,
)
from duologue.voice.ledger import Ledger

SECRET = "a secret of the conversation"
SENTENCES = ("One is said.", "Two is said.", "Three is said.")


def ledger_of(count: int, ms: int = 1_000, is_whole: bool = True) -> Ledger:
    """The ledger of a reply whose sentences last `ms` each. The sound of the last one may still be incomplete."""
    ledger = Ledger()
    for number, sentence in enumerate(SENTENCES[:count], 1):
        ledger.begin(sentence)
        ledger.add(Sound(ms))
        if is_whole or number < count:
            ledger.end()
    return ledger


def receipt(voice: int = 3, count: int = 3) -> AnswerReceipt:
    return AnswerReceipt(voice, (ReceiptTurn(5, "what is it?", "m-1"),), ledger_of(count).dump())


def test_a_sealed_receipt_is_read_with_its_secret_and_with_no_other() -> None:
    text = seal(receipt(), SECRET)
    assert read_receipts([text], SECRET) == (receipt(),)
    assert read_receipts([text], "another") == ()
    assert read_receipts([text], "") == ()


@pytest.mark.parametrize("at", [0, 10, 200, -1])
def test_a_receipt_that_was_changed_counts_as_none(at: int) -> None:
    text = seal(receipt(), SECRET)
    changed = ("A" if text[at] != "A" else "B").join((text[:at], text[at:][1:]))
    assert read_receipts([changed, "", ".", "no receipt"], SECRET) == ()


def test_of_several_receipts_of_one_voice_the_last_counts_and_voices_are_in_order() -> None:
    texts = [seal(one, SECRET) for one in (receipt(4), receipt(3, count=1), receipt(3, count=2))]
    assert read_receipts(texts, SECRET) == (receipt(3, count=2), receipt(4))


def test_a_receipt_that_is_too_long_is_not_given() -> None:
    turns = (ReceiptTurn(1, "x" * RECEIPT_CHARS_MAX),)
    assert seal(AnswerReceipt(1, turns, Ledger().dump()), SECRET) == ""


def test_nothing_is_heard_twice_and_nothing_is_lost_wherever_the_sound_was_cut() -> None:
    """Every length of the answer, every time at which it was cut: what is skipped is what was heard to its end."""
    for count, ms, is_whole in product((1, 2, 3), range(0, 3_001, 50), (True, False)):
        made = AnswerReceipt(3, (), ledger_of(count, is_whole=is_whole).dump())
        answer = heard_answer(made, Played(3, ms), turn=5)
        if not ms:
            assert answer is None
            continue
        assert answer is not None
        whole = SENTENCES[: min(ms // 1_000, count if is_whole else count - 1)]
        if not is_whole and ms > (count - 1) * 1_000 and answer.heard.endswith(SENTENCES[count - 1]):
            whole = SENTENCES[:count]  # how long it lasts isn't known: it is guessed from its text
        assert answer.heard == " ".join(whole), (count, ms, is_whole)
        assert answer.text == " ".join(SENTENCES[:count])
        known = HeardText(answer.heard)
        assert [one for one in SENTENCES if not known.has(one)] == list(SENTENCES[len(whole) :])


def test_an_answer_before_the_newest_voice_was_heard_as_far_as_the_user_wanted() -> None:
    assert heard_answer(receipt(3), Played(4, 10), turn=5) == HeardAnswer(5, " ".join(SENTENCES), " ".join(SENTENCES))
    assert heard_answer(receipt(3), Played(2, 500), turn=5) is None
    assert heard_answer(receipt(3), None, turn=5) is None


def test_heard_text_knows_sentences_in_order_and_regardless_of_spaces() -> None:
    known = HeardText("One is said.  Two is said. Three is said.")
    assert known.has(" Two is  said. ")
    assert not known.has("One is said."), "it came before"
    assert known.has("Three is said.")
    assert not known.has("")


def test_several_answers_are_joined_for_the_newest_turn() -> None:
    both = joined([HeardAnswer(4, "", "One."), HeardAnswer(5, "Two.", "Two. Three.")])
    assert both == HeardAnswer(5, "Two.", "One. Two. Three.")
