"""One step of a dialogue as the laws see it: the state before, the event, the state after and the effects.

Rule: a law reads states, events and effects, and from the trace only moves and confirmations. It never depends
on how the machine works inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from duologue.dialogue.commands import Back, Command, Restart
from duologue.dialogue.effects import DialogueEffect, Respond, RunAction, Understand, Validate
from duologue.dialogue.events import DialogueEvent, Understood, UserMessage
from duologue.dialogue.flow import Domain, Instruction, PerformAction
from duologue.dialogue.language.readings import Json
from duologue.dialogue.state import DialogueState, Instance, Phase, values_of

_PHASES = {phase.value: phase for phase in Phase}


@dataclass(frozen=True)
class ObservedStep:
    """One step. `before.trace` must be empty, so that `after.trace` shows only what happened in this step."""

    domain: Domain
    before: DialogueState
    event: DialogueEvent
    after: DialogueState
    effects: tuple[DialogueEffect, ...]

    @cached_property
    def requests(self) -> list[Understand | Validate | RunAction]:
        return [effect for effect in self.effects if isinstance(effect, Understand | Validate | RunAction)]

    @cached_property
    def runs(self) -> list[RunAction]:
        return [effect for effect in self.effects if isinstance(effect, RunAction)]

    @cached_property
    def said(self) -> list[Respond]:
        return [effect for effect in self.effects if isinstance(effect, Respond)]

    @property
    def commands(self) -> tuple[Command, ...]:
        return self.event.commands if isinstance(self.event, Understood) else ()

    @cached_property
    def moves(self) -> list[tuple[Phase, Phase]]:
        lines = (dict(line.data) for line in self.after.trace if line.event == "transition")
        return [(_PHASES[line["before"]], _PHASES[line["after"]]) for line in lines]

    @cached_property
    def confirmed(self) -> list[str]:
        """The names of the flow steps that the user said yes to."""
        return [dict(line.data)["step"] for line in self.after.trace if line.event == "confirmed"]

    @property
    def heard(self) -> tuple[str, ...]:
        """Every message that this step may have processed: the queued messages, and the message of the event."""
        return (*self.before.queue, *((self.event.text,) if isinstance(self.event, UserMessage) else ()))

    def _command_in(self, text: str) -> str | None:
        pack = self.domain.pack
        return pack.signs.command_of(pack.words.tokens_of(text))

    @cached_property
    def goes_back(self) -> bool:
        said = any(self._command_in(text) == "back" for text in self.heard)
        return said or any(isinstance(command, Back) for command in self.commands)

    @cached_property
    def restarts(self) -> bool:
        said = any(self._command_in(text) == "restart" for text in self.heard)
        return said or any(isinstance(command, Restart) for command in self.commands)

    def pairs(self) -> Iterator[tuple[Instance, Instance | None]]:
        """Pairs for all flow instances that were open before the step: the instance before the step, and the same
        instance after the step. The second value is None if the instance has ended."""
        after = {one.id: one for one in self.after.stack}
        for one in self.before.stack:
            yield one, after.get(one.id)


def at_of(domain: Domain, instance: Instance) -> Instruction:
    return domain.flows[instance.flow].program[instance.at]


def used_by(act: PerformAction, instance: Instance) -> dict[str, Json]:
    """The filled slots that an action gets, with their values. An action that names no slots gets all of them."""
    values = values_of(instance.slots)
    return {name: value for name, value in values.items() if not act.slots or name in act.slots}


def changed_in(before: Instance, after: Instance) -> set[str]:
    """The slots that had a value before, and have another value or no value after."""
    new = values_of(after.slots)
    return {name for name, value in values_of(before.slots).items() if name not in new or new[name] != value}


def dependants(domain: Domain, names: set[str]) -> set[str]:
    """Every slot that depends on one of these slots, directly or through other slots."""
    found: set[str] = set()
    while True:
        near = {name for name, spec in domain.slots.items() if (names | found) & set(spec.depends_on)} - found
        if not near:
            return found
        found |= near
