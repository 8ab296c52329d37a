"""The format of flow files, key by key.

This is the only definition of the format: files are checked against it, and editors get it as a JSON schema. Rule: an
unknown key is an error, and values aren't converted, so a number isn't accepted as a text.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    WithJsonSchema,
    create_model,
)
from pydantic_core import PydanticCustomError

from duologue.dialogue.conditions import LENGTH_MAX
from duologue.dialogue.flow import Domain, Patterns
from duologue.dialogue.language.packs import PACKS, has_pack
from duologue.dialogue.language.readings import DAYTIME_HOURS, SlotKind

from .caller_clock import is_zone, zones
from .problems import hint, kind_shown

VERSION = 1
NAME = r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"
NOT_BLANK = r"\S"
TEXT_CHARS_MAX = 2_000

Text: TypeAlias = Annotated[str, StringConstraints(pattern=NOT_BLANK, max_length=TEXT_CHARS_MAX)]
Name: TypeAlias = Annotated[str, StringConstraints(pattern=NAME)]
ConditionText: TypeAlias = Annotated[str, StringConstraints(pattern=NOT_BLANK, max_length=LENGTH_MAX)]


def _scalar(value: Any) -> Any:
    if isinstance(value, list | dict):
        raise PydanticCustomError("scalar", f"must be a text, a number, true, false or null, not {kind_shown(value)}")
    return value


def _zone(value: str) -> str:
    if not is_zone(value):
        known = zones()
        near = hint(value, known) if known else "; this machine has no time zone data: pip install tzdata"
        advice = "; write for example Europe/Vienna" if near.startswith("; known: ") else near
        raise PydanticCustomError("zone", f"unknown time zone {kind_shown(value)}{advice}")
    return value


def _language(code: str) -> str:
    if not has_pack(code):
        raise ValueError(f"there is no language pack for {code!r}; there are packs for {', '.join(sorted(PACKS))}")
    return code


Zone: TypeAlias = Annotated[str, AfterValidator(_zone)]
Language: TypeAlias = Annotated[str, AfterValidator(_language)]
Scalar: TypeAlias = Annotated[
    Any, AfterValidator(_scalar), WithJsonSchema({"type": ["string", "number", "boolean", "null"]})
]


def _by_shape(**tags: type) -> Discriminator:
    """A pydantic discriminator that chooses the member of a union by the Python type of the value. `tags` lists the
    name and the type of each member. If no type fits, the last member is chosen."""

    def tag_of(value: Any) -> str:
        return next((f"<{tag}>" for tag, shape in tags.items() if isinstance(value, shape)), f"<{[*tags][-1]}>")

    return Discriminator(tag_of)


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


# -- Slots


class ChoiceEntry(_Entry):
    """A value, and other phrases for it."""

    value: Text
    also: Annotated[list[Text], Field(min_length=1)] = []


ChoiceOrText: TypeAlias = Annotated[
    Annotated[ChoiceEntry, Tag("<choice>")] | Annotated[Text, Tag("<text>")], _by_shape(choice=dict, text=str)
]
ChoiceList: TypeAlias = Annotated[list[ChoiceOrText], Field(min_length=1)]
Texts: TypeAlias = Annotated[list[Text], Field(min_length=1)]
Names: TypeAlias = Annotated[
    Annotated[ChoiceList, Tag("<list>")] | Annotated[Text, Tag("<file>")], _by_shape(file=str, list=list)
]


Wordings: TypeAlias = Annotated[
    Annotated[Text, Tag("<text>")] | Annotated[list[Text], Field(min_length=1), Tag("<list>")],
    _by_shape(list=list, text=str),
]


class SlotEntry(_Entry):
    """A slot: how it is asked for, what may fill it, and how it is checked."""

    kind: SlotKind = Field(alias="type", strict=False, description="The type of the slot's value.")
    prompt: Wordings = Field(
        "", description="The question that asks for the slot. If there are several, the agent varies them."
    )
    reprompts: Texts = Field(
        [], description="Texts for replies that weren't understood: one for the first such reply, and so on."
    )
    silence_prompts: Texts = Field(
        [], description="Texts for silences: one for the first time that the user doesn't reply, and so on."
    )
    help: Text = Field("", description="Said when the user asks for help at this question.")
    validator: Name = Field("", description="A function that accepts or refuses a value.")
    normaliser: Name = Field("", description="A function that converts a value before it is validated.")
    choices: ChoiceList = Field([], description="For type choice: the possible answers.")
    choices_from: Name = Field(
        "", description="For type choice: the slot that holds the answers, a list that an action returned."
    )
    names: Names = Field([], description="For type name: the known names, or a file with one name per line.")
    is_open: bool = Field(
        True, alias="open", description="For type name: True if names that aren't in the list are accepted."
    )
    hours: list[int] = Field(
        [*DAYTIME_HOURS],
        min_length=2,
        max_length=2,
        description="For type time: a time without am or pm is taken to be between these hours.",
    )
    is_past: bool = Field(
        False, alias="past", description="For type date: True if the date is in the past, such as a birthday."
    )
    is_future: bool = Field(
        False, alias="future", description="For types date and time: True if values in the past are refused."
    )
    depends_on: list[Name] = Field(
        [], min_length=1, description="When the user corrects one of these slots, this slot is emptied."
    )
    ask_before_filling: bool = Field(
        False, description="True if the slot may be filled only after the agent has asked for it."
    )
    is_optional: bool = Field(False, alias="optional", description="May the user skip the question?")
    prefers: Literal["ask", "first", "last"] = Field(
        "ask", description="What to do with an ambiguous value: ask, or take the first or the last candidate."
    )
    reads_back: bool = Field(
        False, description="True if the agent spells the value to the user and asks whether it is right."
    )
    is_session: bool = Field(
        False, alias="session", description="True if later tasks of the conversation use the value again."
    )
    items: list[Name] = Field([], min_length=1, description="For type list: the slots that make up an item.")
    says: Text = Field("", description="For type list: how an item is said, such as {count} {size} {pizza}.")
    at_least: int = Field(1, alias="min", ge=0, le=100, description="For type list: the smallest number of items.")
    at_most: int = Field(0, alias="max", ge=1, le=100, description="For type list: the largest number of items.")
    more: Wordings = Field("", description="For type list: the question for more items.")
    pattern: Text = Field("", description="A regular expression that the whole value has to match.")
    rephrase: bool = Field(False, description="True if a language model may reword the question.")
    barge_in: bool = Field(True, description="May the user interrupt the question?")
    label: Text = Field("", description="What users call the slot; default: its name.")


# -- Steps

CASE_KEYS = ("if", "else")
THEN = ("again", "go_on", "end")
MAIN_KEYS = ("collect", "say", "set", "branch", "while", "action", "confirm", "call", "link", "faq", "handoff", "end")

StepId: TypeAlias = Annotated[Name, Field(description="The step's name in checkpoints and for `then`.")]
Pairs: TypeAlias = Annotated[
    Annotated[dict[Name, Name], Field(min_length=1), Tag("<mapping>")]
    | Annotated[list[Name], Field(min_length=1), Tag("<list>")],
    _by_shape(mapping=dict, list=list),
]
Then: TypeAlias = Annotated[Name, Field(description="again, go_on, end, or the id of a step to go to.")]


class _Step(_Entry):
    id: StepId = ""


class CollectStep(_Step):
    """Ask for a slot, unless it is filled."""

    collect: Name
    prompt: Wordings = ""
    proposed: Name = Field(
        "", description="The slot whose value is proposed; a yes accepts it. The prompt may contain {proposed}."
    )


class SayStep(_Step):
    say: Wordings
    barge_in: bool = True
    rephrase: bool = Field(False, description="True if a language model may reword the text.")


class SetStep(_Step):
    """Fill slots without asking; null empties a slot."""

    values: Annotated[dict[Name, Scalar], Field(min_length=1)] = Field(alias="set")


class IfCase(_Entry):
    condition: ConditionText = Field(alias="if")
    steps: Steps


class ElseCase(_Entry):
    steps: Steps = Field(alias="else")


def _case_tag(value: Any) -> str | None:
    found = [f"<{key}>" for key in CASE_KEYS if isinstance(value, dict) and key in value]
    return found[0] if len(found) == 1 else None


Case: TypeAlias = Annotated[
    Annotated[IfCase, Tag("<if>")] | Annotated[ElseCase, Tag("<else>")], Discriminator(_case_tag)
]


class BranchStep(_Step):
    """Run the first case whose condition holds."""

    branch: Annotated[list[Case], Field(min_length=1)]


class WhileStep(_Step):
    condition: ConditionText = Field(alias="while")
    steps: Steps


class ActionStep(_Step):
    """Run a function and store its results."""

    action: Name
    slots: list[Name] = Field([], min_length=1, description="Slots passed to the action; default: all filled slots.")
    outputs: Pairs = Field([], description="The results to store: names, or a mapping from result to slot.")
    waiting: Text = Field("", description="Said while the action runs.")
    on_failure: Steps = Field([])
    then: Then = Field(
        "end", description="What happens after on_failure: end, go_on, again, or the id of the next step."
    )
    is_final: bool = Field(
        False,
        alias="final",
        description="True if the action can't be undone: it doesn't run again when the user changes a value.",
    )
    on_change: Name = Field("", description="For a final action: the flow to open if the user changes a value later.")


class ConfirmStep(_Step):
    """Ask for a yes. A no cancels the flow, unless there is an `on_no` block."""

    confirm: Wordings
    on_no: Steps = Field([])
    then: Then = Field("again", description="What happens after on_no: again, go_on, end, or the id of the next step.")
    barge_in: bool = True


class CallStep(_Step):
    """Run another flow, then continue here."""

    call: Name
    gives: Pairs = Field(
        [], description="Slots passed to the other flow: names, or a mapping from this flow's slots to the other's."
    )
    takes: Pairs = Field(
        [], description="Slots taken from the other flow: names, or a mapping from the other's slots to this flow's."
    )


class LinkStep(_Step):
    """Switch to another flow without coming back. Slots that both flows ask for are passed on."""

    link: Name
    gives: Pairs = Field(
        [], description="More slots to pass on: names, or a mapping from this flow's slots to the other's."
    )


class FaqStep(_Step):
    """Look a text up in the FAQ and say the answer."""

    faq: Name = Field(description="The slot that holds what the user wants to know.")
    on_no_answer: Steps = Field([])
    then: Then = Field("go_on", description="What happens after on_no_answer: go_on, end, or the id of the next step.")


class HandoffStep(_Step):
    """Hand the conversation over to a person."""

    handoff: Text = Field(
        description="The reason, for the human who takes over. The agent doesn't say it. It may contain {slots}."
    )


class EndStep(_Step):
    """End the flow here, optionally with a text."""

    end: Annotated[
        Annotated[Literal[True], Tag("<true>")] | Annotated[Text, Tag("<text>")], _by_shape(text=str, true=bool)
    ]


def main_key_of(step: Any) -> str | None:
    """The key that says what a step does; None if there is no such key, or more than one."""
    found = [key for key in MAIN_KEYS if isinstance(step, dict) and key in step]
    return found[0] if len(found) == 1 else None


def _step_tag(step: Any) -> str | None:
    key = main_key_of(step)
    return f"<{key}>" if key is not None else None


Step: TypeAlias = Annotated[
    Annotated[CollectStep, Tag("<collect>")]
    | Annotated[SayStep, Tag("<say>")]
    | Annotated[SetStep, Tag("<set>")]
    | Annotated[BranchStep, Tag("<branch>")]
    | Annotated[WhileStep, Tag("<while>")]
    | Annotated[ActionStep, Tag("<action>")]
    | Annotated[ConfirmStep, Tag("<confirm>")]
    | Annotated[CallStep, Tag("<call>")]
    | Annotated[LinkStep, Tag("<link>")]
    | Annotated[FaqStep, Tag("<faq>")]
    | Annotated[HandoffStep, Tag("<handoff>")]
    | Annotated[EndStep, Tag("<end>")],
    Discriminator(_step_tag),
]
Steps: TypeAlias = Annotated[list[Step], Field(min_length=1)]

STEP_MODELS: dict[str, type[_Step]] = {
    "collect": CollectStep,
    "say": SayStep,
    "set": SetStep,
    "branch": BranchStep,
    "while": WhileStep,
    "action": ActionStep,
    "confirm": ConfirmStep,
    "call": CallStep,
    "link": LinkStep,
    "faq": FaqStep,
    "handoff": HandoffStep,
    "end": EndStep,
}


# -- Flows and the file


class FlowEntry(_Entry):
    """One task that users can ask for."""

    description: Text = Field("", description="The task in a few words, for help and for NLU.")
    examples: Texts = Field([], description="What users say to ask for the task.")
    completed: Wordings = Field(
        "", description="Said after the last step. If there are several texts, the agent varies them."
    )
    is_hidden: bool = Field(False, alias="hidden", description="Only other flows and the program can start this flow.")
    steps: Steps


_PATTERNS: dict[str, Any] = {
    pattern.name: (str, Field(pattern.default, max_length=TEXT_CHARS_MAX)) for pattern in fields(Patterns)
}
_ABOUT_PATTERNS = "Texts for situations that can occur in every flow."
PatternsEntry = create_model("PatternsEntry", __base__=_Entry, __doc__=_ABOUT_PATTERNS, **_PATTERNS)

_DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Domain)}


class FaqEntryWritten(_Entry):
    """An entry of the FAQ as it is in the file: a question in one or more wordings, and the answer."""

    ask: Wordings = Field(description="The question, in one or several wordings.")
    answer: Text


Faq: TypeAlias = Annotated[
    Annotated[list[FaqEntryWritten], Field(min_length=1), Tag("<list>")] | Annotated[Text, Tag("<file>")],
    _by_shape(file=str, list=list),
]
Occasion: TypeAlias = Literal["no_match", "no_input", "cancel", "help", "handoff", "correction"]


class FileEntry(_Entry):
    """A flow file."""

    version: Literal[1] = Field(description="The version of this format.")
    include: Wordings = Field("", description="Other flow files: their slots, flows and FAQ become part of this file.")
    slots: dict[Name, SlotEntry] = Field({}, description="The values that flows collect.")
    flows: dict[Name, FlowEntry] = Field(min_length=1, description="The tasks.")
    faq: Faq = Field([], description="Questions and answers, or a YAML or Markdown file with them.")
    faq_min: float = Field(
        _DEFAULTS["faq_min"], ge=0, le=1, description="How sure the search has to be to give an answer."
    )
    repairs: dict[Occasion, Name] = Field({}, description="Flows for situations that can occur in every flow.")
    patterns: PatternsEntry = Field(  # type: ignore[valid-type]
        default_factory=PatternsEntry, description="Replaces the default texts."
    )
    misses_max: int = Field(
        _DEFAULTS["misses_max"],
        ge=1,
        le=20,
        description="The agent gives up after this many replies in a row that it didn't understand.",
    )
    tries_max: int = Field(
        _DEFAULTS["tries_max"],
        ge=1,
        le=50,
        description="The agent gives up after this many failed replies to one question.",
    )
    correctable_turns: int = Field(
        _DEFAULTS["correctable_turns"],
        ge=0,
        le=20,
        description="A task can still be corrected for this many turns after its end.",
    )
    confidence_min: float = Field(
        _DEFAULTS["confidence_min"],
        ge=0,
        le=1,
        description="If words are heard with less confidence and would decide something, the agent asks again.",
    )
    gives_up_by: Literal["cancel", "handoff"] = Field(
        _DEFAULTS["gives_up_by"], description="How to give up: cancel the flow, or hand over to a human."
    )
    time_zone: Zone = Field(
        _DEFAULTS["time_zone"],
        description="The time zone of the callers, such as Europe/Vienna; default: that of this machine.",
    )
    language: Language = Field(
        _DEFAULTS["language"], description="The language of the texts and the callers: en, de or es."
    )


_NESTED: tuple[type[BaseModel], ...] = (IfCase, ElseCase, *STEP_MODELS.values(), FlowEntry, FaqEntryWritten, FileEntry)
for _model in _NESTED:
    _model.model_rebuild()

_MODELS: dict[str, type[BaseModel]] = {f"<{key}>": model for key, model in STEP_MODELS.items()}
_MODELS |= {"<if>": IfCase, "<else>": ElseCase, "<choice>": ChoiceEntry}
_SECTIONS: dict[str, type[BaseModel]] = {"slots": SlotEntry, "flows": FlowEntry, "faq": FaqEntryWritten}


def keys_at(place: tuple[str | int, ...]) -> tuple[str, ...]:
    """The keys that are allowed at `place`, which is a location from a pydantic error (with the names that pydantic
    adds for members of unions)."""
    last = place[-1] if place else None
    if isinstance(last, str) and last in _MODELS:
        return _keys(_MODELS[last])
    if place == ("patterns",):
        return _keys(PatternsEntry)
    return _keys(_SECTIONS.get(str(place[0]), FileEntry) if place else FileEntry)


def _keys(model: type[BaseModel]) -> tuple[str, ...]:
    return tuple(field.alias or name for name, field in model.model_fields.items())


def json_schema() -> dict[str, Any]:
    """The file format as a JSON schema, for editors."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Duologue flows"}
    tidied: dict[str, Any] = _tidied(FileEntry.model_json_schema())
    return {**head, **tidied}


def _tidied(schema: Any) -> Any:
    """The schema without redundant titles and empty defaults. Where names must match a pattern, the result also forbids
    all other names."""
    if isinstance(schema, list):
        return [_tidied(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    tidied = {key: _tidied(part) for key, part in schema.items() if not (key == "title" and isinstance(part, str))}
    if tidied.get("default") in ("", [], {}):
        del tidied["default"]
    if "patternProperties" in tidied:
        tidied["additionalProperties"] = False
    return tidied
