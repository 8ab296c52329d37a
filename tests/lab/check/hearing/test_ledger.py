"""The ledger remembers what the ears reported, apart from the machines."""

from __future__ import annotations

from duologue.core import events as ev
from duologue.hearing.inputs import EarsStopped
from duologue.lab.check.hearing.check import HearingExplorer, HearingNode
from duologue.lab.check.hearing.ledger import SEND_MS_MAX, LedgerChoice, SentTurn, WordsLedger
from duologue.lab.check.hearing.product import Posted
from duologue.ports.ears import Final, Partial, SpeechBegan, SpeechEnded
from tests.lab.check.hearing.broken_hearing import SENT


def follow(*choices: LedgerChoice) -> HearingNode:
    explorer = HearingExplorer("confirm", SENT)
    node = explorer.start()
    for choice in choices:
        node = explorer.take(node, choice)[0]
    return node


BEGAN = LedgerChoice(SpeechBegan(2), 1, 2)
TEXT = LedgerChoice(Partial("go1", utterance=2), 1, 2, 1)


def test_an_utterance_is_on_until_its_end_or_its_final_text() -> None:
    assert follow(BEGAN).ledger.utterances[0].is_on
    assert not follow(BEGAN, LedgerChoice(SpeechEnded(2), 1, 2, -1)).ledger.utterances[0].is_on
    assert not follow(BEGAN, LedgerChoice(Final("go1", utterance=2), 1, 2, 10)).ledger.utterances[0].is_on


def test_the_newest_final_text_of_an_utterance_counts() -> None:
    finals = [LedgerChoice(Final(text, utterance=2), 1, 2, 10) for text in ("go1 on1", "go1 off1")]
    assert follow(BEGAN, *finals).ledger.finals == ((1, "go1 off1"),)


def test_it_counts_the_words_that_the_conversation_machine_was_told() -> None:
    assert follow(BEGAN, TEXT).ledger.told == ((1, 1),)


def test_a_turn_with_words_that_is_sent_must_be_asked_in_time() -> None:
    node = follow(BEGAN, TEXT, LedgerChoice(Posted(ev.SendPressed), use="send"))
    assert node.ledger.sent == SentTurn(1, node.state.at + SEND_MS_MAX)
    assert node.ledger.uses("send") == 1
    asked = follow(BEGAN, TEXT, LedgerChoice(Posted(ev.SendPressed)), LedgerChoice(Final("go1", utterance=2), 1, 2, 10))
    assert asked.ledger.sent is None


def test_a_turn_without_words_that_is_sent_promises_nothing() -> None:
    assert follow(BEGAN, LedgerChoice(Posted(ev.SendPressed))).ledger.sent is None


def test_stopped_ears_report_nothing_more_of_their_utterances() -> None:
    ledger = follow(BEGAN, TEXT, LedgerChoice(EarsStopped(0), use="stop")).ledger
    assert ledger.utterances == ()
    assert ledger.keys == 1


def test_it_knows_whether_a_voice_was_told() -> None:
    assert not WordsLedger().has_begun
    assert follow(BEGAN).ledger.has_begun
    assert not follow(BEGAN, LedgerChoice(SpeechEnded(2), 1, 2, -1)).ledger.has_begun
