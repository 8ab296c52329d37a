"""Searches the FAQ for the answer to a message, with the NLU of the agent.

Each entry is treated as an intent, and its questions as the phrases of that intent. So the same models and the same
calibration decide as for tasks; without models, words decide. Rule: an entry answers only if the NLU is as sure as the
file asks for.
"""

from __future__ import annotations

from duologue.dialogue.commands import AnswerQuestion, ChitChat, Command, CorrectSlot, Help, SetSlot
from duologue.dialogue.flow import Domain, FaqEntry
from duologue.nlu.understanding import Intent, MessageScope, Nlu

_FAQ = "faq "


def faq_scope(faq: tuple[FaqEntry, ...]) -> MessageScope:
    """The entries of the FAQ as intents."""
    return MessageScope(
        tuple(Intent(f"{_FAQ}{place}", one.questions, title=one.questions[0]) for place, one in enumerate(faq))
    )


async def search_faq(nlu: Nlu, domain: Domain, text: str, sure_min: float = 0.0) -> int | None:
    """The index of the entry that answers the text; None if the NLU isn't sure enough of any entry."""
    if not domain.faq:
        return None
    found = await nlu.understand(text, faq_scope(domain.faq))
    if found.error is not None or found.intent is None or found.confidence < max(domain.faq_min, sure_min):
        return None
    return int(found.intent.removeprefix(_FAQ))


async def with_faq(
    nlu: Nlu, domain: Domain, text: str, commands: tuple[Command, ...], confidence: float
) -> tuple[Command, ...]:
    """The commands for a message, or instead of them the command to answer it from the FAQ. A message that gives values
    is never taken for a question. If the message asks something and was taken for a task, the search has to be surer
    than that guess."""
    if not domain.faq or any(isinstance(one, SetSlot | CorrectSlot) for one in commands):
        return commands
    is_open = all(isinstance(one, ChitChat | Help) for one in commands)
    if not is_open and not domain.pack.signs.asks(domain.pack.words.tokens_of(text)):
        return commands
    entry = await search_faq(nlu, domain, text, 0.0 if is_open else confidence)
    return (AnswerQuestion(entry),) if entry is not None else commands
