"""Interprets a message that comes while no question is open.

`IDLE` lists the interpreters in the order in which they are tried. Rule: the first interpreter that accepts a message
handles it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .answers import ask_nlu, count_as_miss
from .apply_commands import apply_commands
from .clauses import clauses_of
from .commands import BY_NAME, AnswerQuestion, ChitChat, Command, CorrectSlot, Farewell, Help, SetSlot, StartFlow
from .corrections import corrections, named_slot, slots_that_fit, value_for_slot
from .draft import DialogueDraft
from .faq_words import answer_by_words
from .interpreters import Interpreter, MessageInContext, interpret
from .language.tokens import Token
from .list_answers import take_list_change_after_task
from .offered_tasks import take_offered_task
from .partial_corrections import corrections_in_part, opens_correction, unclear_change, unclear_slots
from .presence import take_presence
from .shifted_values import shifts
from .side_questions import questioned, value_asked_for
from .slot_names import only_named
from .stack import has_just_ended, reopen
from .state import Instance, Phase
from .unclear_changes import ask_which, which_slot
from .unconfirmed_values import PICKED_OUT

_REMARK_WORDS_MAX = 5


def understand(d: DialogueDraft, text: str) -> None:
    """Interpret a message that comes while no question is open."""
    interpret(IDLE, MessageInContext(d, text))


def _take_empty(reply: MessageInContext) -> bool:
    if reply.text.strip():
        return False
    count_as_miss(reply.d)
    return True


def _take_command(reply: MessageInContext) -> bool:
    name = reply.signs.command_of(reply.tokens)
    if name is not None:
        reply.d.enter(Phase.UNDERSTANDING)
        apply_commands(reply.d, (BY_NAME[name],))
    return name is not None


def _take_cancellation_of_ended_task(reply: MessageInContext) -> bool:
    """Handle a "cancel that" right after a task: start the flow that cancels what this task did. Return False for any
    other message, and if no such flow is offered, or several."""
    d, words = reply.d, reply.words
    named = any(words.stem(token.word) in words.cancel_stems for token in reply.tokens)
    if not named or reply.signs.command_of(reply.tokens) != "cancel" or not has_just_ended(d.domain, d.s):
        return False
    found = _cancelling_flows(d)
    if len(found) != 1:
        return False
    d.enter(Phase.UNDERSTANDING)
    apply_commands(d, (StartFlow(found[0]),))
    return True


def _cancelling_flows(d: DialogueDraft) -> list[str]:
    """The offered flows that cancel what the task that has just ended did. If several flows cancel something, only
    those that share a word with the description of this task."""
    words, ended = d.domain.pack.words, d.s.ended
    about = {one.name: words.stems_of(one.description, one.name.replace("_", " ")) for one in d.domain.offered}
    found = [name for name, stems in about.items() if stems & words.cancel_stems]
    if ended is None or ended.flow in found:
        return []
    flow = d.domain.flows[ended.flow]
    done = words.stems_of(flow.description, flow.name.replace("_", " "))
    done -= {words.stem(word) for word in words.common | words.small}
    return [name for name in found if len(found) == 1 or about[name] & done]


def _take_correction_of_ended_task(reply: MessageInContext) -> bool:
    return reopen_ended(reply.d, reply.text)


def _take_courtesy(reply: MessageInContext) -> bool:
    polite = _courtesy_reply(reply.d, reply.text) if not reply.d.s.stack else ()
    if polite:
        reply.d.enter(Phase.UNDERSTANDING)
        apply_commands(reply.d, polite)
    return bool(polite)


def _take_question_about_ended_task(reply: MessageInContext) -> bool:
    """Handle a question for a value of the task that has just ended, such as "what was the number again?": tell the
    value. Return False for any other message."""
    d, ended = reply.d, reply.d.s.ended
    if d.s.stack or ended is None or not reply.signs.asks(reply.tokens):
        return False
    words = value_asked_for(d, ended, questioned(d, reply.tokens))
    if words:
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, (ChitChat(words),))
    return bool(words)


def _take_faq(reply: MessageInContext) -> bool:
    domain = reply.d.domain
    if not domain.faq or not reply.signs.asks(reply.tokens):
        return False
    asked = " ".join(questioned(reply.d, reply.tokens))
    entry = answer_by_words(domain.faq, reply.text, domain.faq_min, domain.language)
    for topic in ("", *_ended_topics(reply.d)):
        if entry is None:
            entry = answer_by_words(domain.faq, asked, domain.faq_min, domain.language, topic)
    if entry is None:
        return False
    reply.d.enter(Phase.UNDERSTANDING)
    apply_commands(reply.d, (AnswerQuestion(entry),))
    return True


def _ended_topics(d: DialogueDraft) -> list[str]:
    """The topic of a question such as "how long does it take?", right after a task: this task."""
    if d.s.ended is None or not has_just_ended(d.domain, d.s):
        return []
    flow = d.domain.flows[d.s.ended.flow]
    return [" ".join((flow.description, *flow.examples))]


def _take_anything(reply: MessageInContext) -> bool:
    ask_nlu(reply.d, reply.text)
    return True


IDLE: tuple[Interpreter[MessageInContext], ...] = (
    Interpreter("nothing said", "an empty message is a miss", _take_empty),
    Interpreter("presence", "whether the agent or the user is there", take_presence),
    Interpreter("offered task", "a yes or no to a task that the agent has offered", take_offered_task),
    Interpreter("cancellation", "a wish to cancel what the last task did", _take_cancellation_of_ended_task),
    Interpreter("command", "the whole message is a command", _take_command),
    Interpreter("correction", "a change of the task that has just ended", _take_correction_of_ended_task),
    Interpreter("list", "a change of the list of the task that has just ended", take_list_change_after_task),
    Interpreter("value", "a question for a value of the task that has just ended", _take_question_about_ended_task),
    Interpreter("courtesy", "a greeting, thanks, an all right or a goodbye", _take_courtesy),
    Interpreter("FAQ", "a question that the FAQ answers, in the same words", _take_faq),
    Interpreter("NLU", "everything else: which task is meant, and values for it", _take_anything),
)


def reopen_ended(d: DialogueDraft, text: str) -> bool:
    """Open the task that ended a moment ago again, apply the correction in the message and return True. Return False if
    a task is open, or if the message isn't such a correction. Example: "actually, make it Saturday", right after a
    booking. No action runs again without asking the user: the agent asks for the action's confirmation again or, if the
    action has none, first reads the new value back."""
    ended = d.s.ended
    if ended is None or not has_just_ended(d.domain, d.s):
        return False
    shifted = shifts(d.domain, ended, text, d.today)
    found = shifted[:1] if len(shifted) == 1 else corrections(d.domain, ended, text, d.today)
    changes = opens_correction(d.domain, text)
    if not found and changes:
        found = corrections_in_part(d.domain, ended, text, d.today)
    if fitting := _unclear_slots(d, ended, text, found):
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, (which_slot(d, fitting),))
        return True
    found = found or _settled(d, ended, text)
    unclear = unclear_change(d.domain, ended, text, d.today) if changes and not found else None
    if unclear is not None:
        reopen(d, ended)
        ask_which(d, unclear)
        return True
    if not found or any(isinstance(one, SetSlot) for one in found):
        return False
    d.enter(Phase.UNDERSTANDING)
    reopen(d, ended)
    told = tuple(replace(one, source=PICKED_OUT) if isinstance(one, CorrectSlot) else one for one in found)
    apply_commands(d, told)
    return True


def _settled(d: DialogueDraft, ended: Instance, text: str) -> tuple[CorrectSlot, ...]:
    """The correction for a message that only says which slot the message before it was about: "the time", after "could
    we make it eleven?". Empty for any other message."""
    slot = only_named(d.domain, ended.flow, text)
    said = [message.content for message in d.s.messages if message.role == "user"]
    if slot is None or ended.filled(slot) is None or len(said) < 2:
        return ()
    before = corrections(d.domain, ended, said[-2], d.today)
    if slot not in _unclear_slots(d, ended, said[-2], before):
        return ()
    return value_for_slot(d.domain, ended, slot, said[-2], d.today)


def _unclear_slots(d: DialogueDraft, ended: Instance, text: str, found: Sequence[Command]) -> tuple[str, ...]:
    """The slots that the new value in the message may be for, if there are several and the message names none of them.
    Empty if it is clear which slot is meant."""
    if not found:
        return unclear_slots(d.domain, ended, text, d.today)
    filled = tuple(name for name, _ in ended.slots if name in d.domain.slots)
    if len(found) != 1 or not isinstance(found[0], CorrectSlot) or found[0].slot not in filled:
        return ()
    if named_slot(d.domain, ended, text, d.today) is not None or d.domain.pack.corrections.swap.match(text):
        return ()
    fitting = slots_that_fit(d.domain, ended, filled, text, d.today)
    return fitting if len(fitting) > 1 and found[0].slot in fitting else ()


def _courtesy_reply(d: DialogueDraft, text: str) -> tuple[Command, ...]:
    """The commands that reply to a greeting, thanks, a goodbye or an "all right". After a greeting, they also offer
    help. Empty if the message is something else, or if it is the same as an example of a flow."""
    signs, tokens = d.domain.pack.signs, d.domain.pack.words.tokens_of(text)
    kind = signs.courtesy_of(tokens) or _closing_courtesy(d, tokens)
    if kind is None or any(example.casefold() == text.strip(" .,!?").casefold() for example in _examples(d)):
        return ()
    is_over = kind in ("refusal", "thanks") and signs.where_nothing_more(tokens) is not None
    offers_more = d.s.last_response.endswith("?") and signs.asks_for_more(_last_sentence(d.s.last_response))
    if kind == "farewell" or (d.s.kept and (is_over or (kind == "refusal" and offers_more))):
        return (Farewell(),)  # "no, that's all", after a task
    if kind == "assent" and offers_more:
        return (Help(),)  # "yes", after "anything else?"
    words = ChitChat(str(getattr(d.domain.patterns, "assent" if kind == "refusal" else kind)))
    return (words, Help()) if kind == "greeting" else (words,)


def _closing_courtesy(d: DialogueDraft, tokens: Sequence[Token]) -> str | None:
    """The goodbye at the end of a message, if the words before it are short clauses that ask nothing ("you're a star,
    bye"), or if a task has just ended and they begin no wish ("lovely, see you on Sunday, bye"). None for any other
    message."""
    pack = d.domain.pack
    clauses = clauses_of(pack.words, tokens)
    if d.s.kept and not pack.signs.asks(tokens) and _ends_with_goodbye(d, tokens):
        return "farewell"
    if len(clauses) < 2 or pack.signs.asks(tokens) or any(len(one) > _REMARK_WORDS_MAX for one in clauses):
        return None
    last = pack.signs.courtesy_of(tokens[clauses[-1].start :])
    return last if last == "farewell" else None


def _ends_with_goodbye(d: DialogueDraft, tokens: Sequence[Token]) -> bool:
    """Is the last word a goodbye, and is no word of the message in the examples of a flow?"""
    pack = d.domain.pack
    if len(tokens) < 2 or pack.signs.courtesy_of(tokens[-1:]) != "farewell":
        return False
    wished = pack.words.stems_of(*_examples(d)) - {pack.words.stem(word) for word in pack.words.common}
    return not any(
        pack.words.stem(token.word) in wished for token in tokens[:-1] if token.word not in pack.words.common
    )


def _last_sentence(text: str) -> str:
    return text.rstrip(" ?").rpartition(". ")[2]


def _examples(d: DialogueDraft) -> Iterator[str]:
    return (example for flow in d.domain.offered for example in flow.examples)
