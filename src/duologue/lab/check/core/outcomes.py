"""Stores the outcomes of steps and checks, so that a step or a check isn't repeated in states where its outcome would
be the same.

For each event there is a tree of questions about the state (such as "which value does this field have?"), in the order
in which the step asks them. The leaves of the tree are the outcomes. A step depends on nothing but the answers, so the
answers so far determine the next question. Rule: an outcome is stored only if no law and no promise was broken.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

from duologue.core.events import Event
from duologue.core.state import State

from .abstract import AbstractChange
from .watched import PROFILE, Reads, WatchedState, family_of

Leaf = TypeVar("Leaf")


class StepOutcome(NamedTuple):
    """The outcome of a step (what it changes), or of a check that found nothing wrong."""

    steps: int  # how many steps were made to find out
    by_profile: bool  # a value was read in which the profiles differ
    change: AbstractChange | None = None  # None: the event is ignored


def outcome_of(after: WatchedState | None, reads: Reads, steps: int) -> StepOutcome:
    """The outcome of a step or of a check. `after` is the state after the step. It is None if the event was ignored, or
    if this is the outcome of a check."""
    if after is None:
        return StepOutcome(steps, PROFILE in reads)
    return StepOutcome(steps, PROFILE in reads, AbstractChange(*after.changes()))


class StateQuestion(Generic[Leaf]):
    """One question about the state, and what follows from each answer: the next question, or a leaf."""

    __slots__ = ("answers", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        self.answers: dict[Any, StateQuestion[Leaf] | Leaf] = {}


class Tree(Generic[Leaf]):
    """The known outcomes of one event, or of one check of a state, as a tree of questions."""

    __slots__ = ("first",)

    def __init__(self) -> None:
        self.first: StateQuestion[Leaf] | Leaf | None = None

    def find(self, answers: tuple[Any, ...]) -> Leaf | None:
        """The leaf for a state with these answers, or None if it isn't known."""
        found: Any = self.first
        while found.__class__ is StateQuestion:
            found = found.answers.get(answers[found.number])
        return found  # type: ignore[no-any-return]

    def put(self, reads: Reads, leaf: Leaf) -> None:
        """Store this leaf at the end of the path that these questions and answers describe."""
        if not reads:
            self.first = leaf
            return
        asked = list(reads.items())
        self.first = self.first or StateQuestion(asked[0][0])
        here: Any = self.first
        for (number, answer), (following, _) in pairwise(asked):
            assert here.number == number, "the same answers lead to the same question"
            here = here.answers.setdefault(answer, StateQuestion(following))
        number, answer = asked[-1]
        assert here.number == number, "the same answers lead to the same question"
        here.answers[answer] = leaf


class KnownEvents:
    """The events that may happen in a state, each with the outcomes that are known for it. From the second visit on,
    events that are known to be ignored in all states of the same family (see `Family`) are left out."""

    __slots__ = ("idle_steps", "moves", "visits")

    def __init__(self, moves: list[tuple[Event, Tree[StepOutcome]]]) -> None:
        self.moves = moves
        self.idle_steps = 0
        self.visits = 0

    def visit(self) -> list[tuple[Event, Tree[StepOutcome]]]:
        """Count a visit, and return the events to try in this state. From the second visit on, events that are known to
        be ignored are left out."""
        self.visits += 1
        if self.visits == _COMPACTED_AT:
            self.idle_steps = sum(_idle_steps(tree) for _, tree in self.moves)
            self.moves = [(event, tree) for event, tree in self.moves if not _idle_steps(tree)]
        return self.moves


_COMPACTED_AT = 2


def _idle_steps(tree: Tree[StepOutcome]) -> int:
    """If it is known that the event is ignored in every state of this family, the number of steps that were made to
    find this out; otherwise 0."""
    found = tree.first
    is_idle = isinstance(found, StepOutcome) and found.change is None and not found.by_profile
    return found.steps if is_idle and isinstance(found, StepOutcome) else 0


class Family:
    """What is known about a family of states. A family consists of all states with the same values in those fields that
    nearly every step reads."""

    def __init__(self) -> None:
        self.alphabet: Tree[KnownEvents] = Tree()
        self.state: Tree[StepOutcome] = Tree()  # the checks of one state
        self.stale: Tree[StepOutcome] = Tree()  # the stale events
        self._steps: dict[Event, Tree[StepOutcome]] = {}

    def of(self, event: Event) -> Tree[StepOutcome]:
        """The tree of outcomes that are known for this event. It is empty for a new event."""
        return self._steps.setdefault(event, Tree())


class KnownOutcomes:
    """The outcomes of all steps and checks that were made so far. All profiles that are explored together (see
    `sharing`) use one such object."""

    def __init__(self) -> None:
        self._families: dict[tuple[Any, ...], Family] = {}

    def family(self, s: State) -> Family:
        key = family_of(s)
        found = self._families.get(key)
        if found is None:
            found = self._families[key] = Family()
        return found
