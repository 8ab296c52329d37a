"""Asks questions: chooses the prompt or reprompt, and counts failed attempts.

There are three kinds of failed attempts: a miss (a reply that was not understood), a silence, and a refused value.
After each of them, the question is asked with a different text. Rule: attempts are counted for one question of one
flow. For another question, the count starts at zero.
"""

from __future__ import annotations

from typing import Any

from .draft import DialogueDraft
from .flow import Collect, Confirm, PerformAction, SlotSpec
from .item_lists import draft_in
from .state import Phase
from .templates import Wording, either, spelled
from .unconfirmed_values import listed


def ask_slot(d: DialogueDraft, at: Collect) -> None:
    """Ask for a slot with its prompt, or, after a failed attempt, with its next reprompt. But while the agent reads
    back a code, ask whether the code is right, and after an ambiguous answer, ask which value was meant."""
    spec, patterns = d.spec(at.slot), d.domain.patterns
    if at.slot not in d.top.asked:
        d.set_top(asked=(*d.top.asked, at.slot))
    d.enter(Phase.WAITING_FOR_SLOT)
    _set_question(d, at.slot)
    more: dict[str, Any] = {"proposed": proposed(d, at)}
    prompt: Wording = _list_prompt(d, spec) or at.prompt or spec.prompt
    if at.proposed and more["proposed"] is None:
        prompt = spec.prompt  # there is nothing to propose, or the user just refused it
    if d.s.reading_back:
        value = next((item.value for item in d.s.values), None)
        prompt, more = patterns.read_back, {"value": spelled(str(value), d.domain.pack.spoken)}
    elif d.s.among:
        prompt, more = (
            patterns.ambiguous,
            {"value": either([d.spoken(value) for value in d.s.among], d.domain.pack.spoken)},
        )
    ladder, count = (spec.silence_prompts, d.s.silences) if d.s.silences else (spec.reprompts, d.s.misses)
    if d.is_repaired:
        ladder, count = (), 0
    is_about_answer = bool(d.s.among) or d.s.reading_back
    if count and ladder and not is_about_answer:
        prompt = ladder[min(count, len(ladder)) - 1]
    elif count:
        again = patterns.reprompt_again if d.s.misses > 1 else patterns.reprompt
        apology = patterns.unconfirmed if d.s.reading_back else again
        d.say(patterns.silence if d.s.silences else apology)
        if d.s.misses == 2 and not is_about_answer:
            d.say(spec.help)
    may_rephrase = spec.rephrase and not count and not is_about_answer
    d.set(last_question=d.say(prompt, asks=True, barge_in=spec.barge_in, rephrase=may_rephrase, **more))


def _list_prompt(d: DialogueDraft, spec: SlotSpec) -> Wording:
    """The question for more items, if the slot is a list that already has items; otherwise empty."""
    if not spec.items or not draft_in(d.top, spec.name).items:
        return ""
    return spec.more or d.domain.patterns.more


def ask_confirmation(d: DialogueDraft, at: Confirm | None) -> None:
    """Ask for a confirmation. The question comes from the step, or from the action that requested the confirmation. If
    the user has already said no, ask what to change instead."""
    d.enter(Phase.CONFIRMING)
    _set_question(d, None)
    patterns = d.domain.patterns
    text = at.text if at is not None else d.top.confirm
    if d.top.denied:
        text = patterns.what_to_change_again if d.s.misses else patterns.what_to_change
    if d.s.misses and not d.is_repaired:
        d.say(patterns.reprompt if d.top.denied else patterns.unconfirmed)
    if d.s.silences and not d.is_repaired:
        d.say(d.domain.patterns.silence)
    words = d.say(text, asks=True, barge_in=at.barge_in if at is not None else True, slots=listed(d))
    d.set(last_question=words)


def _set_question(d: DialogueDraft, slot: str | None) -> None:
    question = (d.top.id, d.top.at, slot)
    d.set(waiting_for=slot, pending=0)
    if question != d.question:
        d.question = question
        d.is_question_new = True
        d.set(tries=0, misses=0, silences=0)


def has_failed_too_often(d: DialogueDraft, slot: str | None) -> bool:
    """Has the question for `slot` failed so often that the agent must give up? If `slot` is None, the open confirmation
    is checked instead."""
    most, s = d.domain.misses_max, d.s
    is_too_much = s.misses > most or s.silences > most or s.tries > d.domain.tries_max
    return is_too_much and d.question == (d.top.id, d.top.at, slot)


def count_try(d: DialogueDraft, *, misses: int = 0, silences: int = 0) -> None:
    """Count a failed attempt at the open question. `misses` and `silences` are the new numbers of misses and silences,
    which decide how the question is asked again. Nothing is counted if the question became open in this step, because
    then the user's message came before the question."""
    if d.is_question_new:
        return
    d.set(tries=d.s.tries + 1, misses=misses, silences=silences)


# -- The open question


def proposed(d: DialogueDraft, at: Collect) -> object:
    """The value that the question proposes; None if there is no such value, or if the user refused it."""
    if not at.proposed or d.s.unproposed:
        return None
    filled = d.top.filled(at.proposed)
    return filled.value if filled is not None else None


def wait_for_answer(d: DialogueDraft) -> None:
    """Wait for the answer to the open question without asking it again."""
    if not d.s.stack:
        d.enter(Phase.IDLE)
    elif d.top.failed and not d.s.reading_back:
        d.enter(Phase.ERROR)
    elif d.s.waiting_for is not None:
        d.enter(Phase.WAITING_FOR_SLOT)
    else:
        d.enter(Phase.CONFIRMING)


def is_question_current(d: DialogueDraft) -> bool:
    """Would the flow, at its current step, still ask the question that the agent asked last?"""
    slot, at = d.s.waiting_for, d.flow.program[d.top.at]
    if slot is None:
        return is_confirming(d)
    if d.s.reading_back and d.s.values:
        return d.s.values[0].slot == slot
    is_asked = slot in d.top.needs or (isinstance(at, Collect) and at.slot == slot)
    return is_asked and d.top.filled(slot) is None


def is_confirming(d: DialogueDraft) -> bool:
    """Is the open question a confirmation?"""
    at = d.flow.program[d.top.at]
    wants_yes = isinstance(at, Confirm) or (isinstance(at, PerformAction) and bool(d.top.confirm))
    return wants_yes and d.s.waiting_for is None and at.step in d.top.visited
