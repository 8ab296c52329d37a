"""Handles the reply to a confirmation: a yes, a no, or a change.

`CONFIRMATION` lists the interpreters in the order in which they are tried. Rule: only a clear yes is treated as a yes.
A reply that is neither a clear yes nor a clear no changes a slot if it is fully understood, and goes to NLU otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from .answers import ask_nlu, correct, count_as_miss
from .apply_commands import apply_commands
from .clauses import clauses_of, text_of
from .commands import BY_NAME, ClearSlot, Command, CorrectSlot, NeedTime, SetSlot
from .corrections import Correction, compares, is_asked, named_slot, slots_that_fit, value_for_slot
from .draft import DialogueDraft
from .elliptic_corrections import with_currency_of
from .flow import Confirm, PerformAction
from .interpreters import Interpreter, MessageInContext, as_set_slots, empty_slots, interpret
from .language.readings import (
    ANY,
    Confirmation,
    ConfirmationAnswer,
    Direct,
    Json,
    Question,
    Reading,
    Slot,
    SlotKind,
    Unclear,
    Value,
)
from .language.tokens import Token
from .left_out_answers import take_command_in_clause
from .list_answers import take_list_change
from .partial_corrections import (
    calls_wrong,
    corrections_in_part,
    opens_correction,
    second_values,
    unclear_change,
    unclear_slots,
)
from .presence import take_presence
from .prompts import count_try
from .removed_values import take_removed_value
from .repeated_answers import take_repeated_value
from .run_flow import continue_flow
from .shifted_values import shifts
from .side_questions import answer_to, take_side_question
from .slot_names import only_named
from .state import Phase
from .templates import chosen, gaps_of
from .text_corrections import text_again
from .unclear_changes import ask_which, which_slot
from .yes_and_more import begins_with_yes, hesitates_after_yes, take_last_yes, take_yes_and_more
from .yes_and_no import say_no, say_yes

_CONTACT_KINDS = (SlotKind.PHONE, SlotKind.EMAIL)  # a value of these kinds, instead of a yes, is always a correction


class MessageToConfirmation(MessageInContext):
    """A reply to a confirmation."""

    @cached_property
    def named(self) -> tuple[str, tuple[Correction, ...]] | None:
        return named_slot(self.d.domain, self.d.top, self.text, self.d.today)

    @cached_property
    def reading(self) -> Reading:
        read = self.d.domain.pack.replies.read_confirmation
        return read(self.d.s.last_question, self.text, self.d.today, _confirmed_slots(self.d))

    @property
    def answer(self) -> ConfirmationAnswer | None:
        return self.reading.answer if isinstance(self.reading, Confirmation) else None


def answer_confirmation(d: DialogueDraft, text: str) -> None:
    """Handle the reply to the open confirmation."""
    interpret(CONFIRMATION, MessageToConfirmation(d, text))


def _take_empty(reply: MessageToConfirmation) -> bool:
    if reply.text.strip():
        return False
    count_as_miss(reply.d)
    return True


def _take_command(reply: MessageToConfirmation) -> bool:
    name = reply.signs.command_of(reply.tokens)
    if name is not None:
        reply.d.set(heard=reply.text)
        is_echo = not reply.d.top.denied and reply.signs.repeats(reply.d.s.last_question, reply.tokens)
        _apply(reply.d, () if is_echo else (BY_NAME[name],))
    return name is not None


def _take_not_yet(reply: MessageToConfirmation) -> bool:
    if not reply.signs.postpones(reply.tokens):
        return False
    _apply(reply.d, (NeedTime(),))
    return True


def _take_what_to_change(reply: MessageToConfirmation) -> bool:
    """Handle the answer to a question like "What should I change?": the names of slots, or "nothing". Return False for
    any other reply."""
    if not reply.d.top.denied:
        return False
    if cleared := _named_slots(reply.d, reply.text) or _named_then_given(reply):
        _apply(reply.d, cleared)
        return True
    if _wants_no_change(reply):
        d = reply.d
        d.set_top(denied=d.top.confirm == d.domain.patterns.what_to_change)
        count_try(d)
        continue_flow(d)
        return True
    return _refuses_any_change(reply) and _deny(reply)


def _take_wish_for_change(reply: MessageToConfirmation) -> bool:
    if reply.d.top.denied or not reply.signs.only_asks_for_change(reply.tokens):
        return False
    reply.d.set_top(denied=True)
    reply.d.set(misses=0, silences=0)
    continue_flow(reply.d)
    return True


def _take_shift(reply: MessageToConfirmation) -> bool:
    """Handle a shift of a day or a time: "an hour later". If it fits several slots, the agent asks which slot is meant.
    Return False for any other reply."""
    d = reply.d
    found = shifts(d.domain, d.top, reply.text, d.today) if not d.s.reading_back else ()
    if len(found) > 1:
        _apply(d, (which_slot(d, tuple(one.slot for one in found)),))
    elif found:
        _apply(d, found)
    return bool(found)


def _take_named_slot(reply: MessageToConfirmation) -> bool:
    if reply.named is None or not reply.named[1]:
        return False
    _apply(reply.d, reply.named[1])
    return True


def _take_yes(reply: MessageToConfirmation) -> bool:
    if reply.answer is not ConfirmationAnswer.YES:
        return False
    say_yes(reply.d, [])
    continue_flow(reply.d)
    return True


def _take_yes_and_question(reply: MessageToConfirmation) -> bool:
    """Handle a yes with a question after it that the agent can't answer: say so, and apply the yes. But if an action
    that can't be undone follows, ask for the confirmation again, because the user may want the answer before deciding.
    Return False for any other reply. Example: "Yes, that's right. What's the address?"."""
    d = reply.d
    if d.s.reading_back or hesitates_after_yes(reply):
        return False
    if not d.domain.pack.replies.says_yes_then_asks(d.s.last_question, reply.text, d.today):
        return False
    d.say(d.domain.patterns.cannot_answer)
    if any(isinstance(at, PerformAction) and at.is_final for at in d.flow.program[d.top.at :]):
        d.set(misses=0, silences=0)
    else:
        say_yes(d, [])
    continue_flow(d)
    return True


def _take_tag_question(reply: MessageToConfirmation) -> bool:
    """Handle a statement with a tag, with or without a yes before it: "okay, and that includes the fuel, right". It is
    answered if the agent can answer it, and the confirmation is asked again. Return False for any other reply."""
    d = reply.d
    if d.s.reading_back or d.top.denied or not reply.signs.is_tagged(reply.tokens):
        return False
    return _take_question_again(reply)


def _take_yes_and_tag(reply: MessageToConfirmation) -> bool:
    """Handle a statement with a tag, after a yes or in words that alone would mean yes."""
    is_yes = reply.answer is ConfirmationAnswer.YES or begins_with_yes(reply)
    return is_yes and _take_tag_question(reply)


def _take_question_again(reply: MessageToConfirmation) -> bool:
    d = reply.d
    if reply.answer not in (None, ConfirmationAnswer.YES):
        return False  # "no, it's three, isn't it"
    if answer := answer_to(d, reply.tokens):
        d.say(answer)
    elif not _only_repeats(reply):
        d.say(d.domain.patterns.cannot_answer)
    d.set(misses=0, silences=0)
    continue_flow(d)
    return True


def _only_repeats(reply: MessageToConfirmation) -> bool:
    """Do all meaningful words of the reply also occur in the question of the confirmation?"""
    words, echo = reply.words, reply.words.stems_of(reply.d.s.last_question)
    known = words.common | words.polite | words.fillers
    return all(token.word in known or words.stem(token.word) in echo for token in reply.tokens)


def _take_yes_and_more(reply: MessageToConfirmation) -> bool:
    return reply.named is None and take_yes_and_more(reply, _confirmed_slots(reply.d))


def _take_second_value(reply: MessageToConfirmation) -> bool:
    """Handle a reply that adds a second value to a slot that takes only one, such as "yes, and a keyboard too": say
    that the user can have only one, and ask which one. Return False for any other reply."""
    d = reply.d
    both = second_values(d.domain, d.top, reply.text, d.today)
    if both is None:
        return False
    d.say(d.domain.patterns.only_one, slot=d.spec(both.slot).display_name)
    ask_which(d, both)
    return True


def _take_unclear_change(reply: MessageToConfirmation) -> bool:
    """Handle a new day or time that may mean several days or times: ask which one is meant. Return False for any other
    reply."""
    d = reply.d
    unclear = unclear_change(d.domain, d.top, reply.text, d.today)
    if unclear is None:
        return False
    ask_which(d, unclear)
    return True


def _take_change_in_part(reply: MessageToConfirmation) -> bool:
    """Handle a new value among other words, if a clause begins like a correction ("no", "actually") or calls a value
    wrong. The agent says what it changed and asks for the confirmation again. Return False for any other reply."""
    d = reply.d
    if reply.d.s.reading_back:
        return False
    found = corrections_in_part(d.domain, d.top, reply.text, d.today)
    if not opens_correction(d.domain, reply.text) and not calls_wrong(d.domain, d.top, reply.text):
        return False
    if found:
        _apply(d, found)
    return bool(found)


def _take_text_again(reply: MessageToConfirmation) -> bool:
    """Handle a free text or a name that the user says once more, shorter or longer: "yes, but it's just the Lion". The
    agent says what it changed and asks for the confirmation again. Return False for any other reply."""
    d = reply.d
    found = text_again(d.domain, d.top, reply.text) if not d.s.reading_back and not d.top.denied else None
    if found is not None:
        _apply(d, (found,))
    return found is not None


def _take_unclear_slot(reply: MessageToConfirmation) -> bool:
    """Handle a change that fits several slots, in one clause of a reply: ask which slot is meant. Return False for any
    other reply."""
    d = reply.d
    fitting = unclear_slots(d.domain, d.top, reply.text, d.today) if not d.s.reading_back else ()
    if not fitting:
        return False
    _apply(d, (which_slot(d, fitting),))
    return True


def _take_last_yes(reply: MessageToConfirmation) -> bool:
    return reply.named is None and take_last_yes(reply, _confirmed_slots(reply.d))


def _take_no(reply: MessageToConfirmation) -> bool:
    return reply.answer is ConfirmationAnswer.NO and _deny(reply)


def _deny(reply: MessageToConfirmation) -> bool:
    say_no(reply.d)
    continue_flow(reply.d)
    return True


def _take_change(reply: MessageToConfirmation) -> bool:
    instead = _change_commands(reply.d, reply.text, reply.reading) if reply.named is None else None
    if reply.signs.asks(reply.tokens) and any(
        isinstance(one, CorrectSlot) and one.value == ANY for one in instead or ()
    ):
        return False  # "yes, oh wait, does he need to bring anything" leaves nothing open
    if any(isinstance(one, CorrectSlot) and _compares(reply, one) for one in instead or ()):
        return False
    if instead is not None:
        _apply(reply.d, instead)
    return instead is not None


def _compares(reply: MessageToConfirmation, one: CorrectSlot) -> bool:
    return compares(reply.d.domain, one.slot, reply.text, one.raw)


def _take_no_preference(reply: MessageToConfirmation) -> bool:
    """Handle a reply such as "I don't care" as a reply that was not understood, because it is neither a yes nor a
    reason to cancel. Return False for any other reply."""
    if not reply.signs.has_no_preference(reply.tokens, frozenset()):
        return False
    count_as_miss(reply.d)
    return True


def _take_correction(reply: MessageToConfirmation) -> bool:
    return correct(reply.d, reply.text)


def _take_only_named(reply: MessageToConfirmation) -> bool:
    """Handle a reply that only names a slot, such as "the day", if the reply before it was not understood: ask for this
    slot again. Return False for any other reply."""
    if not reply.d.s.tries:
        return False
    cleared = tuple(one for one in _named_slots(reply.d, reply.text) if is_asked(reply.d.domain, reply.d.top, one.slot))
    if cleared:
        _apply(reply.d, cleared)
    return bool(cleared)


def _take_anything(reply: MessageToConfirmation) -> bool:
    ask_nlu(reply.d, reply.text)
    return True


CONFIRMATION: tuple[Interpreter[MessageToConfirmation], ...] = (
    Interpreter("nothing said", "an empty message is a miss", _take_empty),
    Interpreter("presence", "whether the agent or the user is there", take_presence),
    Interpreter("command", "the whole message is a command", _take_command),
    Interpreter("command in a clause", "one clause is a command, the others comment on it", take_command_in_clause),
    Interpreter("not yet", "the user needs a moment", _take_not_yet),
    Interpreter("what to change", 'after a no: the names of the slots to change, or "nothing"', _take_what_to_change),
    Interpreter("wish for a change", "the user wants a change but doesn't say which", _take_wish_for_change),
    Interpreter("change of a list", "an item that is added, removed or changed", take_list_change),
    Interpreter("shift", "a day or a time is shifted: an hour later", _take_shift),
    Interpreter("named slot", "a new value with the name of its slot", _take_named_slot),
    Interpreter("yes and a tag", "a yes, then a statement with a tag: that's free, right", _take_yes_and_tag),
    Interpreter("yes", "every word is part of a yes", _take_yes),
    Interpreter("yes in the end", "other words, and a whole yes in the last clause", _take_last_yes),
    Interpreter("no", "every word is part of a no", _take_no),
    Interpreter("text again", "a free text or a name, said once more", _take_text_again),
    Interpreter("second value", "a further value for a slot that takes only one", _take_second_value),
    Interpreter("change", "a new value instead of a yes or no", _take_change),
    Interpreter("yes and more", "a yes, then a goodbye, a comment or a question with an answer", _take_yes_and_more),
    Interpreter("no preference", "neither a yes nor a no", _take_no_preference),
    Interpreter("side question", "a question that the flow itself answers", take_side_question),
    Interpreter("yes and a question", "a yes, then a question that the agent can't answer", _take_yes_and_question),
    Interpreter("correction", "a change of an earlier answer, or a goodbye", _take_correction),
    Interpreter("unclear change", "a new day or time with several meanings", _take_unclear_change),
    Interpreter("change among other words", "words for a change, and a new value in one clause", _take_change_in_part),
    Interpreter("unclear slot", "one clause has a new value that fits several slots", _take_unclear_slot),
    Interpreter("tag question", "a statement that asks for agreement: you open at nine, right", _take_tag_question),
    Interpreter("slot to change", "only the name of a slot", _take_only_named),
    Interpreter("value again", "the user repeats a value of the confirmation", take_repeated_value),
    Interpreter("removed value", "a value that the user no longer wants", take_removed_value),
    Interpreter("NLU", "everything else", _take_anything),
)


def _named_slots(d: DialogueDraft, text: str) -> tuple[ClearSlot, ...]:
    """The commands that empty the slots which the user names as the answer to a question like "What should I change?".
    Example: "the day and the time". Empty if the message contains anything else."""
    said = [only_named(d.domain, d.top.flow, part) for part in d.domain.pack.corrections.both_names.split(text)]
    names = [name for name in said if name is not None and d.top.filled(name) is not None]
    return tuple(ClearSlot(name) for name in names) if names and len(names) == len(said) else ()


def _named_then_given(reply: MessageToConfirmation) -> tuple[Command, ...]:
    """The correction in a reply whose first clause names a slot and whose second clause gives the new value: "the
    title, it should be Emma". Empty for any other reply."""
    d = reply.d
    clauses = clauses_of(reply.words, reply.tokens)
    slot = only_named(d.domain, d.top.flow, text_of(reply.text, reply.tokens, clauses[0])) if len(clauses) > 1 else None
    if slot is None or d.top.filled(slot) is None:
        return ()
    rest = reply.text[reply.tokens[clauses[1].start].start :]
    return value_for_slot(d.domain, d.top, slot, rest, d.today)


def _wants_no_change(reply: MessageToConfirmation) -> bool:
    """Does the user answer "What should I change?" with "nothing", perhaps with a yes after it ("nothing, it's fine")?
    Even after such a yes, the agent asks for the confirmation again, because only a yes to the confirmation itself runs
    an action."""
    lists, tokens = reply.words, reply.tokens
    said = [token.word for token in tokens if token.word not in lists.polite | lists.fillers | lists.dissent]
    if not said or said[0] not in lists.nothing:
        return False
    begins = next(place for place, token in enumerate(tokens) if token.word in lists.nothing) + 1
    rest = reply.text[tokens[begins].start :] if begins < len(tokens) else ""
    at = reply.d.flow.program[reply.d.top.at]
    asked = str(chosen(at.text, 0)) if isinstance(at, Confirm) else reply.d.top.confirm
    read = reply.d.domain.pack.replies.read_confirmation
    is_yes = not rest or read(asked, rest, reply.d.today, ()) == Confirmation(ConfirmationAnswer.YES)
    if not is_yes and begins < len(tokens) and tokens[begins].pause:
        is_yes = _changes_nothing(reply, tokens[begins:], asked)
    return is_yes or all(word in lists.nothing | lists.common for word in said)


def _changes_nothing(reply: MessageToConfirmation, rest: Sequence[Token], asked: str) -> bool:
    """Does the text after a "nothing" leave everything as it is, as in "nothing, just send it"? Yes, if all its
    meaningful words also occur in the question of the confirmation, and it neither denies anything nor is a command."""
    words = reply.words
    known = words.common | words.polite | words.fillers | words.limiting
    echo = words.stems_of(asked)
    is_plain = all(token.word in known or words.stem(token.word) in echo for token in rest)
    denies = any(words.is_negation(token.word) for token in rest)
    return is_plain and not denies and reply.signs.command_of(rest) is None


def _refuses_any_change(reply: MessageToConfirmation) -> bool:
    """Does the user answer "nothing" to a question like "What should I change?"?"""
    lists = reply.words
    words = [token.word for token in reply.tokens if token.word not in lists.polite | lists.fillers]
    return " ".join(words) in lists.refuses_change


def _apply(d: DialogueDraft, commands: tuple[Command, ...]) -> None:
    d.enter(Phase.UNDERSTANDING)
    apply_commands(d, commands)


def _change_commands(d: DialogueDraft, text: str, reading: Reading) -> tuple[Command, ...] | None:
    """The commands that follow from a new value in the reply. They set the value or, if the value fits several slots,
    ask which slot is meant. None if the reply isn't fully understood."""
    if meant := _settled(d, text):
        return meant
    if len(slots := _fitting(d, text)) > 1:
        return (which_slot(d, slots),)
    if isinstance(reading, Confirmation) and (found := reading.values or _only_reading(d, text)):
        return tuple(CorrectSlot(one.slot, _in_old_unit(d, one), one.raw, one.span, "grammar") for one in found)
    if reached := _only_reading(d, text, _CONTACT_KINDS):
        return tuple(CorrectSlot(one.slot, one.value, one.raw, one.span) for one in reached)
    return _volunteered(d, text) or None if isinstance(reading, Unclear) else None


def _settled(d: DialogueDraft, text: str) -> tuple[Command, ...]:
    """The correction for a reply that only says which slot the previous message was about. Empty for any other reply.
    Example: "the time", after "no, make it five", which may be a time or a number of people."""
    slot = only_named(d.domain, d.top.flow, text)
    said = [message.content for message in d.s.messages if message.role == "user"]
    if slot is None or len(said) < 2 or slot not in (slots := _fitting(d, said[-2])) or len(slots) < 2:
        return ()
    return value_for_slot(d.domain, d.top, slot, said[-2], d.today)


def _fitting(d: DialogueDraft, text: str) -> tuple[str, ...]:
    """The slots of this confirmation that the new value in the text could be for."""
    return slots_that_fit(d.domain, d.top, tuple(slot.name for slot in _confirmed_slots(d)), text, d.today)


def _volunteered(d: DialogueDraft, text: str) -> tuple[SetSlot, ...]:
    """The values in a reply that says neither yes nor no, but gives values for slots that are still empty: "at the
    bar". Empty for any other reply."""
    found = d.domain.pack.replies.read_volunteered(empty_slots(d), text, d.flow.description, d.today)
    return as_set_slots(found.values, "grammar") if found is not None else ()


def _in_old_unit(d: DialogueDraft, value: Value) -> Json:
    before = d.top.filled(value.slot)
    return with_currency_of(value.value, before.value if before is not None else None)


def _only_reading(d: DialogueDraft, text: str, kinds: tuple[SlotKind, ...] = tuple(SlotKind)) -> tuple[Value, ...]:
    """The new value in a reply such as "no, make it 600", if it fits exactly one of the slots that the confirmation is
    about; otherwise empty. Slots that accept any text or any name aren't tried, because every reply would fit them."""
    slots = [slot for slot in _confirmed_slots(d) if slot.kind is not SlotKind.TEXT and slot.kind in kinds]
    read = d.domain.pack.replies.read
    closed = [slot for slot in slots if slot.kind is not SlotKind.NAME or not slot.is_open]
    read_by = [reading for slot in closed if isinstance(reading := read(Question(slot), text, d.today), Direct)]
    return read_by[0].values if len(read_by) == 1 else ()


def _confirmed_slots(d: DialogueDraft) -> tuple[Slot, ...]:
    """The filled slots that the confirmation is about: those that its text names, or all filled slots if its text names
    no slot."""
    at = d.flow.program[d.top.at]
    filled = [name for name, _ in d.top.slots if name in d.domain.slots]
    named = [name for name in gaps_of(at.text) if name in filled] if isinstance(at, Confirm) else []
    return tuple(d.spec(name).grammar_slot for name in named or filled)
