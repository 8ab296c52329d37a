"""Random dialogues, checked by the laws that the explorer uses.

Simulated users answer, correct, digress, cancel, mumble and stay silent. Simulated workers fail, time out and ask for
more. The explorer runs the machine on simplified states; here it runs on complete states. Now and then a crash is
simulated, and the dialogue continues from a checkpoint. Rule: the domain and the seed determine the whole dialogue.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from duologue.dialogue.codec import from_json, to_json
from duologue.dialogue.commands import StartFlow
from duologue.dialogue.events import DialogueEvent, FlowRequested, NothingSaid, Understood, UserMessage, WorkFailed
from duologue.dialogue.flow import Domain
from duologue.dialogue.machine import step
from duologue.dialogue.requests import request_of
from duologue.dialogue.state import BUSY, DialogueState, Phase
from duologue.lab.check.dialogue.abstract import Given
from duologue.lab.check.dialogue.alphabet import TODAY, Alphabet, alphabet_of, said_of
from duologue.lab.check.dialogue.check import Stepper, named
from duologue.lab.check.dialogue.confirmed_once import LAW, account
from duologue.lab.check.dialogue.laws import complaints
from duologue.lab.check.dialogue.messages import messages_of
from duologue.lab.check.dialogue.observed_step import ObservedStep
from duologue.lab.check.dialogue.state_laws import a_checkpoint_restores_the_same_state, state_complaints

CANCELS_MAX = 60  # enough to leave everything that may be open
MUMBLES = (
    "",
    "uh",
    "hm I mean the thing you know",
    "\x00\x01\x02\xff\x00",
    "東京へ at sechs Uhr مرحبا",
    "{amount} {flow}",
    "no yes no",
    "blah " * 1000,
)


@dataclass(frozen=True, slots=True)
class Manner:
    """How a user talks: the relative frequency of each kind of message."""

    answers: int = 50
    corrects: int = 8
    commands: int = 6
    strays: int = 8  # messages for NLU
    mumbles: int = 4
    is_silent: int = 4
    interrupts_pct: int = 5  # chance of a message while a request is running
    fails_pct: int = 8  # chance that a request fails


MANNERS = (
    Manner(),
    Manner(answers=20, corrects=30),
    Manner(commands=30, strays=30),
    Manner(mumbles=30, is_silent=30),
    Manner(interrupts_pct=40, fails_pct=30),
)


@dataclass(slots=True)
class Dialogue:
    """The course of one dialogue."""

    seed: int
    events: list[DialogueEvent] = field(default_factory=list)
    state: DialogueState = field(default_factory=DialogueState)
    complaints: list[tuple[str, str, int]] = field(default_factory=list)  # law, violation, number of events before it
    actions: int = 0
    completed: int = 0  # flows that reached their end
    reached: set[tuple[str, str]] = field(default_factory=set)  # flow and step, where the dialogue waited

    def described(self, law: str = "") -> list[str]:
        """The events up to the first violation (of `law`, if it is given), one line each."""
        until = next((at for name, _, at in self.complaints if not law or name == law), len(self.events))
        return [named(event) for event in self.events[:until]]


def random_dialogue(
    domain: Domain, seed: int, *, turns: int = 20, alphabet: Alphabet | None = None, stepper: Stepper = step
) -> Dialogue:
    """Play one dialogue and check the laws. `complaints` is empty if no law was broken."""
    return DialoguePlayer(alphabet or alphabet_of(domain), seed, stepper).play(turns)


class DialoguePlayer:
    """Plays both sides of one dialogue."""

    def __init__(self, alphabet: Alphabet, seed: int, stepper: Stepper) -> None:
        self.alphabet = alphabet
        self.domain = alphabet.domain
        self.messages = messages_of(alphabet.domain.language)
        self.dice = random.Random(seed)
        self.stepper = stepper
        self.manner = self.dice.choice(MANNERS)
        self.dialogue = Dialogue(seed)
        self.state = DialogueState()
        self.given: Given = frozenset()
        self.now = 0

    def play(self, turns: int) -> Dialogue:
        is_over = False
        for _ in range(turns):
            is_over = not self._happen(self._next())
            if is_over:
                break
        if not is_over:
            self._leave()
        self.dialogue.state = self.state
        return self.dialogue

    def _leave(self) -> None:
        """Check that the user can leave every open flow by saying cancel repeatedly."""
        for _ in range(CANCELS_MAX):
            if self.state.phase is Phase.IDLE:
                return
            wanted = request_of(self.domain, self.state)
            event: DialogueEvent = UserMessage(self.messages.common[2], self.now, TODAY)
            if wanted is not None:
                event = WorkFailed(wanted.request, "TimeoutError", "it took too long", self.now)
            if not self._happen(event):
                return
        self._complain("cancel leads to rest", "repeated cancel never leads to idle")

    # -- What happens next

    def _next(self) -> DialogueEvent:
        self.now += self.dice.randrange(1, 5_000)
        if self.state.phase in BUSY:
            if self._chance(self.manner.interrupts_pct):
                return UserMessage(self._text(), self.now, TODAY)
            return self._worked()
        if self._chance(2):
            return self.dice.choice(self.alphabet.stale())
        if self.state.phase is Phase.IDLE and self._chance(30):
            return FlowRequested(self.dice.choice([flow.name for flow in self.domain.written_flows]), self.now)
        return self._said()

    def _chance(self, percent: int) -> bool:
        return self.dice.randrange(100) < percent

    def _said(self) -> DialogueEvent:
        manner = self.manner
        kinds = ("answer", "correction", "command", "stray", "mumble", "silence")
        weights = (manner.answers, manner.corrects, manner.commands, manner.strays, manner.mumbles, manner.is_silent)
        match self.dice.choices(kinds, weights)[0]:
            case "answer":
                return UserMessage(self._text(), self.now, TODAY)
            case "correction":
                return UserMessage(self._one_of(list(self.alphabet.corrections(self.state))), self.now, TODAY)
            case "command":
                return UserMessage(
                    self.dice.choice((*self.messages.common, self.messages.for_nlu, "")), self.now, TODAY
                )
            case "mumble":
                return UserMessage(self.dice.choice(MUMBLES), self.now, TODAY)
            case "silence":
                return NothingSaid(self.now)
        return UserMessage(self.messages.for_nlu, self.now, TODAY)

    def _text(self) -> str:
        """A message that answers the open question. Most of the messages are plain answers."""
        state = self.state
        if state.phase is Phase.CONFIRMING or state.reading_back:
            yes, no = self.messages.common[:2]
            return self.dice.choice((yes, yes, f"{yes} {yes}", no))
        if state.waiting_for is not None and not state.among and self._chance(80):
            spec = self.domain.slots[state.waiting_for]
            ends = ("that's all",) * 2 if spec.items else ()
            return self._one_of((*said_of(spec, self.domain), *ends))
        return self._one_of(list(self.alphabet.texts(state)))

    def _one_of(self, texts: Sequence[str]) -> str:
        return self.dice.choice(texts) if texts else self.messages.for_nlu

    def _worked(self) -> DialogueEvent:
        wanted = request_of(self.domain, self.state)
        assert wanted is not None, self.state
        if self._chance(self.manner.fails_pct):
            return WorkFailed(wanted.request, "TimeoutError", "it took too long", self.now)
        answers = list(self.alphabet.workers(self.state))[:-1]
        if not self.state.stack and self._chance(70):
            answers = [answer for answer in answers if _starts(answer)] or answers
        answer = (
            answers[0] if self._chance(70) and not isinstance(answers[0], Understood) else self.dice.choice(answers)
        )
        return replace(answer, at=self.now)

    # -- Applying one event

    def _happen(self, event: DialogueEvent) -> bool:
        """Apply an event and check the laws. Returns whether the dialogue can go on: True if no law was broken so
        far."""
        self.dialogue.events.append(event)
        before = replace(self.state, trace=())
        try:
            after, effects = self.stepper(self.domain, before, event)
        except Exception as problem:  # noqa: BLE001 - any exception is a finding
            self._complain("a step never raises", f"{type(problem).__name__}: {problem}")
            return False
        if after is not before:
            self._judge(ObservedStep(self.domain, before, event, after, effects))
        self.state = after
        if self._chance(2):
            self._crash()
        return not self.dialogue.complaints

    def _judge(self, seen: ObservedStep) -> None:
        for law, message in complaints(seen):
            self._complain(law, message)
        self.given, wrong = account(seen, self.given)
        for message in wrong:
            self._complain(LAW, message)
        for law, message in state_complaints(self.domain, seen.after, without=(a_checkpoint_restores_the_same_state,)):
            self._complain(law, message)
        self.dialogue.actions += len(seen.runs)
        self.dialogue.completed += sum(line.event == "flow_completed" for line in seen.after.trace)
        programs = self.domain.flows
        self.dialogue.reached |= {(one.flow, programs[one.flow].program[one.at].step) for one in seen.after.stack}

    def _crash(self) -> None:
        """Simulate a crash: the dialogue continues from a checkpoint of its state, as in another process."""
        for message in a_checkpoint_restores_the_same_state(self.domain, self.state):
            self._complain("a checkpoint restores the same state", message)
        self.state = from_json(self.domain, json.loads(json.dumps(to_json(self.domain, self.state))))

    def _complain(self, law: str, message: str) -> None:
        self.dialogue.complaints.append((law, message, len(self.dialogue.events)))


def _starts(answer: DialogueEvent) -> bool:
    return isinstance(answer, Understood) and any(isinstance(command, StartFlow) for command in answer.commands)
