"""Help, and messages that were not understood: what the agent says then, and how it asks again.

Rule: every message that isn't understood is counted, so that the agent doesn't ask the same question for ever.
"""

from __future__ import annotations

from .draft import DialogueDraft
from .prompts import count_try
from .repairs import NO_INPUT, NO_MATCH, open_repair
from .run_flow import continue_flow
from .stack import has_just_ended
from .state import Phase


def give_help(d: DialogueDraft) -> None:
    slot = d.s.waiting_for
    if slot is not None and d.spec(slot).help:
        d.say(d.spec(slot).help)
    elif d.s.stack:
        d.say(d.domain.patterns.help_open)
    else:
        offers = ", ".join(flow.description for flow in d.domain.offered)
        d.say(d.domain.patterns.help, flows=offers)


def _give_example(d: DialogueDraft) -> None:
    """Say an example of what the user could say. It is shorter than the help text, which the user has just heard."""
    example = next((flow.examples[0] for flow in d.domain.offered if flow.examples), "")
    if example:
        d.say(d.domain.patterns.example, example=example)


def miss(d: DialogueDraft) -> None:
    """The message was not understood. If no flow is open, offer help; otherwise ask again."""
    if has_just_ended(d.domain, d.s) and _asks(d):
        d.say(d.domain.patterns.cannot_answer)
        d.enter(Phase.IDLE)
        return
    if not d.s.stack:
        apology = d.say(d.domain.patterns.not_understood)
        if apology and d.s.last_response.startswith(apology):
            _give_example(d)
        else:
            give_help(d)
        d.enter(Phase.IDLE)
        return
    if d.top.failed and not d.s.reading_back:
        continue_flow(d)  # an action failed, and the user has to say whether to retry it
        return
    if _asks(d):
        d.say(_answer_without_topic(d))
        count_try(d)
    elif d.s.is_aside:  # the message came before the open question, so it isn't a miss
        d.say(d.domain.patterns.reprompt)
    else:
        count_try(d, misses=d.s.misses + 1)
        open_repair(d, NO_MATCH)
    continue_flow(d)


def _asks(d: DialogueDraft) -> bool:
    """Does the message that was not understood ask something?"""
    pack = d.domain.pack
    slot = d.s.waiting_for
    if slot is not None and d.spec(slot).reprompts:
        return False  # the author has written what to say
    is_asked = d.s.heard.rstrip().endswith("?") or pack.signs.asks(pack.words.tokens_of(d.s.heard))
    return is_asked and not d.s.reading_back


def _answer_without_topic(d: DialogueDraft) -> str:
    """What the agent says if it has no answer to the user's question. This is the help text of the open question.
    Without a help text, or if the user has just heard it, the agent says that it can't answer."""
    slot = d.s.waiting_for
    told = d.spec(slot).help if slot is not None else ""
    if slot is not None and not told and d.spec(slot).is_optional and d.top.filled(slot) is None:
        told = d.domain.patterns.may_skip
    return told if told and told not in d.s.last_response else d.domain.patterns.cannot_answer


def count_silence(d: DialogueDraft) -> None:
    """The user said nothing: count a silence and ask again."""
    count_try(d, silences=d.s.silences + 1)
    open_repair(d, NO_INPUT)
    continue_flow(d)
