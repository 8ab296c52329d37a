"""Why a guess is not followed: a model that compares phrases is sure too soon.

The local NLU hears a yes in "are you sure?", a farewell in "leave it as it is" and a question for breakfast in "no
breakfast". Each doubt is a row. Rule: a doubt keeps what is open as it is; it never makes something else of a message.
A language model has read the question, and is taken at its word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from duologue.dialogue.commands import Affirm
from duologue.dialogue.effects import Understand
from duologue.dialogue.english import ConfirmationAnswer, SlotKind, plainly
from duologue.dialogue.english.carrier_words import is_negation
from duologue.dialogue.english.commands import keeps, repeats
from duologue.dialogue.english.questions import asks
from duologue.dialogue.english.tokens import Token, stem, tokens_of
from duologue.dialogue.flow import Domain
from duologue.dialogue.state import DialogueState

from .intents import ANSWERS, FLOW

_SURE = 0.9  # that something else was meant where anything may be an answer
_SURE_OF_A_PERSON = 0.8  # that an open task is to be left to somebody
_SURE_OF_A_TURN = 0.6  # that an open question is left for something else, or an answer taken back
_TURNING = ("go_back", "start_over", "cancel")


@dataclass(frozen=True, slots=True)
class GuessInContext:
    """What a message was taken for, where it was said."""

    intent: str
    confidence: float
    domain: Domain
    state: DialogueState
    asked: Understand
    today: str

    @property
    def is_task_at_hand(self) -> bool:
        return self.state.top is not None and self.intent == FLOW + self.state.top.flow

    @property
    def tokens(self) -> tuple[Token, ...]:
        return tokens_of(self.asked.text)


def is_doubtful(guess: GuessInContext) -> bool:
    return any(doubt(guess) for doubt in DOUBTS)


def _is_free_text(g: GuessInContext) -> bool:
    """Anything may be an answer to the open question. "It doesn't work" is near to a call for help."""
    slot = g.asked.waiting_for
    is_text = slot is not None and g.domain.slots[slot].kind is SlotKind.TEXT
    return is_text and (g.is_task_at_hand or g.confidence < _SURE)


def _is_hardly_meant(g: GuessInContext) -> bool:
    """It would take away what the person is at, or cancel what isn't there. "The later one" is near to "go back", and
    "I don't mind" to "never mind"."""
    if g.state.top is None:
        return g.intent == "cancel" and g.confidence < _SURE
    turns = g.intent in _TURNING or (g.intent.startswith(FLOW) and not g.is_task_at_hand)
    return turns and g.confidence < _SURE_OF_A_TURN


def _is_asked_about(g: GuessInContext) -> bool:
    """ "Is it free to cancel?" asks, and cancels nothing."""
    return g.intent in _TURNING and asks(g.tokens)


def _is_unsaid(g: GuessInContext) -> bool:
    """A yes or no that the message doesn't say; and a yes may send money."""
    if g.intent not in ANSWERS:
        return False
    slots = tuple(g.domain.slots[name].grammar_slot for name in g.asked.slots if name in g.domain.slots)
    meant = ConfirmationAnswer.YES if isinstance(ANSWERS[g.intent][0], Affirm) else ConfirmationAnswer.NO
    return plainly(g.asked.question, g.asked.text, g.today, slots) is not meant


def _is_no_call_for_a_person(g: GuessInContext) -> bool:
    """ "You can call me" is near to it, and there is no way back."""
    return g.intent == "handoff" and g.state.top is not None and g.confidence < _SURE_OF_A_PERSON


def _is_to_stay(g: GuessInContext) -> bool:
    """ "Leave it as it is": nothing is to change, and nothing to be dropped."""
    return g.intent == "cancel" and keeps(g.tokens)


def _may_be_an_answer(g: GuessInContext) -> bool:
    """ "Cancel my booking", after "shall I cancel it?": nobody wants the question dropped."""
    said = [token for token in g.tokens if stem(token.low) == "cancel"]
    return g.intent == "cancel" and g.asked.waiting_for is None and repeats(g.asked.question, said)


def _is_not_to_wait(g: GuessInContext) -> bool:
    """ "No waiting", "you needn't wait": of somebody else, and not at all."""
    words = [token.low for token in g.tokens]
    denied = next((place for place, word in enumerate(words) if is_negation(word)), len(words))
    return g.intent == "wait" and any(stem(word) == "wait" for word in words[denied:])


DOUBTS: tuple[Callable[[GuessInContext], bool], ...] = (
    _is_free_text,
    _is_hardly_meant,
    _is_asked_about,
    _is_unsaid,
    _is_no_call_for_a_person,
    _is_to_stay,
    _may_be_an_answer,
    _is_not_to_wait,
)
