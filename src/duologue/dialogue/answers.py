"""Interprets the reply to a question: as an answer, a correction, a command, a side question, or input for NLU.

`QUESTION` lists the interpreters in the order in which they are tried. Rule: the first interpreter that accepts a reply
handles it. NLU comes last, and gets the replies that no grammar fully understands.
"""

from __future__ import annotations

from .alternatives import take_alternatives
from .answer_in_clause import take_answer_in_clause
from .apply_commands import apply_commands
from .clauses import clauses_of, text_of
from .commands import BY_NAME, Command, CorrectSlot, Farewell, SetSlot, Skip
from .corrections import (
    are_both_yes_no,
    corrections,
    last_answer_correction,
    named_slot,
    other_day_or_time,
    other_slot_corrections,
    self_correction,
)
from .denied_choices import take_denied_choice
from .described_choices import take_described_choice
from .draft import Commitment, DialogueDraft
from .interpreters import Interpreter, MessageInContext, as_set_slots, interpret, question_of
from .language.readings import (
    ANY,
    Ambiguous,
    Confirmation,
    ConfirmationAnswer,
    Direct,
    Question,
    Reading,
    SlotKind,
    Unclear,
)
from .language.readings import SpokenCommand as Commanded
from .left_out_answers import take_command_in_clause, take_missing_value
from .limits_in_clauses import take_limit_in_clause
from .list_answers import take_list_change, take_list_reply
from .not_understood import miss
from .partial_corrections import calls_wrong, corrections_in_part
from .preferred_values import take_preferred_value
from .presence import take_presence
from .prompts import count_try, is_confirming, is_question_current
from .range_of_times import take_beginning
from .repairs import leave_for_question
from .repeated_answers import take_repeated_answer, take_repeated_before_text
from .requests import understanding
from .run_flow import continue_flow, looks_up
from .side_questions import take_side_question
from .slot_names import only_named
from .state import Phase
from .unconfirmed_values import PICKED_OUT
from .vague_values import take_vague_value
from .values import accept, validate_next
from .yes_and_no import say_no


def ask_nlu(d: DialogueDraft, text: str, *, is_aside: bool = False) -> None:
    d.enter(Phase.UNDERSTANDING)
    d.set(heard=text, last_nlu_call=d.at, is_aside=is_aside)
    d.request()
    d.effects.append(understanding(d.domain, d.s))


def count_as_miss(d: DialogueDraft) -> None:
    """Treat a reply without usable content as a reply that was not understood."""
    d.enter(Phase.UNDERSTANDING)
    miss(d)


# -- A reply to a question


def answer(d: DialogueDraft, text: str) -> None:
    """Handle the reply to an open question for a slot's value."""
    if d.s.reading_back and text.strip():
        _answer_read_back(d, text)
    else:
        interpret(QUESTION, MessageInContext(d, text))


def _take_empty(reply: MessageInContext) -> bool:
    if reply.text.strip():
        return False
    count_as_miss(reply.d)
    return True


def _take_question(reply: MessageInContext) -> bool:
    """Accept a question as the reply and return True, if the flow will search the FAQ for this reply. Return False for
    any other reply. Example: "when do you open?", after "What would you like to know?"."""
    d, slot = reply.d, reply.d.s.waiting_for
    if slot is None or d.spec(slot).kind is not SlotKind.TEXT or not reply.signs.asks(reply.tokens):
        return False
    if reply.signs.command_of(reply.tokens) is not None or not looks_up(d, slot):
        return False
    words = " ".join(reply.text.split())
    d.set(values=(SetSlot(slot, words, words, (0, len(words))),), among=())
    validate_next(d)
    return True


def _take_other_slot(reply: MessageInContext) -> bool:
    return reply.asked.slot.kind is not SlotKind.TEXT and _handle_other_slot(reply.d, reply.text)


def _take_rejection(reply: MessageInContext) -> bool:
    if not reply.d.s.among or not _rejects_all(reply.d, reply.text) or reply.signs.command_of(reply.tokens) == "cancel":
        return False
    reply.d.enter(Phase.UNDERSTANDING)
    say_no(reply.d)
    continue_flow(reply.d)
    return True


def _take_candidate(reply: MessageInContext) -> bool:
    """Use the one candidate that has all words of the reply which mean something: "june", after "December 6 or June
    12?", or "petra", after "Did you mean petra?". Return False for any other reply."""
    d, words = reply.d, reply.words
    around = words.polite | words.fillers | words.common | words.small
    said = {token.word for token in reply.tokens if token.word not in around}
    if not d.s.among or not said or reply.signs.asks(reply.tokens):
        return False
    named = {at: {token.word for token in words.tokens_of(d.spoken(value))} for at, value in enumerate(d.s.among)}
    meant = [at for at, called in named.items() if said <= called]
    if len(meant) != 1 or isinstance(reply.reading, Direct) or any(words.is_negation(word) for word in said):
        return False
    value = SetSlot(reply.asked.slot.name, d.s.among[meant[0]], reply.text, (0, len(reply.text)))
    d.set(values=(value,), among=())
    validate_next(d)
    return True


def _take_both(reply: MessageInContext) -> bool:
    """Handle a reply that wants several of the offered values: say that the user can have only one, and ask again.
    Return False for any other reply. Example: "I want both", after "did you mean the mouse or the keyboard?"."""
    d = reply.d
    is_listed = reply.asked.slot.kind in (SlotKind.CHOICE, SlotKind.NAME) and not isinstance(reply.reading, Direct)
    if not d.s.among or not is_listed or not d.domain.pack.corrections.adds.search(reply.text):
        return False
    d.enter(Phase.UNDERSTANDING)
    d.say(d.domain.patterns.only_one, slot=d.spec(reply.asked.slot.name).display_name)
    count_try(d)
    continue_flow(d)
    return True


def _take_value(reply: MessageInContext) -> bool:
    reading = reply.reading
    if not isinstance(reading, Direct) or _is_choice_of_other_slot(reply.d, reading, reply.text):
        return False
    if reply.asked.slot.kind is SlotKind.TEXT and only_named(reply.d.domain, reply.d.top.flow, reply.text):
        return False  # "the time" is the name of a slot and doesn't describe any value
    reply.d.set(values=(*as_set_slots(reading.values, "grammar"), *_missed_answer(reply, reading)), among=())
    validate_next(reply.d)
    return True


def _missed_answer(reply: MessageInContext, reading: Direct) -> tuple[SetSlot, ...]:
    """The answer to the open question, found in the words that the grammar left over. Empty if the grammar has already
    read an answer to this question. Example: of "on the bus this morning", the grammar read only "this morning"; the
    answer is "the bus"."""
    asked = reply.asked.slot
    if any(value.slot == asked.name for value in reading.values) or asked.kind not in (SlotKind.CHOICE, SlotKind.NAME):
        return ()
    found = reply.d.domain.pack.replies.read_parts((asked,), reply.text, reply.d.today)
    taken = [range(*value.span) for value in reading.values]
    free = [value for value in found if not any(set(range(*value.span)) & set(span) for span in taken)]
    return as_set_slots(tuple(free), PICKED_OUT)


def _take_ambiguous(reply: MessageInContext) -> bool:
    reading = reply.reading if isinstance(reply.reading, Ambiguous) else _reading_after_name(reply)
    if isinstance(reading, Ambiguous):
        _answer_ambiguously(reply.d, reading)
    return isinstance(reading, Ambiguous)


def _reading_after_name(reply: MessageInContext) -> Reading | None:
    """The meaning of a reply that begins with the name of the slot that was asked for: "the day, Wednesday". None if
    the reply doesn't begin with this name."""
    d, slot = reply.d, reply.asked.slot
    spec = d.spec(slot.name)
    for called in (spec.display_name, spec.name.replace("_", " ")):
        if (said := d.domain.pack.corrections.named(called, " ".join(reply.text.split()))) is not None:
            return d.domain.pack.replies.read(Question(slot), said["new"], d.today)
    return None


def _take_command(reply: MessageInContext) -> bool:
    if isinstance(reply.reading, Commanded):
        reply.d.enter(Phase.UNDERSTANDING)
        is_left = reply.reading.name == "cancel" and reply.asked.slot.may_be_any and _only_leaves_it(reply)
        apply_commands(reply.d, (Skip() if is_left else BY_NAME[reply.reading.name],))
    return isinstance(reply.reading, Commanded)


def _only_leaves_it(reply: MessageInContext) -> bool:
    """Is this a "leave it" that skips an optional question instead of cancelling the task?"""
    words = reply.words
    said = [token.word for token in reply.tokens if token.word not in words.polite | words.fillers]
    return " ".join(said) in words.refuses_change


def _take_no(reply: MessageInContext) -> bool:
    """Handle a no to a proposed value, or a no to the question for an optional slot ("no, thanks"). Return False for
    any other reply."""
    d, reading = reply.d, reply.reading
    if not isinstance(reading, Confirmation):
        return False
    d.enter(Phase.UNDERSTANDING)
    if reply.asked.proposed is None:
        apply_commands(d, (Skip(),))
    elif reading.answer is ConfirmationAnswer.NO and not say_no(d):
        continue_flow(d)
    return True


def _take_no_preference(reply: MessageInContext) -> bool:
    """Handle a reply such as "any will do" like a request to skip the question. If the slot is required, the agent says
    that it needs a value. Return False for any other reply."""
    is_any = isinstance(reply.reading, Unclear) and reply.asked.slot.kind is not SlotKind.YES_NO
    if not is_any or not reply.signs.has_no_preference(reply.tokens, reply.signs.echo_of(reply.asked)):
        return False
    if reply.d.s.among and reply.asked.slot.kind in (SlotKind.DATE, SlotKind.TIME, SlotKind.CHOICE, SlotKind.NAME):
        first = SetSlot(reply.asked.slot.name, reply.d.s.among[0], reply.text, (0, len(reply.text)), PICKED_OUT)
        reply.d.set(values=(first,), among=())  # the user doesn't mind which of these is used
        validate_next(reply.d)
        return True
    reply.d.enter(Phase.UNDERSTANDING)
    apply_commands(reply.d, (Skip(),))
    return True


def _take_answer_and_question(reply: MessageInContext) -> bool:
    return reply.signs.asks(reply.tokens) and take_answer_in_clause(reply)


def _take_correction(reply: MessageInContext) -> bool:
    return correct(reply.d, reply.text) or _take_wrong_value(reply)


def _take_wrong_value(reply: MessageInContext) -> bool:
    """Handle a reply which says that the value of another slot is wrong, and corrects it: "nope, wrong day, I meant
    Friday". Return False for any other reply."""
    d = reply.d
    if not calls_wrong(d.domain, d.top, reply.text):
        return False
    found = corrections_in_part(d.domain, d.top, reply.text, d.today)
    if found:
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, found)
    return bool(found)


def _take_for_interrupted_question(reply: MessageInContext) -> bool:
    """Leave the open repair flow (for example "Are you still there?") if the reply doesn't answer its question, and
    read the reply as the answer to the question that the repair flow interrupted. Return False if there is no such
    question."""
    if not leave_for_question(reply.d):
        return False
    answer(reply.d, reply.text)
    return True


def _take_anything(reply: MessageInContext) -> bool:
    ask_nlu(reply.d, reply.text)
    return True


QUESTION: tuple[Interpreter[MessageInContext], ...] = (
    Interpreter("nothing said", "an empty message is a miss", _take_empty),
    Interpreter("presence", "whether the agent or the user is there", take_presence),
    Interpreter("list", "the flow asks for a list: items, changes, or the end of the list", take_list_reply),
    Interpreter("change of a list", "another question is open: an item is added, removed or changed", take_list_change),
    Interpreter("question for the FAQ", "the flow asked what the user wants to know: a question", _take_question),
    Interpreter("preferred value", "a range with a preferred value: next week, ideally Tuesday", take_preferred_value),
    Interpreter("another slot", "a value with the name of another slot, or a correction", _take_other_slot),
    Interpreter("both of them", "the agent asked which of two values is meant: both", _take_both),
    Interpreter("one of them", "the agent asked which value is meant: a word of one of them", _take_candidate),
    Interpreter("none of them", "the agent asked which value is meant: none of them", _take_rejection),
    Interpreter("answer again", "the flow asks for a text: the last answer is repeated", take_repeated_before_text),
    Interpreter("value", "the slot's grammar explains every word", _take_value),
    Interpreter("ambiguous value", "the words may mean several values", _take_ambiguous),
    Interpreter("no and a choice", "a no and a choice without a pause: no french please", take_denied_choice),
    Interpreter("command", "the whole message is a command", _take_command),
    Interpreter("no", "a no to a proposed value, or to an optional slot", _take_no),
    Interpreter("no preference", "any value will do", _take_no_preference),
    Interpreter("alternatives", "two values with an or between them", take_alternatives),
    Interpreter("vague value", "a limit instead of a value: after four, not Monday", take_vague_value),
    Interpreter("answer and a question", "one clause is an answer, another is a question", _take_answer_and_question),
    Interpreter("side question", "a question that the flow itself answers", take_side_question),
    Interpreter("correction", "a change of this or an earlier answer, or a goodbye", _take_correction),
    Interpreter("beginning of a range", "two times with a till between them", take_beginning),
    Interpreter("answer in a clause", "one clause is an answer, the others explain or comment", take_answer_in_clause),
    Interpreter("command in a clause", "one clause is a command, the others comment on it", take_command_in_clause),
    Interpreter("answer before", "the previous answer is repeated or replaced", take_repeated_answer),
    Interpreter("limit in a clause", "a limit or a vague wish among other words", take_limit_in_clause),
    Interpreter("no value", "the user has no value, doesn't know it, or doesn't mind", take_missing_value),
    Interpreter("described choice", "a word that describes only one of the choices", take_described_choice),
    Interpreter(
        "interrupted question", "an answer to the question before a repair flow", _take_for_interrupted_question
    ),
    Interpreter("NLU", "everything else: an intent, or values among other words", _take_anything),
)


def _handle_other_slot(d: DialogueDraft, text: str) -> bool:
    """If the message is about a slot other than that of the open question, handle it and return True. Otherwise do
    nothing and return False. Examples: "the time is eight", when the agent asked for the number of people, or "no, New
    York", right after the answer "Boston"."""
    said = named_slot(d.domain, d.top, text, d.today)
    if said is not None and said[0] == d.s.waiting_for:
        return False
    if said is not None:
        found = (*_leading_yes(d, text), *said[1]) if said[1] else ()
    else:
        is_fresh = not (d.s.tries or d.s.among or d.s.reading_back or question_of(d).proposed is not None)
        found = last_answer_correction(d.domain, d.top, text, d.today, d.s.turn_count - 1) if is_fresh else ()
        found = tuple(one for one in found if not are_both_yes_no(d.domain, d.s.waiting_for, one.slot))
        if not found:
            return False
    if found:
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, found)
    else:
        ask_nlu(d, text)
    return True


def _leading_yes(d: DialogueDraft, text: str) -> tuple[SetSlot, ...]:
    """A tuple with the command that answers the open yes/no question with yes, if the message begins with a yes: "yes,
    the reference is 55". Otherwise an empty tuple. A no at the beginning isn't used as the answer, because the no may
    refer to an earlier question."""
    slot, pack = question_of(d).slot, d.domain.pack
    is_yes = (
        slot.kind is SlotKind.YES_NO
        and pack.signs.opening_answer(pack.words.tokens_of(text)) is True
        and pack.signs.trick_of(d.s.last_question) is None
    )
    return (SetSlot(slot.name, True, text),) if is_yes else ()


def _is_choice_of_other_slot(d: DialogueDraft, reading: Direct, text: str) -> bool:
    """Is the reply to a question for a name really a choice for another slot? Example: "in the garden", when the agent
    asked for the name of a guest. False if the slot that was asked for has a list of names, and the reply is one of
    these names."""
    spec, value = d.spec(reading.values[0].slot), reading.values[0].value
    is_listed = spec.names is not None and value in spec.names.values.values()
    if spec.kind is not SlotKind.NAME or is_listed or value == ANY:
        return False
    choices = [d.spec(name) for name in d.flow.slots if name != spec.name and d.spec(name).kind is SlotKind.CHOICE]
    return any(
        isinstance(d.domain.pack.replies.read(Question(one.grammar_slot), text, d.today), Direct) for one in choices
    )


def _answer_ambiguously(d: DialogueDraft, reading: Ambiguous) -> None:
    """Handle an answer that can mean several values. The slot's `prefers` decides whether the first or the last of
    these values is used, or whether the agent asks which one was meant. For a span of days such as "this weekend", the
    agent always asks."""
    prefers = "ask" if reading.must_ask else d.spec(reading.slot).prefers
    if prefers == "ask":
        if d.s.among:  # the user was already asked which value was meant, and this reply still doesn't say
            count_try(d)
        d.set(among=reading.candidates, misses=0, silences=0)
        continue_flow(d)
        return
    value = reading.candidates[0 if prefers == "first" else -1]
    d.set(values=(SetSlot(reading.slot, value, reading.raw, reading.span),), among=())
    validate_next(d)


def _rejects_all(d: DialogueDraft, text: str) -> bool:
    """Does the reply reject all of the values that were offered?"""
    pack = d.domain.pack
    reading = pack.replies.read_confirmation("", text, d.today, ())
    is_no = isinstance(reading, Confirmation) and reading.answer is ConfirmationAnswer.NO
    return is_no or any(token.word in pack.words.neither for token in pack.words.tokens_of(text)[:2])


def correct_or_ask(d: DialogueDraft, text: str, *, is_aside: bool = False) -> None:
    """Apply the corrections in the message. If the message is a goodbye, say goodbye. If it is neither a correction nor
    a goodbye, send it to NLU."""
    if not correct(d, text):
        ask_nlu(d, text, is_aside=is_aside)


def correct(d: DialogueDraft, text: str) -> bool:
    """If the message contains corrections, apply them and return True. If it is a goodbye, say goodbye and return True.
    Otherwise do nothing and return False."""
    asked = d.s.waiting_for if d.s.waiting_for is not None and is_question_current(d) else None
    found: tuple[Command, ...] = ()
    if asked is not None and _is_about_open_question(d, asked, text):
        found = self_correction(d.domain, asked, text, d.today)
    found = found or tuple(
        one
        for one in corrections(d.domain, d.top, text, d.today)
        if not are_both_yes_no(d.domain, d.s.waiting_for, one.slot)
    )
    if not found and asked is not None:
        about = (d.domain, d.top, asked, text, d.today)
        found = (
            self_correction(d.domain, asked, text, d.today)
            or other_slot_corrections(*about)
            or other_day_or_time(*about)
        )
    if is_confirming(d) and named_slot(d.domain, d.top, text, d.today) is None:
        found = tuple(one for one in found if not _is_yes_or_no(d, one))  # "yes, I mean no"
    if not found and _is_farewell(d, text):
        found = (Farewell(),)
    if found:
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, found)
    return bool(found)


def _is_yes_or_no(d: DialogueDraft, command: Command) -> bool:
    return isinstance(command, SetSlot | CorrectSlot) and d.spec(command.slot).kind is SlotKind.YES_NO


def _is_farewell(d: DialogueDraft, text: str) -> bool:
    return d.domain.pack.signs.courtesy_of(d.domain.pack.words.tokens_of(text)) == "farewell"


def _is_about_open_question(d: DialogueDraft, asked: str, text: str) -> bool:
    """Is the correction about the open question and not about an earlier one? Yes, if it names the slot that is asked
    for ("wait, the reading is 24"), or if it names no slot and the last reply to the open question was not
    understood."""
    said = named_slot(d.domain, d.top, text, d.today)
    return said[0] == asked if said is not None else d.s.misses > 0


def _answer_read_back(d: DialogueDraft, text: str) -> None:
    """Handle the reply after the agent has repeated a code and asked whether it is right. If the reply contains a
    different code, the new code replaces the repeated one."""
    pack = d.domain.pack
    if (name := pack.signs.command_of(pack.words.tokens_of(text))) is not None:
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, (BY_NAME[name],))
        return
    reading = pack.replies.read_confirmation(d.s.last_question, text, d.today, ())
    if reading == Confirmation(ConfirmationAnswer.YES) or _says_yes_first(d, text):
        d.commitments.append(Commitment.YES)
        d.enter(Phase.VALIDATING_SLOT)
        accept(d, d.s.values[0].value)
        validate_next(d)
        return
    if isinstance(reading, Confirmation) and reading.answer is ConfirmationAnswer.NO:
        d.enter(Phase.UNDERSTANDING)
        say_no(d)
        continue_flow(d)
        return
    new = pack.replies.read(question_of(d), text, d.today)
    if isinstance(new, Direct):
        _replace_code(d, as_set_slots(new.values, "grammar"))
        return
    slot = d.s.values[0].slot
    said = named_slot(d.domain, d.top, text, d.today)
    if said is not None and said[0] != slot and said[1]:
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, said[1])
    elif found := self_correction(d.domain, slot, text, d.today):
        _replace_code(d, found)
    elif others := other_slot_corrections(d.domain, d.top, slot, text, d.today):
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, others)
    elif _rejects_code(d, text):
        d.enter(Phase.UNDERSTANDING)
        say_no(d)
        continue_flow(d)
    else:
        ask_nlu(d, text)


def _says_yes_first(d: DialogueDraft, text: str) -> bool:
    """Is the first clause a yes, and do the other clauses contain neither a denial nor a code? True for "yes it is. So
    my mother fell ill"."""
    words, replies = d.domain.pack.words, d.domain.pack.replies
    tokens = words.tokens_of(text)
    clauses = clauses_of(words, tokens)
    if len(clauses) < 2:
        return False
    rest = tokens[clauses[1].start :]
    first = replies.read_confirmation(d.s.last_question, text_of(text, tokens, clauses[0]), d.today, ())
    turns = any(words.is_negation(token.word) or token.word in words.contrasts - words.ands for token in rest)
    return first == Confirmation(ConfirmationAnswer.YES) and not turns and not replies.codes_in(rest)


def _replace_code(d: DialogueDraft, values: tuple[SetSlot, ...]) -> None:
    """Drop the code that the agent has just repeated, and validate `values` instead: the new code, and other values
    from the same reply. Values of other slots that were already waiting for validation are validated after them."""
    new = {value.slot for value in values}
    d.set(values=(*values, *(value for value in d.s.values if value.slot not in new)), reading_back=False)
    validate_next(d)


def _rejects_code(d: DialogueDraft, text: str) -> bool:
    """Does the reply say that the code is wrong? Examples: "no, it ends in seven", "the number is wrong"."""
    pack = d.domain.pack
    words, tokens = pack.words, pack.words.tokens_of(text)
    begins = next((token.word for token in tokens if token.word not in words.fillers | words.polite), "")
    says_no = pack.replies.plain_answer(d.s.last_question, text, d.today, ()) is ConfirmationAnswer.NO
    return (begins in words.dissent or says_no) and not pack.signs.asks(tokens)


# -- Messages that arrived while a request was running


def handle_queued_message(d: DialogueDraft, text: str) -> None:
    """Handle a message that was queued while a request was running. A command is applied. A message that is empty, or
    only a yes or a no, is dropped, because no question was open at that time. Any other message is treated as the
    answer to the open question, if this question was already open before the request. Otherwise the message is applied
    if it is a correction, and sent to NLU if it isn't."""
    is_aside = d.is_question_new or d.s.is_aside
    name = d.domain.pack.signs.command_of(d.domain.pack.words.tokens_of(text))
    if name == "cancel" and d.has_just_acted:
        d.say_first(d.domain.patterns.too_late_to_stop)
        d.note("too_late_to_stop")
    elif name is not None:
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, (BY_NAME[name],))
    elif not text.strip() or _is_bare_yes_or_no(d, text):
        d.note("answer_without_question")
    elif d.s.phase is Phase.WAITING_FOR_SLOT and not is_aside:
        answer(d, text)
    elif d.s.stack:
        correct_or_ask(d, text, is_aside=is_aside)
    elif _is_farewell(d, text):
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, (Farewell(),))
    else:
        ask_nlu(d, text, is_aside=is_aside)


def _is_bare_yes_or_no(d: DialogueDraft, text: str) -> bool:
    pack = d.domain.pack
    reading = pack.replies.read_confirmation("", text, d.today, ())
    return isinstance(reading, Confirmation) and reading.answer is not ConfirmationAnswer.CHANGE and not reading.values
