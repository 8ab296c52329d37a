"""Compiles the steps of a flow file to the flat program that a dialogue runs.

Branches and loops become jumps; the steps in an `on_no` or `on_failure` block come directly after the step that the
block belongs to, as in the file. Rule: every instruction has a unique name that doesn't change when steps are added
elsewhere, because checkpoints refer to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from duologue.dialogue.conditions import parse
from duologue.dialogue.english.names import NameList
from duologue.dialogue.flow import (
    AnswerFromFaq,
    Assign,
    CallFlow,
    Collect,
    Confirm,
    Domain,
    End,
    FaqEntry,
    Flow,
    HandOff,
    Instruction,
    Jump,
    JumpUnless,
    LinkFlow,
    Patterns,
    PerformAction,
    SayText,
    SlotSpec,
)
from duologue.dialogue.language.packs import pack_of
from duologue.dialogue.language.readings import Choice
from duologue.dialogue.templates import Wording

from .schema import (
    ActionStep,
    BranchStep,
    CallStep,
    ChoiceEntry,
    CollectStep,
    ConfirmStep,
    ElseCase,
    EndStep,
    FaqStep,
    FileEntry,
    FlowEntry,
    HandoffStep,
    IfCase,
    LinkStep,
    SayStep,
    SetStep,
    SlotEntry,
    Step,
    WhileStep,
)

END = "end"
COMPLETED = "completed"
_NOWHERE = -1


def compile_file(file: FileEntry, names: Mapping[str, tuple[Choice, ...]], faq: tuple[FaqEntry, ...] = ()) -> Domain:
    """Compile a checked file. `names` maps each slot that has a list of names to that list. `faq` holds the questions
    and answers of the FAQ."""
    patterns = patterns_of(file)
    slots = {name: _compile_slot(name, slot, names.get(name, ()), file.language) for name, slot in file.slots.items()}
    flows = {name: compile_flow(name, flow, patterns.completed) for name, flow in file.flows.items()}
    return Domain(
        flows | {spec.item_flow: _item_flow(spec, flows) for spec in slots.values() if spec.items},
        slots,
        # The programs already say this text after their last step. The dialogue would say it at every end of a flow.
        replace(patterns, completed=""),
        file.misses_max,
        file.gives_up_by,
        file.tries_max,
        time_zone=file.time_zone,
        correctable_turns=file.correctable_turns,
        confidence_min=file.confidence_min,
        language=file.language,
        faq=faq,
        faq_min=file.faq_min,
        repairs={str(occasion): flow for occasion, flow in file.repairs.items()},
    )


def patterns_of(file: FileEntry) -> Patterns:
    """The texts that the agent says by itself. A text that the file doesn't set is the built-in text in the language of
    the file."""
    built_in = pack_of(file.language).texts
    written = file.patterns.model_fields_set  # type: ignore[attr-defined]
    return Patterns(
        **{
            field.name: built_in[field.name]
            if field.name in built_in and field.name not in written
            else getattr(file.patterns, field.name)
            for field in fields(Patterns)
        }
    )


def _item_flow(spec: SlotSpec, flows: Mapping[str, Flow]) -> Flow:
    """The hidden flow that asks for the values of one item of a list."""
    about = " ".join(flow.description for flow in flows.values() if spec.name in flow.slots)
    program: tuple[Instruction, ...] = (*(Collect(f"collect_{name}", name) for name in spec.items), End(END))
    places = {at.step: place for place, at in enumerate(program)}
    return Flow(spec.item_flow, f"{spec.display_name} {about}".strip(), program, is_hidden=True, places=places)


# -- Slots


def to_choices(entries: Iterable[str | ChoiceEntry]) -> tuple[Choice, ...]:
    """Convert the entries of a list of choices or names. Each choice keeps the other phrases that users may say for
    it."""
    return tuple(
        Choice(entry.value, tuple(entry.also)) if isinstance(entry, ChoiceEntry) else Choice(entry) for entry in entries
    )


def _compile_slot(name: str, slot: SlotEntry, names: tuple[Choice, ...], language: str = "en") -> SlotSpec:
    label = slot.label or name.replace("_", " ")
    begin, end = slot.hours
    return SlotSpec(
        name,
        slot.kind,
        # An action may request the slot, even if no step asks for it.
        _wording(slot.prompt) or pack_of(language).spoken.prompt.format(label=label),
        tuple(slot.reprompts),
        tuple(slot.silence_prompts),
        slot.help,
        slot.validator,
        slot.normaliser,
        to_choices(slot.choices),
        _name_list(names),
        slot.is_open,
        (begin, end),
        slot.is_past,
        (*slot.depends_on, *((slot.choices_from,) if slot.choices_from else ())),
        slot.ask_before_filling,
        slot.is_optional,
        slot.prefers,
        slot.reads_back,
        slot.barge_in,
        slot.label,
        slot.is_future,
        slot.choices_from,
        slot.is_session,
        tuple(slot.items),
        slot.says,
        slot.at_least,
        slot.at_most,
        _wording(slot.more),
        slot.pattern,
        slot.rephrase,
        language,
    )


def _wording(written: str | list[str]) -> Wording:
    """The text itself, or a tuple if there are several texts to choose from."""
    return written if isinstance(written, str) else written[0] if len(written) == 1 else tuple(written)


def _name_list(names: tuple[Choice, ...]) -> NameList | None:
    if not names:
        return None
    return NameList.of([name.value for name in names], {alias: name.value for name in names for alias in name.also})


# -- Flows


def compile_flow(name: str, flow: FlowEntry, completed: str = "") -> Flow:
    """Compile one flow. `completed` is the text that the agent says at the end of the flow, unless the flow sets its
    own text."""
    program = _Program(flow.steps)
    program.add_all(flow.steps)
    if words := _wording(flow.completed) or completed:
        program.emit(SayText(COMPLETED, words))
    program.emit(End(END))
    program.settle()
    places = {at.step: place for place, at in enumerate(program.code)}
    assert len(places) == len(program.code), "two instructions have the same name"
    return Flow(
        name,
        flow.description or name.replace("_", " "),
        tuple(program.code),
        tuple(flow.examples),
        is_hidden=flow.is_hidden,
        places=places,
    )


class _StepNames:
    """Gives every step a unique name: the step's id, or else a name made from what the step does, with a number if
    necessary."""

    def __init__(self, steps: list[Step]) -> None:
        self._taken = {END, COMPLETED, *(step.id for step in every_step(steps))}

    def of(self, step: Step) -> str:
        if step.id:
            return step.id
        stem, is_alone = _stem(step)
        number = 1
        while (name := stem if is_alone and number == 1 else f"{stem}_{number}") in self._taken:
            number += 1
        self._taken.add(name)
        return name


def _stem(step: Step) -> tuple[str, bool]:
    """The name for a step without an id, before a number is added to it. The second result is True if the first step
    with this name gets no number."""
    match step:
        case CollectStep():
            return f"collect_{step.collect}", True
        case ActionStep():
            return step.action, True
        case CallStep():
            return f"call_{step.call}", True
        case LinkStep():
            return f"link_{step.link}", True
    return type(step).__name__.removesuffix("Step").lower(), False


def every_step(steps: Iterable[Step]) -> Iterable[Step]:
    """The steps and the steps nested in them, in the order of the file."""
    for step in steps:
        yield step
        match step:
            case WhileStep():
                yield from every_step(step.steps)
            case BranchStep():
                for case in step.branch:
                    yield from every_step(case.steps)
            case ActionStep():
                yield from every_step(step.on_failure)
            case ConfirmStep():
                yield from every_step(step.on_no)
            case FaqStep():
                yield from every_step(step.on_no_answer)


class _Program:
    """Builds a program. The target of a forward jump is set later, when it is known."""

    def __init__(self, steps: list[Step]) -> None:
        self.code: list[Instruction] = []
        self._names = _StepNames(steps)
        self._places: dict[str, int] = {}  # by step id, for `then`
        self._jumps_to_ids: list[tuple[int, str]] = []

    def emit(self, instruction: Instruction) -> int:
        self.code.append(instruction)
        return len(self.code) - 1

    def settle(self) -> None:
        """Set the target of every jump that names a step id, now that the positions of all steps are known."""
        for at, step in self._jumps_to_ids:
            self._aim(at, self._places[step])

    @property
    def _here(self) -> int:
        return len(self.code)

    def _aim(self, at: int, place: int, field: str = "to") -> None:
        changed: dict[str, Any] = {field: place}
        self.code[at] = replace(self.code[at], **changed)

    # -- Steps

    def add_all(self, steps: Iterable[Step]) -> None:
        for step in steps:
            name = self._names.of(step)
            self._places[name] = self._here
            self._add(name, step)

    def _add(self, name: str, step: Step) -> None:
        match step:
            case CollectStep():
                self.emit(Collect(name, step.collect, _wording(step.prompt), step.proposed))
            case SayStep():
                self.emit(SayText(name, _wording(step.say), step.barge_in, step.rephrase))
            case SetStep():
                self.emit(Assign(name, tuple(step.values.items())))
            case BranchStep():
                self._add_branch(name, step)
            case WhileStep():
                self._add_while(name, step)
            case ActionStep():
                act = PerformAction(
                    name,
                    step.action,
                    tuple(step.slots),
                    _pairs(step.outputs),
                    step.waiting,
                    is_final=step.is_final,
                    on_change=step.on_change,
                )
                self._add_detour(act, step.on_failure, step.then, "on_failure")
            case ConfirmStep():
                confirm = Confirm(name, _wording(step.confirm), barge_in=step.barge_in)
                self._add_detour(confirm, step.on_no, step.then, "on_no")
            case CallStep():
                self.emit(CallFlow(name, step.call, _pairs(step.gives), _pairs(step.takes)))
            case LinkStep():
                self.emit(LinkFlow(name, step.link, _pairs(step.gives)))
            case FaqStep():
                self._add_detour(AnswerFromFaq(name, step.faq), step.on_no_answer, step.then, "on_none")
            case HandoffStep():
                self.emit(HandOff(name, step.handoff))
            case EndStep():
                self._add_end(name, step)

    def _add_branch(self, name: str, step: BranchStep) -> None:
        """Emit a branch. For each case, this is a test, the steps of the case, and a jump to the end of the branch."""
        over: list[int] = []
        for number, case in enumerate(step.branch, start=1):
            match case:
                case IfCase():
                    test_name = name if number == 1 else f"{name}.if_{number}"
                    test = self.emit(JumpUnless(test_name, parse(case.condition), _NOWHERE))
                    self.add_all(case.steps)
                    if number < len(step.branch):
                        over.append(self.emit(Jump(f"{name}.over_{number}", _NOWHERE)))
                    self._aim(test, self._here)
                case ElseCase():
                    self.add_all(case.steps)
        for at in over:
            self._aim(at, self._here)

    def _add_while(self, name: str, step: WhileStep) -> None:
        test = self.emit(JumpUnless(name, parse(step.condition), _NOWHERE))
        self.add_all(step.steps)
        self.emit(Jump(f"{name}.again", test))
        self._aim(test, self._here)

    def _add_detour(
        self, instruction: PerformAction | Confirm | AnswerFromFaq, steps: list[Step], then: str, field: str
    ) -> None:
        """Emit a step, and the steps of its `on_no`, `on_failure` or `on_no_answer` block if it has one."""
        at = self.emit(instruction)
        if not steps:
            return
        name = instruction.step
        over = self.emit(Jump(f"{name}.over", _NOWHERE))
        self._aim(at, self._here, field)
        self.add_all(steps)
        match then:
            case "again":
                self.emit(Jump(f"{name}.again", at))
            case "end":
                self.emit(End(f"{name}.end"))
            case "go_on":
                pass
            case _:
                self._jumps_to_ids.append((self.emit(Jump(f"{name}.then", _NOWHERE)), then))
        self._aim(over, self._here)

    def _add_end(self, name: str, step: EndStep) -> None:
        if isinstance(step.end, str):
            self.emit(SayText(name, step.end))
            self.emit(End(f"{name}.end"))
        else:
            self.emit(End(name))


def _pairs(given: list[str] | dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(given.items()) if isinstance(given, dict) else tuple((name, name) for name in given)
