"""Shares results between the explorations of several profiles, if the results hold in all of them.

The profiles differ in a few settings, and few steps read these settings. All explorations that share their steps use
one settings object. It has the values of the profile that is being explored. When a step or a check reads a value in
which the profiles differ, the settings object notes that. Within one profile, a step is also made only one time for all
states that look the same to it (see `outcomes`). Rule: a step is shared only if neither the step nor its checks have
read a value in which the profiles differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, NamedTuple

from duologue.core.events import Event
from duologue.core.settings import Settings
from duologue.core.state import State

from .outcomes import KnownOutcomes
from .watched import PROFILE, Reads


class KnownSteps(NamedTuple):
    """The steps from one state, in the order in which they are explored. If the target of a step is None, the step has
    read a value in which the profiles differ, and every profile makes this step again."""

    events: tuple[Event, ...]
    targets: tuple[State | None, ...]


class SharedSteps:
    """The steps from all states that were explored so far in one of these profiles."""

    def __init__(self, profiles: Iterable[Settings]) -> None:
        profiles = tuple(profiles)
        names = [field.name for field in fields(Settings)]
        self.differing = tuple(name for name in names if len({getattr(one, name) for one in profiles}) > 1)
        self.settings = self._settings_like(profiles[0], names)
        self.outcomes = KnownOutcomes()
        self.reads: Reads = {}  # of the step that is made now
        self._now = profiles[0]
        self._is_alone = len(profiles) == 1
        self._known: dict[State, KnownSteps] = {}
        self._targets: dict[State, State] = {}

    def begin(self, profile: Settings) -> None:
        """From now on, the settings have the values of this profile."""
        self._now = profile

    def forget(self) -> None:
        """Drop all stored steps and outcomes. They would otherwise stay in memory until the next garbage collection,
        because this object and the settings refer to each other."""
        self._known.clear()
        self._targets.clear()
        self.outcomes = KnownOutcomes()

    def find(self, s: State) -> KnownSteps | None:
        return self._known.get(s)

    def put(self, s: State, steps: list[tuple[Event, State | None]]) -> None:
        """Share the steps from this state. Targets that are equal are stored as one object."""
        if self._is_alone:
            return
        targets = tuple(target and self._targets.setdefault(target, target) for _, target in steps)
        self._known[s] = KnownSteps(tuple(event for event, _ in steps), targets)

    def _settings_like(self, profile: Settings, names: Iterable[str]) -> Settings:
        """The settings object that the explorations of all profiles share. Because it is the same object in all their
        states, states of different profiles are equal if everything else in them is equal."""
        watched: dict[str, Any] = {name: self._watched(name) for name in self.differing}
        same: dict[str, Any] = {"__slots__": (), "__eq__": object.__eq__, "__hash__": object.__hash__}
        settings: Settings = object.__new__(type("SharedSettings", (Settings,), {**same, **watched}))
        for name in names:
            vars(Settings)[name].__set__(settings, getattr(profile, name))
        return settings

    def _watched(self, name: str) -> property:
        def read(_: Settings) -> Any:
            self.reads.setdefault(PROFILE, self._now.name)
            return getattr(self._now, name)

        return property(read)
