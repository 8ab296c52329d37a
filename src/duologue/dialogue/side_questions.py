"""Handles a question from the user in the middle of a task, if the agent can answer it immediately.

"What was the day again?" is answered from the slots, "which ones are there?" from the choices, "why do you need that?"
from the help of the open question, and other questions from the FAQ. Then the agent asks the open question again. Rule:
a question never fills a slot, and a question that can't be answered in this way is left to NLU.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .clauses import clauses_of, text_of
from .draft import DialogueDraft
from .faq_words import answer_by_words
from .interpreters import MessageInContext
from .language.readings import Slot, SlotKind
from .language.stop_phrases import after_stop
from .language.tokens import Token, words_of
from .run_flow import continue_flow
from .slot_names import label_of, may_stand_for, names_of
from .state import Instance, Phase
from .templates import chosen, either

_AMOUNT = Slot("amount", SlotKind.MONEY)
_CHOICES_MAX = 12  # more would take too long to say


def take_side_question(reply: MessageInContext) -> bool:
    """Handle a question that the agent can answer at once. Return False for any other reply."""
    d = reply.d
    if d.s.reading_back or not reply.signs.asks(reply.tokens):
        return False
    words = answer_to(d, reply.tokens)
    if words:
        d.enter(Phase.UNDERSTANDING)
        d.say(words)
        d.set(misses=0, silences=0)
        continue_flow(d)
        return True
    return False


def questioned(d: DialogueDraft, tokens: Sequence[Token]) -> list[str]:
    """The words of the question itself, without other sentences and words such as "hold on" before it."""
    lists = d.domain.pack.words
    sentences = [at for at, token in enumerate(tokens) if at and token.pause in (".", "?")]
    begins = next((at for at in reversed(sentences) if d.domain.pack.signs.asks(tokens[at:])), 0)
    tokens = tokens[begins:]
    rest = tokens[after_stop(words_of(tokens), lists.stopping, lists.before_questions) :]
    opening = next((place for place, token in enumerate(rest) if token.word not in lists.before_questions), 0)
    return [token.word for token in rest[opening:]]


def answer_to(d: DialogueDraft, tokens: Sequence[Token]) -> str:
    """The answer to the user's question; empty if the agent can't answer it here."""
    said, slot = questioned(d, tokens), d.s.waiting_for
    for answer in (_choices_asked_for(d, said), _help_asked_for(d, said), value_asked_for(d, d.top, said)):
        if answer:
            return answer
    for topic in ("", *_topics(d)):
        entry = answer_by_words(d.domain.faq, " ".join(said), d.domain.faq_min, d.domain.language, topic)
        if entry is not None:
            return d.domain.faq[entry].answer
    if slot is not None and _asks_what_it_is(d, slot, said):
        return d.spec(slot).help
    return _price_in_help(d, said)


def _price_in_help(d: DialogueDraft, said: list[str]) -> str:
    """The reply to a question for a price, such as "how much is that?": a help text that contains a price. While a slot
    is asked for, it is the help text of this slot or, if that contains no price, of the last answered slot that has
    one. At a confirmation, the reply consists of all help texts with prices. Empty for any other question."""
    lists, slot = d.domain.pack.words, d.s.waiting_for
    around = lists.around_topics | lists.again | lists.common | lists.small | lists.asks_for_value | lists.price_words
    topics = {lists.stem(word) for word in said if word not in around}
    if not any(word in lists.price_words for word in said):
        return ""
    names = (*((slot,) if slot is not None else ()), *reversed(d.top.asked))
    told = [text for name in names if _tells_price(d, text := d.spec(name).help)]
    found = told[:1] if slot is not None else list(reversed(told))
    return " ".join(found) if found and topics <= lists.stems_of(*found) else ""


def _topics(d: DialogueDraft) -> list[str]:
    """The topics that a question such as "how much is it?" may be about: the open question, the choices that the user
    has made, and the task."""
    slot, top = d.s.waiting_for, d.top
    made = [str(one.value) for name, one in top.slots if name in d.domain.slots and d.spec(name).choices]
    asked = [" ".join(_about(d, slot))] if slot is not None else []
    return [*asked, *reversed(made), " ".join((d.flow.description, *d.flow.examples))]


def _tells_price(d: DialogueDraft, text: str) -> bool:
    words = d.domain.pack.words
    tokens = words.tokens_of(text)
    clauses = [text_of(text, tokens, clause) for clause in clauses_of(words, tokens)]
    return any(d.domain.pack.replies.read_parts((_AMOUNT,), clause, d.today) for clause in clauses)


def _choices_asked_for(d: DialogueDraft, said: list[str]) -> str:
    """The choices of a slot, as the reply to a question such as "which ones are there?" or "what kinds of bikes do you
    have?". The question may use words of the slot that is asked for, or of another slot of the flow. Empty for any
    other question."""
    lists = d.domain.pack.words
    if said[0] not in lists.asks_which:
        return ""
    others = [word for word in said if word not in lists.which_ones]
    asked = [d.s.waiting_for] if d.s.waiting_for is not None else []
    for name in dict.fromkeys((*asked, *(d.flow.slots if others else ()))):
        choices = _choices_of(d, name)
        about = lists.stems_of(*_about(d, name)) if others else frozenset()
        if 0 < len(choices) <= _CHOICES_MAX and all(lists.stem(word) in about for word in others):
            return d.domain.patterns.choices.replace("{slots}", either(list(choices), d.domain.pack.spoken))
    return ""


def _help_asked_for(d: DialogueDraft, said: list[str]) -> str:
    """The help of the open question, as the reply to a question such as "why do you need that?" or "what do you need my
    number for?". Empty for any other question."""
    lists, slot = d.domain.pack.words, d.s.waiting_for
    if slot is None or said[0] not in lists.why:
        return ""
    known = lists.stems_of(*_about(d, slot))
    if not all(word in lists.asks_why or lists.stem(word) in known for word in said):
        return ""
    needs_help = said[0] in lists.asks_for_value  # "what is that for?" is answered only if there is a help text
    return d.spec(slot).help or (
        "" if needs_help else d.domain.patterns.why.replace("{slot}", label_of(d.domain, slot))
    )


def _asks_what_it_is(d: DialogueDraft, slot: str, said: list[str]) -> bool:
    """Does the user ask about a word of the open question? True for "what's Gift Aid?"."""
    lists = d.domain.pack.words
    content = [word for word in said[1:] if word not in lists.around_topics | lists.common]
    known = lists.stems_of(*_about(d, slot))
    return said[0] in lists.asks_for_value and bool(content) and all(lists.stem(word) in known for word in content)


def _about(d: DialogueDraft, slot: str) -> tuple[str, ...]:
    """The texts whose words may refer to a slot: its label, its name and its prompt."""
    spec = d.spec(slot)
    return spec.display_name, spec.name.replace("_", " "), chosen(spec.prompt, 0)


def _choices_of(d: DialogueDraft, slot: str) -> tuple[str, ...]:
    """The choices of a slot, or the names on its list. If the slot is a list, its items have their own slots; the
    result is then the choices of the first of these slots that has choices."""
    spec = d.spec(slot)
    if spec.names is not None:
        return tuple(dict.fromkeys(spec.names.values.values()))
    choices = spec.choices or next((d.spec(name).choices for name in spec.items if d.spec(name).choices), ())
    return tuple(choice.value for choice in choices)


def _means_slot(d: DialogueDraft, slot: str, called: str, behind: list[str]) -> bool:
    """Does a question that says `called` ask for this slot? False if another word that means something follows: "my
    rental number" isn't the rental. `behind` are the words after it."""
    lists = d.domain.pack.words
    around = lists.common | lists.again | lists.small | lists.around_names | lists.around_topics | lists.polite
    own = lists.stems_of(d.spec(slot).display_name, slot)
    is_followed = bool(behind) and behind[0] not in around and lists.stem(behind[0]) not in own
    return not is_followed and may_stand_for(d.domain, slot, called)


def value_asked_for(d: DialogueDraft, instance: Instance, said: list[str]) -> str:
    """The answer to a question such as "what was the day again?": the value, or a text saying that the user hasn't
    given it yet. Values that an action returned can be asked for too. Empty for any other question."""
    lists = d.domain.pack.words
    is_again = bool(lists.again & set(said))
    is_own = len(said) > 1 and re.fullmatch(d.domain.pack.corrections.words.owners, said[1]) is not None
    if said[0] not in lists.asks_for_value or not (is_again or is_own):
        return ""
    text = f" {' '.join(said)} "
    held = dict(instance.slots)
    returned = [(name.replace("_", " "), name) for name in held if name not in d.domain.slots]
    for called, name in (*names_of(d.domain, instance.flow), *returned):
        called = lists.fold(called)
        before, _, behind = text.partition(f" {called} ")
        if f" {called} " not in text or before.rpartition(" ")[2] in lists.small - lists.around_names:
            continue  # "what is it per day again?" isn't about the day
        if name in d.domain.slots and not _means_slot(d, name, called, behind.split()):
            continue
        label = label_of(d.domain, name) if name in d.domain.slots else called
        if name not in held and not is_again:
            return ""  # "what's the address?" may be a question for the FAQ
        if name not in held:
            return d.domain.patterns.not_given.replace("{slot}", label)
        shown = d.shown(name, held[name]) if name in d.domain.slots else held[name].value
        return d.domain.patterns.recalled.replace("{slot}", label).replace("{value}", d.spoken(shown))
    return ""
