"""Searches the FAQ for the answer to a message, with the NLU of the agent.

Each entry is treated as an intent, and its questions as the phrases of that intent. So the models that find tasks also
search the FAQ, with the same calibration. Without models, words are compared. Rule: an entry is used as the
answer only if the NLU's confidence is at least the minimum that the file sets.
"""

from __future__ import annotations

from duologue.dialogue.commands import Affirm, AnswerQuestion, ChitChat, Command, CorrectSlot, Help, SetSlot
from duologue.dialogue.effects import Understand
from duologue.dialogue.flow import Domain, FaqEntry
from duologue.dialogue.state import DialogueState, Phase
from duologue.nlu.understanding import Intent, MessageScope, Nlu

_FAQ = "faq "


def faq_scope(faq: tuple[FaqEntry, ...]) -> MessageScope:
    """The entries of the FAQ as intents."""
    return MessageScope(
        tuple(Intent(f"{_FAQ}{place}", one.questions, title=one.questions[0]) for place, one in enumerate(faq))
    )


async def search_faq(nlu: Nlu, domain: Domain, text: str, sure_min: float = 0.0) -> int | None:
    """The index of the FAQ entry that answers the text; None if the NLU isn't sure enough about any entry."""
    if not domain.faq:
        return None
    found = await nlu.understand(text, faq_scope(domain.faq))
    if found.error is not None or found.intent is None or found.confidence < max(domain.faq_min, sure_min):
        return None
    return int(found.intent.removeprefix(_FAQ))


async def with_faq(
    nlu: Nlu, domain: Domain, text: str, commands: tuple[Command, ...], confidence: float
) -> tuple[Command, ...]:
    """Return the command to answer the message from the FAQ, or `commands` unchanged if the FAQ has no answer. A
    message that gives slot values is never answered from the FAQ. If NLU found a task in the message, the FAQ is
    searched only if the message asks something, and its answer is used only if the search is at least as sure as NLU
    was."""
    if not domain.faq or any(isinstance(one, SetSlot | CorrectSlot) for one in commands):
        return commands
    is_open = all(isinstance(one, ChitChat | Help) for one in commands)
    if not is_open and not domain.pack.signs.asks(domain.pack.words.tokens_of(text)):
        return commands
    entry = await search_faq(nlu, domain, text, 0.0 if is_open else confidence)
    return (AnswerQuestion(entry),) if entry is not None else commands


def with_leading_yes(
    domain: Domain, effect: Understand, state: DialogueState, commands: tuple[Command, ...], today: str
) -> tuple[Command, ...]:
    """Add a yes to `commands`, if the user says yes to a confirmation and then asks something that the FAQ answers, as
    in "yes. Can he eat before that?". Otherwise return `commands` unchanged."""
    is_confirming = state.phase is Phase.UNDERSTANDING and state.top is not None and effect.waiting_for is None
    is_answered = len(commands) == 1 and isinstance(commands[0], AnswerQuestion)
    if not is_confirming or not is_answered or state.is_aside or state.top is None or state.top.denied:
        return commands
    says_yes = domain.pack.replies.says_yes_then_asks(effect.question, effect.text, today)
    return (*commands, Affirm()) if says_yes else commands
