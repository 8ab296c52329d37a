"""Asking: the words of a question, and how long it is asked.

A reply that is not understood, a silence and a refused value have words of their own, and count together. Rule: the
count belongs to one question of one flow; another question begins with none.
"""

from __future__ import annotations

from .draft import DialogueDraft
from .flow import Collect, Confirm, PerformAction
from .state import Phase
from .templates import either, spelled, spoken
from .unconfirmed_values import listed


def ask_slot(d: DialogueDraft, at: Collect) -> None:
    """Ask for a slot: its prompt, or the next words of its ladder."""
    spec, patterns = d.spec(at.slot), d.domain.patterns
    if at.slot not in d.top.asked:
        d.set_top(asked=(*d.top.asked, at.slot))
    d.enter(Phase.WAITING_FOR_SLOT)
    _turn_to(d, at.slot)
    prompt, more = at.prompt or spec.prompt, {"proposed": proposed(d, at)}
    if at.proposed and more["proposed"] is None:
        prompt = spec.prompt  # there is nothing to propose, or it was just refused
    if d.s.reading_back:
        value = next((item.value for item in d.s.values), None)
        prompt, more = patterns.read_back, {"value": spelled(str(value))}
    elif d.s.among:
        prompt, more = patterns.ambiguous, {"value": either([spoken(value, d.today) for value in d.s.among])}
    ladder, count = (spec.silence_prompts, d.s.silences) if d.s.silences else (spec.reprompts, d.s.misses)
    is_about_answer = bool(d.s.among) or d.s.reading_back
    if count and ladder and not is_about_answer:
        prompt = ladder[min(count, len(ladder)) - 1]
    elif count:
        missed = patterns.unconfirmed if d.s.reading_back else patterns.reprompt
        d.say(patterns.silence if d.s.silences else missed)
    d.set(last_question=d.say(prompt, asks=True, barge_in=spec.barge_in, **more))


def ask_confirmation(d: DialogueDraft, at: Confirm | None) -> None:
    """Ask for a yes: a step's own question, or that of an action that wants one."""
    d.enter(Phase.CONFIRMING)
    _turn_to(d, None)
    text = at.text if at is not None else d.top.confirm
    if d.s.misses:
        d.say(d.domain.patterns.unconfirmed)
    if d.s.silences:
        d.say(d.domain.patterns.silence)
    words = d.say(text, asks=True, barge_in=at.barge_in if at is not None else True, slots=listed(d))
    d.set(last_question=words)


def _turn_to(d: DialogueDraft, slot: str | None) -> None:
    question = (d.top.id, d.top.at, slot)
    d.set(waiting_for=slot, pending=0)
    if question != d.question:
        d.question = question
        d.is_unheard = True
        d.set(tries=0, misses=0, silences=0)


def is_hopeless(d: DialogueDraft, slot: str | None) -> bool:
    """Was this very question asked in vain too often?"""
    most, s = d.domain.misses_max, d.s
    is_too_much = s.misses > most or s.silences > most or s.tries > d.domain.tries_max
    return is_too_much and d.question == (d.top.id, d.top.at, slot)


def count_try(d: DialogueDraft, *, misses: int = 0, silences: int = 0) -> None:
    """The open question was asked in vain; in which way is for its next words. One that is new was not: what came
    before it can't have been its answer."""
    if d.is_unheard:
        return
    d.set(tries=d.s.tries + 1, misses=misses, silences=silences)


# -- What is asked


def proposed(d: DialogueDraft, at: Collect) -> object:
    """The value that a question offers, if it still does."""
    if not at.proposed or d.s.unproposed:
        return None
    filled = d.top.filled(at.proposed)
    return filled.value if filled is not None else None


def rest(d: DialogueDraft) -> None:
    """Wait for an answer to the question that was open, without asking it again."""
    if not d.s.stack:
        d.enter(Phase.IDLE)
    elif d.top.failed and not d.s.reading_back:
        d.enter(Phase.ERROR)
    elif d.s.waiting_for is not None:
        d.enter(Phase.WAITING_FOR_SLOT)
    else:
        d.enter(Phase.CONFIRMING)


def question_stands(d: DialogueDraft) -> bool:
    """Is what was asked last still what this step wants to know?"""
    slot, at = d.s.waiting_for, d.flow.program[d.top.at]
    if slot is None:
        return is_confirming(d)
    if d.s.reading_back and d.s.values:
        return d.s.values[0].slot == slot
    is_asked = slot in d.top.needs or (isinstance(at, Collect) and at.slot == slot)
    return is_asked and d.top.filled(slot) is None


def is_confirming(d: DialogueDraft) -> bool:
    """Is the open question one for a yes?"""
    at = d.flow.program[d.top.at]
    wants_yes = isinstance(at, Confirm) or (isinstance(at, PerformAction) and bool(d.top.confirm))
    return wants_yes and d.s.waiting_for is None and at.step in d.top.visited
