"""Offers a task, if an opening message names no task but is most similar to one, and handles the yes or no to the
offer: "there's a party of six who need to get to the theatre", "I can order a taxi. Is that what you need?", "yes".

Rule: an offered task is started only after a yes. The values of the first message are then used, and said back.
"""

from __future__ import annotations

from .apply_commands import apply_commands
from .commands import Command, Help, SetSlot, StartFlow
from .draft import DialogueDraft
from .flow import Domain, Flow
from .interpreters import MessageInContext
from .language.readings import Confirmation, ConfirmationAnswer, SlotKind
from .state import Phase
from .unconfirmed_values import PICKED_OUT


def offer_of(domain: Domain, flow: Flow) -> str:
    """The question whether this task is meant."""
    return domain.patterns.offer.replace("{flow}", flow.description)


def take_offered_task(message: MessageInContext) -> bool:
    """Handle a yes or no to an offered task. Return False for any other message, and if no task was offered."""
    d, flow = message.d, _offered(message.d)
    answer = _answer(message) if flow is not None else None
    if flow is None or answer is None:
        return False
    d.enter(Phase.UNDERSTANDING)
    commands: tuple[Command, ...] = (StartFlow(flow.name), *_values(d, flow)) if answer else (Help(),)
    apply_commands(d, commands)
    return True


def _offered(d: DialogueDraft) -> Flow | None:
    if d.s.stack:
        return None
    return next((flow for flow in d.domain.offered if d.s.last_response.endswith(offer_of(d.domain, flow))), None)


def _answer(message: MessageInContext) -> bool | None:
    d = message.d
    reading = d.domain.pack.replies.read_confirmation(d.s.last_response, message.text, d.today, ())
    if isinstance(reading, Confirmation) and reading.answer is not ConfirmationAnswer.CHANGE:
        return reading.answer is ConfirmationAnswer.YES
    return True if message.signs.opening_answer(message.tokens) else None  # what follows a no is a wish of its own


def _values(d: DialogueDraft, flow: Flow) -> tuple[SetSlot, ...]:
    """The clear values in the message before the offer, and in the reply to the offer. If both give a value for a slot,
    the reply's is used."""
    specs = [d.domain.slots[name] for name in flow.slots if not d.domain.slots[name].ask_before_filling]
    slots = tuple(spec.grammar_slot for spec in specs if spec.kind not in (SlotKind.LIST, SlotKind.YES_NO))
    said = [message.content for message in d.s.messages if message.role == "user"][-2:]
    found = {
        value.slot: SetSlot(value.slot, value.value, value.raw, source=PICKED_OUT)
        for text in said
        for value in d.domain.pack.replies.read_parts(slots, text, d.today)
    }
    return tuple(found.values())
