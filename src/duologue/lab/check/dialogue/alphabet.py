"""The events that may come next in a dialogue: what users may say and workers may answer, a few examples of each kind.

The events are derived from the domain alone. For each kind of slot there are two valid answers and, if possible, an
ambiguous one. For each request there is every kind of result, including failures and nonsense. Rule: every kind of
event is tried with current data, and every kind that has a request number is also tried with an old request number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from duologue.dialogue.commands import (
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
from duologue.dialogue.effects import RunAction, Understand, Validate
from duologue.dialogue.events import (
    ActionDone,
    DialogueEvent,
    FlowRequested,
    NothingSaid,
    Rejected,
    Understood,
    UserMessage,
    Validated,
    WorkFailed,
)
from duologue.dialogue.flow import Domain, JumpUnless, PerformAction, SlotSpec
from duologue.dialogue.language.packs import pack_of
from duologue.dialogue.language.readings import Direct, Json, Question, SlotKind
from duologue.dialogue.requests import request_of
from duologue.dialogue.state import BUSY, DialogueState, Phase
from duologue.dialogue.unconfirmed_values import PICKED_OUT
from duologue.dialogue.value_patterns import example_of

from .messages import TriedMessages, messages_of

TODAY = "2025-12-03"  # a Wednesday
STALE = 99
UNSURE = 0.1  # the confidence of a message that may have been a noise
NORMALISED = " checked"  # the suffix that normalisers add here
UNKNOWN = "nowhere"
UNKNOWN_ENTRY = 99
FOUND = ("red fox", "blue bird")  # the items of a list that an action returns


@dataclass(frozen=True, slots=True)
class Alphabet:
    """All events that are tried in dialogues about one domain."""

    domain: Domain
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # action -> slots that it may request first
    confirms: Mapping[str, str] = field(default_factory=dict)  # action -> the confirmation that it may request first
    outputs: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)  # action -> what it returns
    decides: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)  # slot -> values that conditions depend on
    meanwhile: tuple[str, ...] = ("yes", "cancel")  # said while a request is running
    unclear: tuple[str, ...] = ()  # messages that are also heard with low confidence
    starts: tuple[FlowRequested, ...] = ()  # if given, these replace the plain start of each flow
    has_values: bool = True  # does NLU return values?
    depth_max: int = 2  # NLU starts another flow only while fewer are open
    also: tuple[str, ...] = ()  # messages that are also tried at every question

    # -- What users say

    @property
    def messages(self) -> TriedMessages:
        """The messages that users may say, in the language of the domain."""
        return messages_of(self.domain.language)

    def person(self, state: DialogueState) -> Iterator[DialogueEvent]:
        """The events that don't come from workers: messages, silence, and flows that the program starts. While a
        request is running, only messages are possible."""
        if state.phase in BUSY:
            if len(state.queue) <= self.domain.queue_max:
                yield from (UserMessage(text, 0, TODAY) for text in self.meanwhile)
            yield from (UserMessage(text, 0, TODAY, UNSURE) for text in self.unclear[:1])
            return
        yield from (UserMessage(text, 0, TODAY, UNSURE) for text in self.unclear)
        tried = (*self.messages.common, self.messages.for_nlu, "", *self.texts(state))
        yield from (UserMessage(text, 0, TODAY) for text in dict.fromkeys(tried))
        yield NothingSaid(0)
        yield from self.starts or (FlowRequested(name, 0) for name in (*self.domain.flows, UNKNOWN))

    def texts(self, state: DialogueState) -> Iterator[str]:
        """Messages that make sense only in this state: answers to its question, corrections, and "retry" after an
        error."""
        if state.phase is Phase.ERROR:
            yield self.messages.retry
        if state.waiting_for is not None:
            spec = self.domain.slots[state.waiting_for]
            yield from said_of(spec, self.domain)
            if spec.items:
                yield from self.messages.list_replies
            yield from self._decisive_answers(spec)
            if spec.kind in self.messages.ambiguous:
                yield self.messages.ambiguous[spec.kind]
            if spec.kind in self.messages.wished:
                yield self.messages.wished[spec.kind][0]
            if spec.is_future:
                yield self.messages.yesterday
            if state.among:
                yield self.messages.second
        if state.stack:
            yield from self.also
        if state.phase is Phase.CONFIRMING:
            yield self.messages.change_it
            yield from self.messages.tagged
        yield from self.corrections(state)

    def _decisive_answers(self, spec: SlotSpec) -> Iterator[str]:
        """Answers that give this slot a value on which a condition depends, in the words of users."""
        for value in self.decides.get(spec.name, ()):
            if isinstance(value, str):
                yield value
            elif not isinstance(value, bool) and spec.kind in (SlotKind.NUMBER, SlotKind.MONEY):
                yield self.messages.money.format(value=value) if spec.kind is SlotKind.MONEY else f"{value}"

    def corrections(self, state: DialogueState) -> Iterator[str]:
        """Messages that correct the open task, or the task that has just ended."""
        top = state.top or state.ended
        if top is None:
            return
        if any(name in self.domain.slots and self.domain.slots[name].items for name, _ in top.slots):
            yield from self.messages.list_changes
        for name, filled in top.slots:
            spec = self.domain.slots.get(name)
            if spec is not None and not spec.items:
                new = other_of(spec, filled.value)
                yield self.messages.change.format(slot=spec.display_name, value=new)
        asked = [name for name in top.asked if top.filled(name) is not None and not self.domain.slots[name].items]
        if asked:
            spec = self.domain.slots[asked[-1]]
            yield self.messages.make_it.format(value=other_of(spec, dict(top.slots)[spec.name].value))

    # -- What workers answer

    def workers(self, state: DialogueState) -> Iterator[DialogueEvent]:
        wanted = request_of(self.domain, state)
        if wanted is None:
            return
        match wanted:
            case Understand():
                yield from (Understood(wanted.request, commands, 0) for commands in self.meanings(state))
            case Validate():
                yield from self._verdicts(wanted)
            case RunAction():
                yield from self._results(wanted)
        yield WorkFailed(wanted.request, "TimeoutError", "it took too long", 0)

    def meanings(self, state: DialogueState) -> Iterator[tuple[Command, ...]]:
        """The commands that NLU may return for a message, including nonsense."""
        yield ()
        yield (StartFlow(UNKNOWN), SetSlot(UNKNOWN, 1), ClearSlot(UNKNOWN))
        for command in (Affirm(), Deny(), Cancel(), Restart(), Repeat(), NeedTime(), Back(), Skip(), Help(), Handoff()):
            yield (command,)
        yield (ChitChat("Fine."),)
        yield (Farewell(),)
        if self.domain.faq:
            yield (AnswerQuestion(0),)
            yield (AnswerQuestion(UNKNOWN_ENTRY),)
        is_open = {one.flow for one in state.stack}
        may_start = (name for name in self.domain.flows if len(state.stack) < self.depth_max or name in is_open)
        yield from ((StartFlow(name),) for name in may_start)
        if self.has_values:
            yield from self._values(state)

    def _values(self, state: DialogueState) -> Iterator[tuple[Command, ...]]:
        for name, spec in self.domain.slots.items():
            filled = state.top.filled(name) if state.top is not None else None
            if spec.items:
                yield (SetSlot(name, items_of(self.domain, spec)),)
            elif filled is None:
                value = value_of(spec, said_of(spec)[0])
                yield (SetSlot(name, value),)
                yield (Affirm(), SetSlot(name, value))
            else:
                value = value_of(spec, other_of(spec, filled.value))
                yield (CorrectSlot(name, value),)
                yield (Deny(), CorrectSlot(name, value))
                yield (ClearSlot(name),)
        if state.top is None:
            for flow in self.domain.offered:
                for name in flow.slots[-1:]:
                    spec = self.domain.slots[name]
                    value = items_of(self.domain, spec) if spec.items else value_of(spec, said_of(spec)[0])
                    yield (StartFlow(flow.name), SetSlot(name, value))
                    yield (StartFlow(flow.name), SetSlot(name, value, source=PICKED_OUT))

    def _verdicts(self, wanted: Validate) -> Iterator[DialogueEvent]:
        value = f"{wanted.value}{NORMALISED}" if wanted.normaliser else wanted.value
        yield Validated(wanted.request, value, 0)
        if wanted.normaliser:
            yield from (Validated(wanted.request, made, 0) for made in self.decides.get(wanted.slot, ()))
        yield Rejected(wanted.request, "That one is taken.", 0)
        yield Rejected(wanted.request, "", 0)

    def _results(self, wanted: RunAction) -> Iterator[DialogueEvent]:
        name = wanted.action
        outputs = tuple(self.outputs.get(name, {}).items()) or self._outputs(name)
        yield ActionDone(wanted.request, outputs, 0)
        for returned, slot in dict(self._destinations(name)).items():
            for value in self.decides.get(slot, ()):
                yield ActionDone(wanted.request, (*outputs, (returned, value)), 0)
        if name in self.needs:
            yield ActionDone(wanted.request, (), 0, needs=(*self.needs[name], UNKNOWN))
        if name in self.confirms:
            yield ActionDone(wanted.request, (), 0, confirm=self.confirms[name])

    def _outputs(self, action: str) -> tuple[tuple[str, Json], ...]:
        lists = {spec.choices_from for spec in self.domain.slots.values()}
        found: Any = [*FOUND]
        return tuple((name, found if slot in lists else "done") for name, slot in self._destinations(action))

    def _destinations(self, action: str) -> Iterator[tuple[str, str]]:
        """For each value that an action returns: the name of the value in the result, and the slot in which it is
        stored."""
        acts = [at for flow in self.domain.flows.values() for at in flow.program if isinstance(at, PerformAction)]
        yield from (pair for at in acts if at.action == action for pair in at.outputs)

    # -- Stale results

    def stale(self) -> tuple[DialogueEvent, ...]:
        return _STALE


_STALE: tuple[DialogueEvent, ...] = (
    Understood(STALE, (Cancel(),), 0),
    Validated(STALE, "late", 0),
    Rejected(STALE, "late", 0),
    ActionDone(STALE, (("ref", "late"),), 0),
    WorkFailed(STALE, "Late", "late", 0),
)


def said_of(spec: SlotSpec, domain: Domain | None = None) -> tuple[str, str]:
    """Two valid answers to the question for a slot. If the slot is a list and `domain` is given, the answers are items
    of the list: one with a value for every slot of an item, and one with a value for the last slot only."""
    if spec.items and domain is not None:
        answers = [said_of(domain.slots[name], domain) for name in spec.items]
        return " ".join(first for first, _ in answers), f"a {answers[-1][1]}"
    if spec.items:
        return "one of them", "another one"
    if spec.choices_from:
        return FOUND
    if spec.pattern:
        return example_of(spec.pattern), example_of(spec.pattern, 1)
    if spec.choices:
        return spec.choices[0].value, spec.choices[-1].value
    if spec.names is not None:
        names = [value for _, value in spec.names.joined]
        return names[0], names[-1]
    return messages_of(spec.language).said[spec.kind]


def items_of(domain: Domain, spec: SlotSpec) -> Json:
    """A list with one item, as NLU may return it."""
    slots = [domain.slots[name] for name in spec.items]
    return [{slot.name: value_of(slot, said_of(slot)[0]) for slot in slots}]


def value_of(spec: SlotSpec, text: str) -> Json:
    """The value that the slot's grammar reads from this text; the text itself if the grammar can't read it."""
    key = (spec.language, spec.name, spec.kind, text)
    if key not in _VALUES:
        reading = pack_of(spec.language).replies.read(Question(spec.grammar_slot), text, TODAY)
        _VALUES[key] = reading.value_of(spec.name) if isinstance(reading, Direct) else text
    return _VALUES[key]


_VALUES: dict[tuple[str, str, SlotKind, str], Json] = {}


def other_of(spec: SlotSpec, value: Json) -> str:
    """An answer for this slot whose value differs from `value`."""
    first, second = said_of(spec)
    held = str(value).removesuffix(NORMALISED)
    return second if held == str(value_of(spec, first)) else first


def alphabet_of(domain: Domain) -> Alphabet:
    """An alphabet for any domain. In it, every action may request a confirmation. If the domain has a slot that no step
    asks for, every action may request this slot, too."""
    asked = {name for one in domain.flows.values() for name in one.slots}
    spare = tuple(name for name in domain.slots if name not in asked)
    actions = {at.action for one in domain.flows.values() for at in one.program if isinstance(at, PerformAction)}
    needs = dict.fromkeys(actions, spare[:1]) if spare else {}
    asks = dict.fromkeys(actions, "Shall I really do that?")
    said = messages_of(domain.language)
    return Alphabet(
        domain, needs, asks, decides=_decisive(domain), also=said.troubling, meanwhile=(said.common[0], said.common[2])
    )


def _decisive(domain: Domain) -> dict[str, tuple[Json, ...]]:
    """The values to try, for every slot that a condition reads. The condition may be true for some of these values and
    false for others."""
    found: dict[str, dict[Json, None]] = {}
    for at in (at for flow in domain.flows.values() for at in flow.program if isinstance(at, JumpUnless)):
        values: list[Json] = [True, False]
        for constant in at.condition.constants:
            is_number = isinstance(constant, int | float) and not isinstance(constant, bool)
            values += [constant - 1, constant, constant + 1] if is_number else [constant]  # type: ignore[operator]
        for name in at.condition.names:
            found.setdefault(name, {}).update(dict.fromkeys(values))
    return {name: tuple(values) for name, values in found.items()}
