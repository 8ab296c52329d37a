"""Shares the results of one profile's exploration that also hold in the other profiles.

The profiles differ in a few settings, and few steps read them. All explorations that share their steps use one settings
object, which has the values of the profile that is explored now, and notes when a value is read in which the profiles
differ. Within a profile, too, a step is made once for all states that look the same to it (`outcomes`). Rule: a step is
shared only if nothing that made or checked it has read such a value.
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
    """The steps from one state, in the order in which they are explored. A step without a target has read a value in
    which the profiles differ, so every profile makes it again."""

    events: tuple[Event, ...]
    targets: tuple[State | None, ...]


class SharedSteps:
    """The steps of every state that was explored in one of these profiles."""

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
        """Forget everything. The settings refer to this object, so without a garbage collection it would stay."""
        self._known.clear()
        self._targets.clear()
        self.outcomes = KnownOutcomes()

    def find(self, s: State) -> KnownSteps | None:
        return self._known.get(s)

    def put(self, s: State, steps: list[tuple[Event, State | None]]) -> None:
        """Share the steps from this state. Equal targets are stored once."""
        if self._is_alone:
            return
        targets = tuple(target and self._targets.setdefault(target, target) for _, target in steps)
        self._known[s] = KnownSteps(tuple(event for event, _ in steps), targets)

    def _settings_like(self, profile: Settings, names: Iterable[str]) -> Settings:
        """Settings that are equal only to themselves, so that a state is the same value in every profile."""
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
