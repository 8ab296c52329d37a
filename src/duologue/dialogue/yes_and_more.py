"""Handles a yes that is followed by other words: "yes, thank you, goodbye", "yes please, it's getting dark", "yes. Can
children come too?".

The yes and the words after it are read separately. Rule: the yes is used if the rest is a goodbye, a comment, or a
question that the agent can answer. It isn't used if the rest gives a value, or doubts, denies or changes something.
An "okay" before anything else isn't a yes: the question is asked again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .added_wishes import adds_wish, says_what_to_do
from .answers import count_as_miss
from .clauses import clauses_of, text_of, without_join
from .draft import DialogueDraft
from .interpreters import MessageInContext
from .language.readings import Confirmation, ConfirmationAnswer, Slot
from .language.tokens import Token, words_of
from .run_flow import continue_flow
from .side_questions import answer_to
from .yes_and_no import say_yes

_YES = Confirmation(ConfirmationAnswer.YES)
_ADDRESS_WORDS_MAX = 2
_REQUEST_WORDS_MIN = 4
_YES_WORDS_MAX = 3  # a yes without a pause after it may have at most this many words


def take_yes_and_more(reply: MessageInContext, slots: tuple[Slot, ...]) -> bool:
    """Handle a reply that begins with a whole yes, if the rest is a goodbye, a question that the agent can answer, or a
    comment. Return False for any other reply. `slots` are the slots that the confirmation is about."""
    d = reply.d
    after = 0 if d.s.reading_back or d.top.denied else _end_of_yes(reply)
    if not after:
        return False
    rest, text = reply.tokens[after:], reply.text[reply.tokens[after].start :]
    if _hesitates(reply, rest):
        return False
    if reply.signs.courtesy_of(rest) == "farewell":
        if _is_only_okay(reply, after):
            count_as_miss(d)  # the question is asked again
            return True
        _say_yes(d)
        d.set(queue=(*d.s.queue, text))  # said goodbye after the action has run
        return True
    if any(token.word in reply.words.contrasts - reply.words.ands for token in rest) or _is_only_okay(reply, after):
        return False
    if _asks_for_more(reply, after, slots):
        _say_yes(d)
        d.set(queue=(*d.s.queue, text))  # read after the action has run
        return True
    if reply.signs.asks(rest):
        answer = answer_to(d, rest)
        if answer:
            d.say(answer)
            _say_yes(d)
        return bool(answer)
    is_yes = d.domain.pack.replies.plain_answer(d.s.last_question, reply.text, d.today, slots) is _YES.answer
    if is_yes and _is_comment(reply, after):
        _say_yes(d)
        return True
    return False


def take_last_yes(reply: MessageInContext, slots: tuple[Slot, ...]) -> bool:
    """Handle a reply whose last clause is a whole yes, if the clauses before it ask nothing, refuse nothing and give no
    new value: "oh well, never mind, yes, book it". Return False for any other reply."""
    d, clauses = reply.d, clauses_of(reply.words, reply.tokens)
    if d.s.reading_back or d.top.denied or len(clauses) < 2 or reply.signs.is_tagged(reply.tokens):
        return False
    starts = (at for at in range(1, len(clauses)) if _is_yes_from(reply, clauses[at].start))
    begun = next(starts, 0)
    if not begun:
        return False
    before, told = reply.tokens[: clauses[begun].start], text_of(reply.text, reply.tokens, range(clauses[begun].start))
    values = d.domain.pack.replies.read_parts(tuple(replace(slot, is_past=True) for slot in slots), told, d.today)
    held = [filled.value for _, filled in d.top.slots]
    unsettled = reply.words.dissent | reply.words.ors | reply.words.conditions | reply.words.adding
    if reply.signs.asks(before) or any(value.value not in held for value in values):
        return False
    if any(token.word in unsettled for token in before) or _denies_before(reply, clauses[:begun]):
        return False
    if says_what_to_do(reply.words, before, d.s.last_question):
        return False
    _say_yes(d)
    return True


def _is_yes_from(reply: MessageInContext, start: int) -> bool:
    """Are all words from the token `start` on a whole yes, which begins with a word such as "yes"? False after a "but",
    because "you forgot the sugar, but yes" leaves something to be done."""
    d, words = reply.d, reply.words
    if reply.tokens[start].word in words.contrasts - words.ands:
        return False
    rest = without_join(words, reply.tokens, range(start, len(reply.tokens)))
    said = [token for token in reply.tokens[rest.start :] if token.word not in words.fillers | words.polite]
    if not rest or not said or reply.signs.courtesy_of((said[0],)) != "assent":
        return False
    text = text_of(reply.text, reply.tokens, rest)
    return d.domain.pack.replies.read_confirmation(d.s.last_question, text, d.today, ()) == _YES


def _denies_before(reply: MessageInContext, clauses: Sequence[range]) -> bool:
    """Does one of these clauses deny something, and isn't just a "never mind"?"""
    parts = [without_join(reply.words, reply.tokens, one) for one in clauses]
    said = [reply.tokens[one.start : one.stop] for one in parts if one]
    return any(
        any(reply.words.is_negation(token.word) for token in part) and reply.signs.command_of(part) is None
        for part in said
    )


def begins_with_yes(reply: MessageInContext) -> bool:
    """Is there a yes at the beginning of the reply, and then something else?"""
    return _end_of_yes(reply) > 0


def hesitates_after_yes(reply: MessageInContext) -> bool:
    """Is there a yes at the beginning of the reply, and then something that makes it uncertain?"""
    after = _end_of_yes(reply)
    return after > 0 and _hesitates(reply, reply.tokens[after:])


def _hesitates(reply: MessageInContext, rest: Sequence[Token]) -> bool:
    """Does the user stop the agent after the yes ("yes. Wait, …"), or ask a question after it and then say more ("yes.
    Which address did I give? We've moved")? Such a yes isn't used."""
    words = reply.words
    first = next((at for at, token in enumerate(rest) if token.word not in words.fillers | words.ands), 0)
    stopped = next((one for one in words.stopping if words_of(rest[first : first + len(one)]) == one), ())
    if any(words.stem(word) in reply.signs.words_of_command("wait") for word in stopped):
        return True
    sentences = [at for at, token in enumerate(rest) if at and token.pause in (".", "?")]
    if not sentences or not reply.signs.asks(rest):
        return False
    last = rest[sentences[-1] :]
    return not reply.signs.asks(last) and reply.signs.courtesy_of(last) is None


def _is_only_okay(reply: MessageInContext, after: int) -> bool:
    """Is the yes only an "okay"? An "okay, bye" may be a yes and a goodbye, or only a goodbye."""
    words = reply.words
    around = words.fillers | words.polite | words.ands | words.around_names
    return all(token.word in around for token in reply.tokens[:after])


def _asks_for_more(reply: MessageInContext, after: int, slots: tuple[Slot, ...]) -> bool:
    """Do the words after the yes ask for something else as well? True for "and I also want to see a flat". False if
    these words give a value for a slot of this confirmation, or deny something."""
    rest, words = reply.tokens[after:], reply.words
    is_same = any(token.word in words.same for token in rest)  # "and I need the same for my cat"
    is_more = is_same or any(token.word in words.adding for token in rest)
    if not is_more or any(words.is_negation(token.word) for token in rest):
        return False
    text = reply.text[rest[0].start :]
    is_value = not is_same and bool(reply.d.domain.pack.replies.read_parts(slots, text, reply.d.today))
    return len(rest) >= _REQUEST_WORDS_MIN and not is_value and not reply.signs.asks(rest)


def _say_yes(d: DialogueDraft) -> None:
    say_yes(d, [])
    continue_flow(d)


def _end_of_yes(reply: MessageInContext) -> int:
    """The index of the first word after the longest yes at the beginning of the reply; 0 if the reply doesn't begin
    with a yes, or if nothing follows the yes."""
    d, read = reply.d, reply.d.domain.pack.replies.read_confirmation
    places = [
        place
        for place in range(len(reply.tokens) - 1, 0, -1)
        if _begins_anew(reply, place)
        and read(d.s.last_question, reply.text[: reply.tokens[place - 1].end], d.today, ()) == _YES
    ]
    return places[0] if places else 0


def _end_of_first_yes(reply: MessageInContext) -> int:
    """The index of the first word that is neither a yes nor polite. A longer yes may go on there ("yes and do …")."""
    around = reply.words.polite | reply.words.fillers
    return next(
        at
        for at, token in enumerate(reply.tokens)
        if token.word not in around and (at and reply.signs.courtesy_of((token,)) != "assent")
    )


def _begins_anew(reply: MessageInContext, place: int) -> bool:
    """Can something new begin at this word? Yes, after a pause. After a short yes, no pause is needed: "yes please
    hurry"."""
    token = reply.tokens[place]
    return bool(token.pause) or token.word in reply.words.ands or place <= _YES_WORDS_MAX


def _is_comment(reply: MessageInContext, after: int) -> bool:
    """Are the words after the yes only a comment ("it's getting dark") or a form of address ("young lady")? False if
    they may be a value ("Lakeside Café") or a wish ("ring twice")."""
    rest, words = reply.tokens[after:], reply.words
    known = words.common | words.polite | words.fillers
    thanked = any(token.word in words.polite for token in reply.tokens[:after])
    if thanked and len(rest) <= _ADDRESS_WORDS_MAX:
        return True
    begins = after if rest[0].pause else _end_of_first_yes(reply)
    if adds_wish(words, reply.signs, reply.tokens[begins:], reply.d.s.last_question):
        return False
    is_clause = any(token.word in known or token.word.partition("'")[0] in known for token in rest)
    return is_clause and len(rest) > 1
