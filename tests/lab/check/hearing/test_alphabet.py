"""The alphabet offers everything of its scope that could happen next."""

from __future__ import annotations

from duologue.core import events as ev
from duologue.hearing import inputs as inp
from duologue.lab.check.hearing.alphabet import choices
from duologue.lab.check.hearing.check import HearingExplorer
from duologue.lab.check.hearing.ledger import LedgerChoice
from duologue.lab.check.hearing.product import OldReplyHeard, Posted, TimePassed
from duologue.lab.check.hearing.scopes import SMALL, HearingScope
from duologue.ports.ears import Final, Partial, Pause, SpeechBegan, SpeechEnded, TurnOver, VoiceFrame


def offered(scope: HearingScope, *done: LedgerChoice) -> list[LedgerChoice]:
    explorer = HearingExplorer("confirm", scope)
    node = explorer.start()
    for choice in done:
        node = explorer.take(node, choice)[0]
    return list(choices(scope, node.state, node.ledger))


def test_all_scopes_together_offer_every_kind_of_stimulus() -> None:
    kinds: set[type] = set()
    for scope in SMALL:
        explorer = HearingExplorer("confirm", scope)
        explorer.run(states_max=100)
        kinds |= {type(label.stimulus) for label in explorer.graph.labels if label is not None}
        for node in explorer.graph.states:
            kinds |= {type(choice.stimulus) for choice in choices(scope, node.state, node.ledger)}
    reports = {SpeechBegan, SpeechEnded, Partial, Final, Pause, VoiceFrame, TurnOver}
    inputs = {inp.EarsStopped, inp.ButtonPressed, inp.ButtonReleased, inp.Typed, inp.AgentSpoke, inp.AgentAsks}
    assert kinds - {OldReplyHeard} == {*reports, *inputs, Posted, TimePassed}


def test_the_words_of_an_utterance_carry_its_number() -> None:
    began = LedgerChoice(SpeechBegan(2), 1, 2)
    texts = {c.stimulus.text for c in offered(SMALL[0], began) if isinstance(c.stimulus, Final)}
    assert texts == {"go1 on1"}


def test_a_final_text_comes_once_and_then_only_revisions() -> None:
    done = (LedgerChoice(SpeechBegan(2), 1, 2), LedgerChoice(Final("go1 on1", utterance=2), 1, 2, 10))
    texts = [c.stimulus.text for c in offered(SMALL[0], *done) if isinstance(c.stimulus, Final)]
    assert texts == ["go1 off1"]


def test_texts_are_reported_with_each_confidence_and_first_text_of_the_scope() -> None:
    scope = HearingScope("doubts", finals=("go#",), confidences=(1.0, 0.2), first_texts=("", "so#"))
    found = [c.stimulus for c in offered(scope, LedgerChoice(SpeechBegan(2), 1, 2)) if isinstance(c.stimulus, Final)]
    assert [(one.confidence, one.first_text) for one in found] == [(1.0, ""), (1.0, "so1"), (0.2, ""), (0.2, "so1")]


def test_nothing_is_reported_when_the_call_is_over() -> None:
    scope = HearingScope("ends", ends=True)
    assert [choice.stimulus for choice in offered(scope, LedgerChoice(Posted(ev.EndRequested)))] == [TimePassed()]
