"""Handles a yes that is followed by other words: "yes, thank you, goodbye", "yes please, it's getting dark", "yes. Can
children come too?".

The yes and the words after it are read separately. Rule: the yes is used if the rest is a goodbye, a comment, or a
question that the agent can answer. It isn't used if the rest gives a value, or doubts, denies or changes something.
An "okay" before a goodbye isn't a yes: the question is asked again.
"""

from __future__ import annotations

from collections.abc import Sequence

from .answers import count_as_miss
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
    if any(token.word in reply.words.contrasts - reply.words.ands for token in rest):
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


def hesitates_after_yes(reply: MessageInContext) -> bool:
    """Is there a yes at the beginning of the reply, and then something that makes it uncertain?"""
    after = _end_of_yes(reply)
    return after > 0 and _hesitates(reply, reply.tokens[after:])


def _hesitates(reply: MessageInContext, rest: Sequence[Token]) -> bool:
    """Does the user stop the agent after the yes ("yes. Wait, …"), or say something more after a question ("yes. Which
    address did I give? We've moved")? Such a yes isn't used."""
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
    return all(token.word in reply.words.fillers for token in reply.tokens[:after])


def _asks_for_more(reply: MessageInContext, after: int, slots: tuple[Slot, ...]) -> bool:
    """Do the words after the yes ask for something else as well? True for "and I also want to see a flat". False if
    these words give a value for a slot of this confirmation, or deny something."""
    rest, words = reply.tokens[after:], reply.words
    if not any(token.word in words.adding for token in rest) or any(words.is_negation(token.word) for token in rest):
        return False
    text = reply.text[rest[0].start :]
    is_value = bool(reply.d.domain.pack.replies.read_parts(slots, text, reply.d.today))
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


def _begins_anew(reply: MessageInContext, place: int) -> bool:
    """Can something new begin at this word? Yes, after a pause. After a short yes, no pause is needed: "yes please
    hurry"."""
    token = reply.tokens[place]
    return bool(token.pause) or token.word in reply.words.ands or place <= _YES_WORDS_MAX


def _is_comment(reply: MessageInContext, after: int) -> bool:
    """Are the words after the yes only a comment ("it's getting dark") or a form of address ("young lady")? False if
    they may be a value ("Lakeside Café")."""
    rest, words = reply.tokens[after:], reply.words
    known = words.common | words.polite | words.fillers
    is_clause = any(token.word in known or token.word.partition("'")[0] in known for token in rest)
    thanked = any(token.word in words.polite for token in reply.tokens[:after])
    return (is_clause and len(rest) > 1) or (thanked and len(rest) <= _ADDRESS_WORDS_MAX)
