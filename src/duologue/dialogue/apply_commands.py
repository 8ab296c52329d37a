"""Applies the commands that a grammar or NLU found in a message, one after the other.

Rule: after all commands, the dialogue waits for the answer to a question, waits for a request, is idle, or is in the
error phase.
"""

from __future__ import annotations

from collections.abc import Sequence

from .commands import (
    Affirm,
    AnswerQuestion,
    Back,
    Cancel,
    ChitChat,
    ClearSlot,
    Command,
    CorrectSlot,
    Deny,
    Farewell,
    Handoff,
    Help,
    NeedTime,
    Repeat,
    Restart,
    SetSlot,
    Skip,
    StartFlow,
)
from .dependencies import uses
from .draft import SKIPPED, Commitment, DialogueDraft
from .flow import PerformAction
from .language.readings import ANY, SlotKind
from .language.stop_phrases import after_stop
from .language.tokens import Token, words_of
from .likely_answers import ask_likely_answer
from .likely_changes import ask_likely_change
from .not_understood import give_help, miss
from .prompts import count_try, is_question_current, wait_for_answer
from .repairs import CANCEL, HANDOFF, HELP, open_repair
from .requests import open_flows
from .run_flow import continue_flow, hand_over, looks_up, open_flow, write
from .slot_names import only_named
from .stack import keep_slots, restart_task, return_to
from .state import Instance, Phase, without
from .unconfirmed_values import PICKED_OUT, accept_announced, is_checking
from .values import revisit_after_change, validate_next
from .yes_and_no import cancel, clear, say_no, say_yes


def apply_commands(d: DialogueDraft, commands: tuple[Command, ...]) -> None:
    """Apply the commands that are valid now. Commands that set slots are applied after all others. If no command is
    valid, use the message as the answer to an open free-text question. If no such question is open, count the message
    as not understood."""
    started = {command.flow for command in commands if isinstance(command, StartFlow)}
    known = [command for command in commands if _is_known(d, command, started)]
    if not known:
        if not (_take_as_free_text(d) or ask_likely_answer(d) or ask_likely_change(d)):
            miss(d)
        return
    d.set(misses=0, silences=0)
    if isinstance(known[0], Repeat):
        repeat(d)
        return
    if known == [NeedTime()]:
        _give_time(d)
        return
    if known == [Farewell()]:
        _take_leave(d)
        return
    values: list[SetSlot | CorrectSlot] = [one for one in known if isinstance(one, SetSlot | CorrectSlot)]
    is_open = any(isinstance(command, StartFlow) and command.flow in open_flows(d.s) for command in known)
    for command in known:
        if not isinstance(command, SetSlot | CorrectSlot) and _apply(d, command, values):
            return
    if values and d.s.stack and is_checking(d):
        accept_announced(d)  # the user corrected one value, so the others are accepted
    if values:
        new = {value.slot for value in values}
        # Values that are being read back or still have to be validated.
        left = (value for value in d.s.values if value.slot not in new)
        d.set(values=(*values, *left), reading_back=False)
        validate_next(d)
    elif d.s.values and not d.s.reading_back:
        validate_next(d)
    else:
        if is_open:  # the user only named the task that is already open, and didn't answer the question
            count_try(d)
        continue_flow(d)


def _take_as_free_text(d: DialogueDraft) -> bool:
    """Use the message as the answer to the open question and return True, if this question asks for free text. Called
    when NLU found no command in the message. A question or a request at the end of the message is left out. If
    something was left out, or if the text has several sentences, the agent tells the user what it noted. Return False
    if no such question is open, or if the message can't be an answer (for example because it is itself a question)."""
    slot, words = d.s.waiting_for, " ".join(d.s.heard.split())
    if (
        slot is None
        or d.s.is_aside
        or d.spec(slot).kind is not SlotKind.TEXT
        or d.top.failed
        or not is_question_current(d)
    ):
        return False
    pack = d.domain.pack
    tokens = pack.words.tokens_of(words)
    if (
        not words
        or pack.signs.courtesy_of(tokens) in ("thanks", "farewell", "greeting")
        or only_named(d.domain, d.top.flow, words)
    ):
        return False
    if tokens and all(token.word in pack.words.polite | pack.words.fillers for token in tokens):
        return False
    if _objects(d, words, tokens):
        return False
    if _asks_for_open_task(d, words):
        count_try(d)
        continue_flow(d)
        return True
    mended = _mended_text(d, words)
    if mended is not None:
        words, tokens = mended, pack.words.tokens_of(mended)
    whole = pack.replies.trimmed_text(tokens, d.spec(slot).grammar_slot)
    first, after = part = pack.replies.answering_part(tokens, whole) if tokens else whole
    if first == after or pack.signs.asks(tokens[first:after]):
        return False
    start = tokens[first].start if first else 0
    end = tokens[after - 1].end if after < len(tokens) else len(words)
    source = (
        PICKED_OUT if mended is not None or part != whole or pack.replies.has_sentences(tokens, part) else "grammar"
    )
    d.set(values=(SetSlot(slot, words[start:end], words[start:end], (start, end), source),))
    validate_next(d)
    return True


def _asks_for_open_task(d: DialogueDraft, text: str) -> bool:
    """Is this an example of the open task, said again instead of an answer? True for "I need a taxi", after the task
    has asked for an address."""
    words = d.domain.pack.words
    around = words.polite | words.fillers
    said = [token.word for token in words.tokens_of(text) if token.word not in around]
    examples = ([token.word for token in words.tokens_of(one) if token.word not in around] for one in d.flow.examples)
    return any(said == example for example in examples)


def _mended_text(d: DialogueDraft, words: str) -> str | None:
    """A free text whose end the user corrects: "Flat 3, 19 Mill Lane" for "Flat 3, 9 Mill Lane. Sorry, I meant 19 Mill
    Lane". The new end must have the same last word as the text. None for any other text."""
    found = d.domain.pack.corrections.meant_instead.match(words)
    if found is None:
        return None
    old, new = found["old"].rstrip(" ,.;!").split(), found["new"].rstrip(" .!").split()
    is_end = len(new) < len(old) and old[-1].casefold() == new[-1].casefold()
    if len(old) == len(new):
        return " ".join(new)
    return " ".join((*old[: -len(new)], *new)) if is_end else None


def _objects(d: DialogueDraft, text: str, tokens: Sequence[Token]) -> bool:
    """Is this an objection instead of the text that was asked for? Yes, if it begins with a no that is repeated, or
    followed by a pause or by words such as "I said": "no no, I want to renew them", "no I said medium". Also yes if it
    first stops the agent and then gives only days, times or amounts: "hang on, that's a hundred altogether"."""
    words = d.domain.pack.words
    begins = next((place for place, token in enumerate(tokens) if token.word not in words.fillers), 0)
    follows = tokens[begins + 1] if begins + 1 < len(tokens) else None
    if (
        follows is not None
        and tokens[begins].word in words.dissent
        and (
            follows.pause
            or follows.word in words.dissent
            or d.domain.pack.corrections.meant.match(text[follows.start :])
        )
    ):
        return True
    stopped = after_stop(words_of(tokens), words.stopping, words.before_questions)
    return stopped > 0 and d.domain.pack.replies.is_all_values(text[tokens[stopped].start :], d.today)


def _is_known(d: DialogueDraft, command: Command, started: set[str]) -> bool:
    """Is the command valid now? A flow must be one that users can ask for. A slot must belong to the open flow, be
    needed by the action of the open flow, or belong to a flow that the same message starts. A yes or no is valid only
    while a flow is open. An FAQ entry must exist."""
    offered = {flow.name for flow in d.domain.offered}
    match command:
        case StartFlow():
            return command.flow in offered
        case SetSlot() | CorrectSlot() | ClearSlot():
            flows = (started & offered) | ({d.top.flow} if d.s.stack else set())
            wanted = {slot for name in flows for slot in d.domain.flows[name].slots}
            return command.slot in wanted or (d.s.stack != () and command.slot in d.top.needs)
        case Affirm() | Deny():
            return bool(d.s.stack)
        case AnswerQuestion():
            return 0 <= command.entry < len(d.domain.faq)
    return True


def _apply(d: DialogueDraft, command: Command, values: list[SetSlot | CorrectSlot]) -> bool:
    """Apply one command. Returns True if the remaining commands of the message must not be applied."""
    match command:
        case StartFlow():
            if not return_to(d, command.flow):
                return not open_flow(d, command.flow)
        case ClearSlot():
            if d.s.stack and d.top.filled(command.slot) is not None:
                clear(d, command.slot)
        case Affirm():
            return say_yes(d, values)
        case Deny():
            return not values and say_no(d)
        case Cancel():
            if not _is_handled(d, CANCEL):
                cancel(d)
        case Restart():
            _start_over(d)
        case Back():
            _go_back(d)
        case Skip():
            _skip(d)
        case Help():
            if not _is_handled(d, HELP):
                give_help(d)
        case AnswerQuestion():
            slot = d.s.waiting_for
            if slot is not None and looks_up(d, slot) and is_question_current(d) and d.s.heard:
                values.append(SetSlot(slot, d.s.heard, d.s.heard))  # the flow's next step looks this text up in the FAQ
            else:
                d.say(d.domain.faq[command.entry].answer)
                d.note("faq_answered", entry=str(command.entry))
        case ChitChat():
            d.say(command.text or d.domain.patterns.chit_chat)
            if not d.s.stack and not command.text:
                give_help(d)
        case Handoff():
            d.commitments.append(Commitment.HANDOFF)
            if _is_handled(d, HANDOFF):
                return False
            hand_over(d)
            d.enter(Phase.IDLE)
            return True
    return False


def _is_handled(d: DialogueDraft, occasion: str) -> bool:
    """Open the repair flow that the author of the flow file wrote for this occasion (for example "cancel" or "help"),
    and return True. Return False if there is no such flow, or if it can't be opened now. Always return False for a
    cancellation after an error or while no flow is open, so that nothing delays the cancellation."""
    if occasion == CANCEL:
        if not d.s.stack or d.top.failed or d.s.trouble is not None:
            return False
        d.commitments.append(Commitment.CANCEL)
    return open_repair(d, occasion)


# -- Other commands


def _start_over(d: DialogueDraft) -> None:
    if d.s.stack:
        d.commitments.append(Commitment.RESTART)
        restart_task(d)
    else:
        give_help(d)


def repeat(d: DialogueDraft) -> None:
    """Say the last response again, word for word. If the question in it is no longer open, ask the current question
    instead."""
    was_asked = d.s.last_response.endswith(d.s.last_question)
    if d.s.stack and not d.top.failed and not (is_question_current(d) and was_asked):
        continue_flow(d)
        return
    if d.s.last_response:
        d.say(d.s.last_response, asks=bool(d.s.stack))
    else:
        give_help(d)
    wait_for_answer(d)


def _give_time(d: DialogueDraft) -> None:
    """The user needs a moment: keep the question open without repeating it. If the agent hasn't asked the question yet,
    ask it now."""
    if _must_ask_first(d):
        continue_flow(d)
        return
    d.say(d.domain.patterns.wait, asks=bool(d.s.stack))
    wait_for_answer(d)


def _take_leave(d: DialogueDraft) -> None:
    """The user says goodbye: say goodbye too, and end the conversation. An open question stays open, in case the user
    says something after all. If there is a question that the agent hasn't asked yet, only ask this question."""
    if _must_ask_first(d):
        continue_flow(d)
        return
    d.commitments.append(Commitment.GOODBYE)
    d.say(d.domain.patterns.farewell, asks=bool(d.s.stack), ends=True)
    wait_for_answer(d)


def _must_ask_first(d: DialogueDraft) -> bool:
    """Is there a question that the agent hasn't asked yet?"""
    return d.is_question_new or (bool(d.s.stack) and not d.top.failed and not is_question_current(d))


def _go_back(d: DialogueDraft) -> None:
    """Ask the previous question again. If the open flow has no previous question and was called by another flow, ask
    the last question of the calling flow again. While a code is being read back, ask for this code again."""
    if d.s.reading_back:
        d.set(reading_back=False, values=())
        return
    if not d.s.stack:
        give_help(d)
        return
    left = next((place for place in range(len(d.s.stack), 0, -1) if _goes_back_to(d, place)), 0)
    if not left:
        d.say(d.domain.patterns.nothing_before)
        return
    keep_slots(d, *d.s.stack[left:])
    d.set(stack=d.s.stack[:left])
    slot = _answered(d, d.top)[-1]
    d.set_top(slots=without(d.top.slots, frozenset((slot,))), denied=False)
    d.set(among=(), reading_back=False, values=())
    revisit_after_change(d, slot, is_empty=True)
    d.set_top(needs=() if slot in d.flow.slots else (slot,))


def _answered(d: DialogueDraft, instance: Instance) -> list[str]:
    """The filled slots that the flow asked for, in the order of the questions. Two kinds of slots are left out: the
    slot of the open question, and slots that a final action (an action that can't be undone) has used."""
    waiting_for = d.s.waiting_for if instance is d.s.stack[-1] else None
    done = frozenset(instance.done)
    acts = [at for at in d.domain.flows[instance.flow].program if isinstance(at, PerformAction) and at.step in done]
    return [
        slot
        for slot in instance.asked
        if slot != waiting_for
        and instance.filled(slot) is not None
        and not any(uses(at, frozenset((slot,)), frozenset()) for at in acts)
    ]


def _goes_back_to(d: DialogueDraft, size: int) -> bool:
    """Can "go back" return to the flow at position `size` of the stack? The flow at the bottom has position 1. The flow
    at this position must have an answered question. Every flow above it must have been called by another flow, and must
    have neither answers nor actions."""
    above = d.s.stack[size:]
    is_fresh = all(one.called and not _answered(d, one) and not _has_acted(d, one) for one in above)
    return is_fresh and bool(_answered(d, d.s.stack[size - 1]))


def _has_acted(d: DialogueDraft, instance: Instance) -> bool:
    program = d.domain.flows[instance.flow].program
    return any(isinstance(at, PerformAction) and at.step in instance.visited for at in program)


def _skip(d: DialogueDraft) -> None:
    """Skip the open question. A slot that already has a value keeps it. If the slot is required and has no value, tell
    the user that the question can't be skipped."""
    slot = d.s.waiting_for
    if slot is None or not d.s.stack:
        give_help(d)
        return
    is_change = d.top.filled(slot) is not None
    if not is_change and not d.spec(slot).is_optional:
        d.say(d.domain.patterns.not_skippable)
        return
    if not is_change:
        write(d, slot, ANY, source=SKIPPED)
    d.set(among=(), reading_back=False, values=(), unproposed=False)
    d.say(d.domain.patterns.skipped)
