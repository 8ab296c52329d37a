"""Judges how complete a text is as a reply, before it is certain that the user has finished speaking.

The text is tried out as if it were the user's whole reply. This changes nothing in the dialogue, and NLU isn't asked.
Rule: "complete" means that the grammars understand every word, that the last value is unlikely to continue, and that
the text answers the open question or is a whole request. "Open" means that more words have to follow, as after "I'd
like to go to". In all other cases the result is "unknown".
"""

from __future__ import annotations

from collections.abc import Sequence

from .commands import Command, StartFlow
from .draft import DialogueDraft
from .effects import Understand, Validate
from .events import Understood, UserMessage, Validated
from .flow import Domain, Flow
from .interpreters import as_set_slots, empty_slots, question_of
from .language.readings import Ambiguous, Direct, SlotKind, Value
from .language.tokens import Token
from .machine import guarded_step
from .state import BUSY, DialogueState, Phase

COMPLETE, OPEN, UNKNOWN = "complete", "open", "unknown"
# The interpreters that take a whole reply. A "no" to a confirmation isn't among them: what to change often follows it.
_TAKES_WHOLE = {
    Phase.IDLE: ("command", "correction", "courtesy"),
    Phase.WAITING_FOR_SLOT: ("another slot", "none of them", "command", "no", "no preference", "correction"),
    Phase.CONFIRMING: ("command", "not yet", "what to change", "named slot", "yes", "change", "correction"),
}
# More digits or words may follow the value of these slots, and the grammar can't tell how many.
_UNBOUNDED = (SlotKind.CODE, SlotKind.PHONE, SlotKind.TEXT)
_GREETINGS = ("greeting", "assent")  # usually the beginning of a request


def completeness(domain: Domain, state: DialogueState, text: str, today: str) -> str:
    """How complete this text is as a reply in this state: "complete", "open" or "unknown"."""
    tokens = domain.pack.words.tokens_of(text)
    if not tokens or state.phase in BUSY or state.phase is Phase.ERROR:
        return UNKNOWN
    if _ends_open(domain, state, tokens):
        return OPEN
    return COMPLETE if _is_whole(domain, state, text, today) else UNKNOWN


def is_bare_value(domain: Domain, state: DialogueState, text: str, today: str) -> bool:
    """Is this text only a value for the slot that is asked for? "Boston" is. "From London to Boston" isn't, because it
    says which slots its values are for, so it means the same before the question as after it."""
    draft = DialogueDraft(domain, state, 0, today)
    if not isinstance(domain.pack.replies.read(question_of(draft), text, today), Direct | Ambiguous):
        return False
    about = " ".join((draft.flow.description, *draft.flow.examples))
    named = domain.pack.replies.read_volunteered(empty_slots(draft), text, about, today)
    return named is None or not _has_words_beside(domain, text, [value.span for value in named.values])


def _has_words_beside(domain: Domain, text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Are there words that belong to no value, other than fillers and words of politeness?"""
    empty = domain.pack.words.polite | domain.pack.words.fillers
    words = [token for token in domain.pack.words.tokens_of(text) if token.word not in empty]
    return any(not any(start <= token.start < end for start, end in spans) for token in words)


def _is_whole(domain: Domain, state: DialogueState, text: str, today: str) -> bool:
    after, effects = guarded_step(domain, state, UserMessage(text, 0, today))
    if after.phase is Phase.ERROR:
        return False
    taken = next((dict(one.data)["by"] for one in reversed(after.trace) if one.event == "interpreted"), "")
    if any(isinstance(one, Understand) for one in effects):
        return state.phase is Phase.IDLE and any(
            _is_request(after, flow, domain, text, today) for flow in domain.offered
        )
    if taken == "value":
        reading = domain.pack.replies.read(question_of(DialogueDraft(domain, state, 0, today)), text, today)
        return isinstance(reading, Direct) and _is_settled(domain, reading.values, text)
    if taken == "courtesy":
        return domain.pack.signs.courtesy_of(domain.pack.words.tokens_of(text)) not in _GREETINGS
    return taken in _TAKES_WHOLE.get(state.phase, ())


def _is_request(asking: DialogueState, flow: Flow, domain: Domain, text: str, today: str) -> bool:
    """Is this text a whole request for the flow? Yes, if the text equals an example of the flow. Also yes if every word
    is understood and the flow then has no value left to ask for. `asking` is the state of the dialogue while it waits
    for NLU to read the text."""
    said = _content(domain, text)
    if any(said == _content(domain, example) for example in flow.examples):
        return True
    slots = tuple(domain.slots[name].grammar_slot for name in flow.slots if not domain.slots[name].ask_before_filling)
    whole = domain.pack.replies.read_volunteered(slots, text, " ".join((flow.description, *flow.examples)), today)
    if whole is None or not _is_settled(domain, whole.values, text):
        return False
    commands: tuple[Command, ...] = (StartFlow(flow.name), *as_set_slots(whole.values, "grammar"))
    after, effects = guarded_step(domain, asking, Understood(asking.pending, commands, 0))
    for _ in whole.values:  # assume that every value is valid
        wanted = next((one for one in effects if isinstance(one, Validate)), None)
        if wanted is None:
            break
        after, effects = guarded_step(domain, after, Validated(wanted.request, wanted.value, 0))
    return after.phase not in (Phase.WAITING_FOR_SLOT, Phase.VALIDATING_SLOT, Phase.ERROR)


def _content(domain: Domain, text: str) -> list[str]:
    words = domain.pack.words
    return [token.word for token in words.tokens_of(text) if token.word not in words.polite | words.fillers]


def _is_settled(domain: Domain, values: Sequence[Value], text: str) -> bool:
    """Is the last of these values complete, as far as a grammar can tell? False if more words may belong to it, as with
    free text or a name that isn't on a list."""
    if not values:
        return False
    last = max(values, key=lambda value: value.span[1])
    spec = domain.slots[last.slot]
    if spec.kind in _UNBOUNDED:
        return False
    if spec.kind is SlotKind.NAME:
        return spec.names is not None and last.value in spec.names.values.values()
    words = domain.pack.words
    end = words.tokens_of(text)[-1]
    return not (end.word in words.goes_on and last.span[0] <= end.start < last.span[1])


def _ends_open(domain: Domain, state: DialogueState, tokens: Sequence[Token]) -> bool:
    """Does the text end in a word after which something has to follow, such as "to"? False for "I'd like to" as the
    reply to a yes/no question, because it is a whole answer to such a question."""
    lists, words = domain.pack.words, [token.word for token in tokens]
    while words and words[-1] in lists.fillers and words[-1] not in lists.open_ends:
        words.pop()
    if not words or words[-1] not in lists.open_ends or domain.pack.signs.asks(tokens):
        return False
    asked = domain.slots[state.waiting_for] if state.waiting_for is not None else None
    is_yes_no = state.phase is Phase.CONFIRMING or (asked is not None and asked.kind is SlotKind.YES_NO)
    return not (is_yes_no and words[-1] in lists.open_verb_marks)
