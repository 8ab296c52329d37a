"""Reads the reply to a confirmation: yes, no, or a change.

A reply is a yes or a no only if every word of it is understood. A reply is a change if it gives a new value without a
yes. It is also a change if it says a no, or a word like "instead", together with something else. If the new values
aren't fully understood here, NLU reads them. Rule: a reply that asks something goes to NLU, even if it begins with a
yes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..language.days import Today, today_of
from ..language.match import Match
from ..language.readings import Confirmation, ConfirmationAnswer, Reading, Slot, SlotKind, SpokenCommand, Value, Why
from .carrier_words import ACTS, ASSENT, DISSENT, EXACT, FILLERS, MARKERS, POLITE, is_negation
from .commands import command_of, repeats
from .explained_words import covered_by, echo_of_texts, leftover, unclear, unread
from .grammar_for_kind import find_values
from .indirect_answers import REFUSING_WORDS, is_about_the_line, is_only_hoped, refuses, where_agreeing
from .no_preference import has_no_preference
from .numbers import is_pronoun_one
from .questions import asks, wants_to_know
from .several_slots import assign, values_of
from .tokens import Token, stem, stems_of, tokens_of, words_of
from .yes_no import Polarity, agrees, denies_praise, is_service_verb, places_outside_yes_no, polarity, wishes

_TYPED = tuple(Slot("", kind) for kind in (SlotKind.DATE, SlotKind.TIME, SlotKind.NUMBER))
_CHANGES = frozenset(
    """actually instead change changed changing wait sorry wrong mistake meant different another switch swap
    replace update modify rather incorrect""".split()
)
_DOUBTS = frozenset("maybe perhaps possibly probably guess suppose unsure think if".split())
_NEARLY = frozenset("almost nearly mostly partly partially half maybe perhaps".split())
_ASKING = frozenset("should can could will would shall may must are".split())
_WEIGHING = frozenset("but if first before unless sure really right correct yes no ok okay cost costs price".split())
_WRONG = frozenset("wrong incorrect false".split())
_NOT_CONTENT = _CHANGES | frozenset("mind thought second again hold moment minute no not right correct".split())


def read_confirmation(text: str, reply: str, today: str, slots: tuple[Slot, ...] = ()) -> Reading:
    """What the reply to a confirmation means. `text` is the question that was asked. `slots` are the slots whose values
    the user may change."""
    tokens = tokens_of(reply)
    if not tokens:
        return unread(reply)
    if (command := command_of(tokens)) is not None:
        if repeats(text, tokens):
            return unclear(Why.SEVERAL)
        return Confirmation(ConfirmationAnswer.NO) if command == "cancel" else SpokenCommand(command)
    if asks(tokens) or wants_to_know(tokens) or _wonders(tokens, reply) or is_about_the_line(words_of(tokens)):
        return unclear(Why.QUESTION)
    if _asks_whether(tokens):
        return unclear(Why.QUESTION)
    if _orders_it(tokens, text):
        return Confirmation(ConfirmationAnswer.YES)
    values = new_values(tokens, today_of(today), text)
    covered = covered_by(values)
    left = [place for place in places_outside_yes_no(tokens) if place not in covered]
    content = [place for place in left if tokens[place].word not in _NOT_CONTENT]
    leaning = polarity(tokens)
    if leaning is Polarity.NO and has_no_preference(tokens, frozenset()):
        return unclear(Why.NO_VALUE)
    assents = any(token.word in ASSENT for token in tokens[:3]) and not denies_praise(tokens)
    agreeing = where_agreeing(words_of(tokens)) or range(0)  # "I don't see anything wrong"
    changes = any(token.word in _CHANGES for place, token in enumerate(tokens) if place not in agreeing)
    is_nearly = any(token.word in _NEARLY for token in tokens) or is_only_hoped(words_of(tokens))
    if leaning is Polarity.YES and (is_nearly or tokens[-1].word == "if"):
        return unclear(Why.LEFTOVER, tokens, content)
    if leaning is Polarity.YES and not values and not changes:
        left = [place for place in left if not _is_courtesy(tokens, place)]
        left = [place for place in left if not (agrees(tokens) and stem(tokens[place].word) in stems_of(text))]
        return unclear(Why.LEFTOVER, tokens, left) if left else Confirmation(ConfirmationAnswer.YES)
    if not values and not [place for place in content if not _is_said_wrong(tokens, place)] and _is_refused(tokens):
        return Confirmation(ConfirmationAnswer.NO)
    if (leaning is Polarity.UNSURE and not values) or (assents and not (values and changes)):
        return unclear(Why.SEVERAL if values else Why.LEFTOVER, tokens, content)
    if leaning is Polarity.NO and not values and all(_is_forbidden(tokens, place, text) for place in content):
        return Confirmation(ConfirmationAnswer.NO)
    if leaning in (Polarity.NO, Polarity.BOTH) or changes:
        if values or content:
            return _change(text, reply, tokens, today_of(today), slots)
        return Confirmation(ConfirmationAnswer.NO) if leaning is Polarity.NO else unclear(Why.NO_VALUE)
    if leaning is None and not values and _wants_otherwise(tokens, content, text):
        return _change(text, reply, tokens, today_of(today), slots)
    if not values or leaning not in (None, Polarity.UNSURE):
        return unclear(Why.LEFTOVER, tokens, content)
    return _change(text, reply, tokens, today_of(today), slots)


def says_yes_then_asks(text: str, reply: str, today: str) -> bool:
    """Is the reply a whole yes and then a question about something else? True for "Yes, that's right. What's the
    address?". False if the question puts the yes in doubt, with words such as "but", "if" or "before"."""
    tokens = tokens_of(reply)
    for place in range(1, len(tokens)):
        rest = tokens[place:]
        if not rest[0].pause or any(token.word in _WEIGHING | MARKERS for token in rest):
            continue
        if (asks(rest) or wants_to_know(rest)) and not new_values(rest, today_of(today), text):
            first = read_confirmation(text, reply[: tokens[place - 1].end], today)
            return first == Confirmation(ConfirmationAnswer.YES)
    return False


def _change(text: str, reply: str, tokens: Sequence[Token], today: Today, slots: tuple[Slot, ...]) -> Confirmation:
    values = changed_values(reply, tokens, slots, today, echo_of_texts(text))
    return Confirmation(ConfirmationAnswer.CHANGE, values)


def _is_refused(tokens: Sequence[Token]) -> bool:
    """Does the reply refuse in other words? True for "that's not correct", "wrong" and "I've changed my mind"."""
    return denies_praise(tokens) or refuses(words_of(tokens))


def _is_said_wrong(tokens: Sequence[Token], place: int) -> bool:
    """Does this word only refuse, such as "wrong", without saying what to change?"""
    return tokens[place].word in REFUSING_WORDS


def _wants_otherwise(tokens: Sequence[Token], content: Sequence[int], text: str) -> bool:
    """Does the user want something different from what the agent proposed? True for "play it in the kitchen", after
    "shall I play it in the bedroom?". False if the reply repeats no word of the question, because it may then be about
    another task."""
    asked, words = stems_of(text), [token.word for token in tokens if token.word not in POLITE | FILLERS]
    is_order = bool(words) and (is_service_verb(words[0]) or stem(words[0]) in ACTS)
    is_wish = words[:1] in (["i'd"], ["i"], ["we"], ["we'd"]) and wishes(tokens[:4])
    is_new = any(stem(tokens[place].word) not in asked for place in content)
    shares = any(stem(token.word) in asked for token in tokens if token.word not in EXACT)
    return (is_order or is_wish) and is_new and shares


def _orders_it(tokens: Sequence[Token], text: str) -> bool:
    """Does the user order exactly what the agent proposed? True for "book it", after "shall I book it?"."""
    words = [token.word for token in tokens if token.word not in POLITE | FILLERS]
    is_order = len(words) == 2 and words[1] in ("it", "that", "this") and is_service_verb(words[0])
    return is_order and words[0] in words_of(tokens_of(text))


def _is_courtesy(tokens: Sequence[Token], place: int) -> bool:
    """Is this word part of "thanks a lot", or a "too" at the end of the reply, as in "that's fine with me too"?"""
    if tokens[place].word == "too":
        return place + 1 == len(tokens) or tokens[place + 1].pause in (".", "?")
    before = words_of(tokens[max(0, place - 2) : place])
    return tokens[place].word == "lot" and before == ("thanks", "a")


def _is_forbidden(tokens: Sequence[Token], place: int, text: str) -> bool:
    """Does the reply forbid an action that the question proposed? The word at `place` names the action. Example: "don't
    cancel it", after "shall I cancel it?"."""
    before = [token.word for token in tokens[max(0, place - 2) : place]]
    is_denied = before[-1:] == ["don't"] or before == ["do", "not"]
    return is_denied and stem(tokens[place].word) in stems_of(text)


def new_values(tokens: Sequence[Token], today: Today, text: str) -> list[Match]:
    """The dates, times and numbers in a reply that the question `text` didn't mention."""
    asked = {token.word for token in tokens_of(text)}
    found: list[Match] = []
    for slot in _TYPED:
        for match in find_values(tokens, slot, today, is_asked=False):
            words = [token.word for token in tokens[match.first : match.after]]
            if not all(word in asked for word in words) and not is_pronoun_one(tokens, match.first):
                found.append(match)
    return found


def changed_values(
    reply: str, tokens: Sequence[Token], slots: tuple[Slot, ...], today: Today, echo: frozenset[str]
) -> tuple[Value, ...]:
    """The new values in a reply. Empty if a value is ambiguous, if some word isn't understood, or if a word other than
    a plain "no" denies something."""
    filled = assign(tokens, slots, today)
    if not filled or any(len(match.candidates) > 1 for _, match in filled.values()):
        return ()
    if any(is_negation(token.word) and token.word not in DISSENT for token in tokens):
        return ()
    covered = covered_by(match for _, match in filled.values())
    left = leftover(tokens, covered, echo)
    if any(tokens[place].word not in _NOT_CONTENT for place in left):
        return ()
    return values_of(reply, tokens, filled)


def plain_answer(text: str, reply: str, today: str, slots: tuple[Slot, ...] = ()) -> ConfirmationAnswer | None:
    """The yes or no that a reply says explicitly, even if other words of the reply aren't understood. None if the reply
    asks, doubts or changes something. The result is used to check a classifier, which may mistake "are you sure?" for a
    yes."""
    tokens = tokens_of(reply)
    words = {token.word for token in tokens}
    if not tokens or _asks_at_all(tokens, reply) or words & (_DOUBTS | _NEARLY):
        return None
    if is_about_the_line(words_of(tokens)) or is_only_hoped(words_of(tokens)):
        return None
    if new_values(tokens, today_of(today), text) or _names_more(tokens, slots, today_of(today), text):
        return None
    leaning = polarity(tokens)
    if leaning is Polarity.YES:
        return None if words & MARKERS or not agrees(tokens) else ConfirmationAnswer.YES
    is_no = leaning is Polarity.NO or denies_praise(tokens) or (leaning is None and bool(words & _WRONG))
    return ConfirmationAnswer.NO if is_no else None


def _wonders(tokens: Sequence[Token], reply: str) -> bool:
    """Is the reply one or two words with a question mark, like "right?"?"""
    return len(tokens) <= 2 and reply.rstrip().endswith("?")


def _asks_whether(tokens: Sequence[Token]) -> bool:
    """Does the reply begin like a question that isn't directed at the agent? True for "can it be better" and "could
    they". False for "can you" and "could we", which begin requests."""
    words = [token.word for token in tokens if token.word not in POLITE | FILLERS]
    return len(words) > 2 and words[0] in _ASKING and words[1] in ("it", "that", "this", "they", "there", "he", "she")


def _asks_at_all(tokens: Sequence[Token], reply: str) -> bool:
    if asks(tokens) or wants_to_know(tokens) or _asks_whether(tokens) or "?" in reply:
        return True
    return tokens[0].word in _ASKING and len(tokens) > 1 and tokens[1].word in ("i", "we", "you", "they")


def _names_more(tokens: Sequence[Token], slots: tuple[Slot, ...], today: Today, text: str) -> bool:
    """Does the reply name a choice or a known name that the question didn't mention?"""
    asked = {token.word for token in tokens_of(text)}
    listed = [slot for slot in slots if slot.kind in (SlotKind.CHOICE, SlotKind.NAME)]
    return any(
        not all(token.word in asked for token in tokens[match.first : match.after])
        for slot in listed
        for match in find_values(tokens, slot, today, is_asked=False)
    )
