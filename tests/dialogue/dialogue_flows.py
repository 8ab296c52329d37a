"""Domains for tests of dialogues, and a talker that sends them one event at a time."""

from __future__ import annotations

from dataclasses import replace

from duologue.dialogue.commands import Command
from duologue.dialogue.conditions import parse
from duologue.dialogue.effects import DialogueEffect, Respond, RunAction, Understand, Validate
from duologue.dialogue.english import Choice, Json, SlotKind
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
from duologue.dialogue.flow import Collect, Confirm, Domain, Instruction, JumpUnless, PerformAction, SayText, SlotSpec
from duologue.dialogue.machine import step
from duologue.dialogue.state import DialogueState
from duologue.lab.check.dialogue.domains import domain, flow

OTHER = "so what about that other thing we had"  # nothing that a grammar knows
TODAY = "2025-12-02"  # the date of the source's document


class Talker:
    """One dialogue, driven by hand: what is said and done comes in, what comes out is looked at."""

    def __init__(self, about: Domain, state: DialogueState | None = None) -> None:
        self.domain = about
        self.state = state or DialogueState()
        self.effects: tuple[DialogueEffect, ...] = ()
        self.now = 0

    def happen(self, event: DialogueEvent) -> Talker:
        self.now += 1_000
        self.state, self.effects = step(self.domain, self.state, replace(event, at=self.now))
        return self

    def says(self, *texts: str) -> Talker:
        for text in texts:
            self.happen(UserMessage(text, 0, TODAY))
        return self

    def starts(self, name: str, **slots: Json) -> Talker:
        return self.happen(FlowRequested(name, 0, tuple(slots.items())))

    def silence(self, times: int = 1) -> Talker:
        for _ in range(times):
            self.happen(NothingSaid(0))
        return self

    def means(self, *commands: Command) -> Talker:
        return self.happen(Understood(self.state.pending, commands, 0))

    def valid(self, value: Json) -> Talker:
        return self.happen(Validated(self.state.pending, value, 0))

    def invalid(self, reason: str = "") -> Talker:
        return self.happen(Rejected(self.state.pending, reason, 0))

    def done(self, needs: tuple[str, ...] = (), confirm: str = "", **outputs: Json) -> Talker:
        return self.happen(ActionDone(self.state.pending, tuple(outputs.items()), 0, needs, confirm))

    def fails(self, kind: str = "TimeoutError", message: str = "it took too long") -> Talker:
        return self.happen(WorkFailed(self.state.pending, kind, message, 0))

    # -- What came of the last event

    @property
    def phase(self) -> str:
        return self.state.phase.value

    @property
    def said(self) -> str:
        return " ".join(effect.text for effect in self.effects if isinstance(effect, Respond))

    @property
    def runs(self) -> list[RunAction]:
        return [effect for effect in self.effects if isinstance(effect, RunAction)]

    @property
    def asked_nlu(self) -> bool:
        return any(isinstance(effect, Understand) for effect in self.effects)

    @property
    def checks(self) -> Validate:
        return next(effect for effect in self.effects if isinstance(effect, Validate))

    @property
    def slots(self) -> dict[str, Json]:
        return self.state.slots

    @property
    def step(self) -> str:
        assert self.state.top is not None
        return self.domain.flows[self.state.top.flow].program[self.state.top.at].step


def talk(*program: Instruction, slots: tuple[SlotSpec, ...] = (), **given: Json) -> Talker:
    """A dialogue about one flow, begun by the program."""
    return Talker(domain(flow("task", *program), slots=slots)).starts("task", **given)


def number(name: str, **more: object) -> SlotSpec:
    return replace(SlotSpec(name, SlotKind.NUMBER, f"{name}?"), **more)  # type: ignore[arg-type]


def choice(name: str, *values: str, **more: object) -> SlotSpec:
    spec = SlotSpec(name, SlotKind.CHOICE, f"{name}?", choices=tuple(Choice(value) for value in values))
    return replace(spec, **more)  # type: ignore[arg-type]


SIZE = choice("size", "small", "large")
COLOUR = choice("colour", "red", "blue")
AMOUNT = number("amount")

# The flight booking of 002.
FLIGHTS = domain(
    flow(
        "book_flight",
        Collect("collect_origin", "origin"),
        Collect("collect_destination", "destination"),
        Collect("collect_date", "departure_date"),
        PerformAction("search_flights", "search_flights", outputs=(("booking_ref", "booking_ref"),)),
        SayText("booked", "Your flight is booked! Booking reference: {booking_ref}"),
    ),
    slots=(
        SlotSpec("origin", SlotKind.NAME, "Where would you like to fly from?", validator="city_name"),
        SlotSpec("destination", SlotKind.NAME, "Where would you like to fly to?", validator="city_name"),
        SlotSpec("departure_date", SlotKind.DATE, "When would you like to depart?", validator="future", prefers="last"),
    ),
)

# A bank transfer: validated, confirmed, with something that depends on what was corrected.
TRANSFER = domain(
    flow(
        "transfer",
        Collect("to", "to"),
        Collect("account", "account"),
        Collect("amount", "amount"),
        JumpUnless("large", parse("amount > 100"), 5),
        Collect("reason", "reason"),
        Confirm("sure", "Send {amount} to {to}?"),
        PerformAction("send", "send", ("to", "account", "amount"), (("ref", "ref"),), "One moment."),
        SayText("sent", "Done: {ref}."),
        completed="Anything else?",
    ),
    flow("balance", PerformAction("balance", "balance"), SayText("told", "You have {left}.")),
    flow("hours", SayText("hours", "We are open from nine to five.")),
    slots=(
        SlotSpec("to", SlotKind.NAME, "To whom?"),
        SlotSpec("account", SlotKind.CODE, "Which account?", depends_on=("to",)),
        SlotSpec("amount", SlotKind.NUMBER, "How much?", validator="enough"),
        SlotSpec("reason", SlotKind.TEXT, "What for?", is_optional=True),
    ),
)


def at_amount() -> Talker:
    """A transfer, asked how much."""
    return Talker(TRANSFER).starts("transfer").says("Anna", "A B 1 2")


def at_confirmation() -> Talker:
    """A transfer of fifty, asked whether to send it."""
    return at_amount().says("fifty").valid(50)
