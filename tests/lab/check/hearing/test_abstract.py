"""The abstraction forgets real times and ids, and nothing that decides."""

from __future__ import annotations

import pytest

from duologue.core.events import PlaybackFinished, PlaybackProgressed
from duologue.hearing.inputs import AgentSpoke
from duologue.hearing.policy import HearingPolicy
from duologue.lab.check.hearing.abstract import NOW, abstract, abstract_ledger
from duologue.lab.check.hearing.check import HearingExplorer, HearingNode
from duologue.lab.check.hearing.ledger import LedgerChoice, SentTurn, WordsLedger
from duologue.lab.check.hearing.product import HearingProduct, Posted, TimePassed
from duologue.lab.check.hearing.scopes import AGENT_WORDS, SCOPES, SMALL
from duologue.ports.ears import Final, SpeechBegan

POLICY = HearingPolicy()


def talked(pause_ms: int) -> HearingNode:
    explorer = HearingExplorer("confirm", SMALL[0])
    node = explorer.start()
    done = [
        LedgerChoice(TimePassed(pause_ms)),
        LedgerChoice(SpeechBegan(2), 1, 2),
        LedgerChoice(Final("go1 on1", utterance=2), 1, 2, 10),
    ]
    for choice in done:
        node = explorer.take(node, choice)[0]
    return node


def test_states_that_differ_only_in_their_time_are_the_same() -> None:
    assert talked(100).state != talked(900).state
    assert abstract(talked(100).state, POLICY) == abstract(talked(900).state, POLICY)


def test_an_abstract_state_stays_as_it_is() -> None:
    once = abstract(talked(100).state, POLICY)
    assert abstract(once, POLICY) == once
    assert once.at == NOW


def test_what_is_due_stays_due_after_the_same_time() -> None:
    product, real = HearingProduct(), talked(100).state
    due, reduced = product.next_due(real), abstract(real, product.policy)
    assert due is not None
    assert product.next_due(reduced) == NOW + due - real.at


def test_words_of_the_agent_that_no_utterance_can_repeat_are_forgotten() -> None:
    explorer = HearingExplorer("confirm", SCOPES["echo"])
    node = explorer.start()
    spoke = LedgerChoice(AgentSpoke(0, AGENT_WORDS))
    for choice in (
        spoke,
        LedgerChoice(Posted(PlaybackProgressed, (("heard_ms", 600),))),
        LedgerChoice(TimePassed(600)),
    ):
        node = explorer.take(node, choice)[0]
    began = explorer.take(node, LedgerChoice(Posted(PlaybackFinished, (("heard_ms", 1_200),))))[0]
    assert len(explorer.reduce(began).state.hearing.own.words) == len(AGENT_WORDS)
    later = explorer.take(began, LedgerChoice(TimePassed(5_000)))[0]
    assert explorer.reduce(later).state.hearing.own.words == ()
    open_utterance = explorer.take(began, LedgerChoice(SpeechBegan(2), 1, 2))[0]
    much_later = explorer.take(open_utterance, LedgerChoice(TimePassed(30_000)))[0]
    assert len(explorer.reduce(much_later).state.hearing.own.words) == len(AGENT_WORDS)


@pytest.mark.parametrize("scope", SMALL, ids=lambda scope: scope.name)
def test_a_step_leads_to_the_same_state_before_and_after_the_abstraction(scope: object) -> None:
    explorer = HearingExplorer("confirm", scope)  # type: ignore[arg-type]
    assert explorer.run(states_max=150).violations == []


def test_what_the_agent_said_is_forgotten_where_no_text_can_repeat_it() -> None:
    explorer = HearingExplorer("confirm", SCOPES["over"])
    node = explorer.start()
    for choice in (
        LedgerChoice(AgentSpoke(0, AGENT_WORDS)),
        LedgerChoice(Posted(PlaybackProgressed, (("heard_ms", 600),))),
        LedgerChoice(SpeechBegan(2), 1, 2),
        LedgerChoice(TimePassed(100)),
    ):
        node = explorer.take(node, choice)[0]
    later = explorer.take(node, LedgerChoice(TimePassed(30)))[0]
    assert not SCOPES["over"].echoes
    assert (explorer.reduce(node).state.hearing.own.words, explorer.reduce(node).state.hearing.known[0].began_at) == (
        (),
        0,
    )
    assert abstract(node.state, explorer.product.policy) != abstract(later.state, explorer.product.policy)


def test_of_the_time_over_the_agent_only_remains_whether_it_can_be_an_answer() -> None:
    explorer = HearingExplorer("confirm", SCOPES["over"])
    found = []
    for heard_ms in (100, 500, 700, 900):
        node = explorer.start()
        for choice in (
            LedgerChoice(Posted(PlaybackProgressed, (("heard_ms", heard_ms),))),
            LedgerChoice(SpeechBegan(2), 1, 2),
        ):
            node = explorer.take(node, choice)[0]
        found.append(explorer.reduce(node).state.hearing.known[0].over_ms)
    assert found == [0, 0, 600, 600]


def test_onsets_are_compared_only_with_the_newest_one() -> None:
    explorer = HearingExplorer("confirm", SCOPES["late"])
    node = explorer.start()
    for choice in (
        LedgerChoice(SpeechBegan(2), 1, 2),
        LedgerChoice(Final("go1 on1", utterance=2), 1, 2, 10),
        LedgerChoice(SpeechBegan(4), 2, 4),
        LedgerChoice(Final("go2 on2", utterance=4), 2, 4, 10),
        LedgerChoice(SpeechBegan(6), 3, 6),
    ):
        node = explorer.take(node, choice)[0]
    reduced = explorer.reduce(node).state
    assert [one.onset for one in reduced.hearing.known] == [1, 1, 2]
    assert reduced.core.onset == reduced.core.seq == 2


def test_the_ledger_moves_to_the_time_of_the_state() -> None:
    real = talked(100).state
    moved = abstract_ledger(WordsLedger(sent=SentTurn(1, real.at + 500)), real)
    assert moved.sent == SentTurn(1, NOW + 500)
    assert abstract_ledger(WordsLedger(), real) == WordsLedger()
