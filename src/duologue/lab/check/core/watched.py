"""A state that notes which of its fields are read, and a draft on such a state.

A step and its checks read only a few fields of the state. In every state that has the same values in these fields, the
step is the same. A watched value is a layer over another value. It holds the fields that were written, and gets any
other field from the layer below when the field is first needed. Rule: every read that reaches the state below all
layers is noted, in the order of the first reads. Reads of fields whose value the caller knows anyway (`KNOWN`) are not
noted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from duologue.core.draft import Draft
from duologue.core.leaves import TIMERS
from duologue.core.state import State

if TYPE_CHECKING:
    from duologue.core.deadlines import DeadlineOwners

Reads = dict[int, Any]  # each question that was asked about a state, and the answer, in the order of asking

_FIELDS = State._fields
_PLACES = {name: place for place, name in enumerate(_FIELDS)}
_DUE = _PLACES["due"]
_DUE_OF = len(_FIELDS)  # the question "when is the timer with this index due" is this number and the index
PROFILE = _DUE_OF + len(TIMERS)  # the question "which profile is explored"

_CONSTANT = ("settings", "at", "seq", "onset", "session_id", "reply_id", "voice_id", "content")  # in abstract states
_FAMILY = (
    "link", "user", "voice", "reply", "jobs", "turn", "said", "answered", "words", "cut", "cues", "paused", "says",
    "sign_at",
)  # fmt: skip
family_of = itemgetter(*(_PLACES[name] for name in _FAMILY))  # what nearly every step reads
_KNOWN = (*_CONSTANT, *_FAMILY, "call_id")  # the newest call of an abstract state is the number of its jobs
_known_of = itemgetter(*(_PLACES[name] for name in _KNOWN))
KNOWN = frozenset(_KNOWN)


def answers(s: State, profile: str) -> tuple[Any, ...]:
    """Everything that a step can ask about this state, with the answers: each field, each due time, and the profile."""
    return (*s, *s.due, profile)


class WatchedDues(dict[int, int]):
    """The due times of a watched layer, by the index of their timer."""

    __slots__ = ("base", "below", "reads")

    def __init__(self, base: tuple[int, ...], reads: Reads, below: WatchedDues | None = None) -> None:
        super().__init__()
        self.base = base
        self.reads = reads
        self.below = below

    def __missing__(self, index: int) -> int:
        if not 0 <= index < len(self.base):
            raise IndexError(f"no timer has the index {index}: read a due time by the index of its timer")
        if self.below is not None:
            due = self.below[index]
        else:
            due = self.reads[_DUE_OF + index] = self.base[index]
        self[index] = due
        return due

    def __iter__(self) -> Iterator[int]:
        return iter(self.all())

    def __reversed__(self) -> Iterator[int]:
        return reversed(self.all())

    def __contains__(self, due: object) -> bool:
        return due in self.all()

    def __len__(self) -> int:
        return len(self.base)

    def __repr__(self) -> str:
        return repr(self.all())

    def all(self) -> tuple[int, ...]:
        """All due times, in the order of the timers. Reading them all is noted as one question."""
        self.reads.setdefault(_DUE, self.base)
        return self.unnoted()

    def unnoted(self) -> tuple[int, ...]:
        if self.below is None:
            return self.base
        dues = list(self.below.unnoted())
        for index, due in self.items():
            dues[index] = due
        return tuple(dues)

    def __eq__(self, other: object) -> bool:
        """Are all due times the same? Only due times that some layer has are compared, because all others come from the
        same state below."""
        if isinstance(other, WatchedDues) and other.base is self.base:
            indexes = sorted({index for layer in (*self.layers(), *other.layers()) for index, _ in layer.items()})
            return all(self[index] == other[index] for index in indexes)
        return self.all() == (tuple(other) if isinstance(other, list | WatchedDues) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def layers(self) -> Iterator[WatchedDues]:
        layer: WatchedDues | None = self
        while layer is not None:
            yield layer
            layer = layer.below

    def changes(self) -> dict[int, int]:
        """The due times that were written in this layer and may differ from those in the layer below."""
        below = self.below
        return {} if below is None else {index: due for index, due in self.items() if below.get(index, -1) != due}


class WatchedState:
    """A layer over a state: the fields that were written, and those that were read."""

    def __init__(self, base: State, reads: Reads, below: WatchedState | None = None) -> None:
        fields = self.__dict__
        if below is None:
            fields.update(zip(_KNOWN, _known_of(base), strict=True))
            fields["due"] = WatchedDues(base.due, reads)
        fields.update(_base=base, _reads=reads, _below=below)

    def __getattr__(self, name: str) -> Any:
        """Get a field that this layer doesn't have yet, from the layer below or from the state."""
        place = _PLACES.get(name)
        if place is None:
            raise AttributeError(name)
        if self._below is not None:
            value = getattr(self._below, name)
        else:
            value = self._reads[place] = self._base[place]
        self.__dict__[name] = value
        return value

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return tuple(getattr(self, name) for name in _FIELDS[place])
        return getattr(self, _FIELDS[place])

    def __len__(self) -> int:
        return len(_FIELDS)

    def __repr__(self) -> str:
        """Shows all fields, so all of them are read."""
        return repr(State(*self))

    @property  # type: ignore[misc]
    def __class__(self) -> type[State]:  # type: ignore[override]
        """The class of states, so that `isinstance` and `match` treat this object as a state."""
        return State

    def _replace(self, **changes: Any) -> WatchedState:
        layer = WatchedState(self._base, self._reads, self)
        layer.__dict__.update(changes)
        return layer

    def __eq__(self, other: object) -> bool:
        """Are both the same state? Only fields that some layer has written are compared, because all others come from
        the same state below."""
        if type(other) is not WatchedState or other._base is not self._base:
            return isinstance(other, tuple) and tuple(self) == tuple(other)
        names = {name for layer in (*self._layers(), *other._layers()) for name in layer._written()}
        return all(getattr(self, name) == getattr(other, name) for name in _FIELDS if name in names)

    __hash__ = None  # type: ignore[assignment]

    def _layers(self) -> Iterator[WatchedState]:
        layer: WatchedState | None = self
        while layer is not None:
            yield layer
            layer = layer._below

    def _written(self) -> Iterator[str]:
        """The names of the fields whose value here differs from the value in the layer below, or that the layer below
        doesn't have."""
        if self._below is not None:
            below = self._below.__dict__
            yield from (name for name, value in self.__dict__.items() if name not in below or below[name] is not value)

    def unwatched(self) -> State:
        """The same state, as an ordinary value. Nothing is noted."""
        values = list(self._base)
        for layer in reversed(tuple(self._layers())):
            for name, value in layer.__dict__.items():
                if name in _PLACES:
                    values[_PLACES[name]] = value.unnoted() if isinstance(value, WatchedDues) else value
        return tuple.__new__(State, values)

    def changes(self) -> tuple[dict[int, Any], dict[int, int]]:
        """What was written in this layer: fields by their index in a state, and due times by the index of their
        timer."""
        below = self._below.__dict__
        found = {
            _PLACES[name]: value
            for name, value in self.__dict__.items()
            if name in _PLACES and name != "due" and (name not in below or below[name] is not value)
        }
        due = self.due
        return found, due.changes() if isinstance(due, WatchedDues) else dict(enumerate(due))


Sequence.register(WatchedState)  # a state is a tuple, and `match` may take it apart like one


class WatchedDraft:
    """A draft on a watched state. It begins with the fields that the watched state already holds. Any other field is
    read from the watched state when it is first needed."""

    def __init__(self, s: Any, owners: DeadlineOwners, at: int) -> None:
        self.__dict__.update(s.__dict__)
        self.before = s
        self.owners = owners
        self.effects: list[Any] = []
        self.fired: list[int] = []
        self.at = at
        due = s.due
        self.due: Any = WatchedDues(due.base, due.reads, due)

    @property  # type: ignore[misc]
    def __class__(self) -> type[Draft]:  # type: ignore[override]
        """The class of drafts, so that `isinstance` treats this object as a draft."""
        return Draft

    def __getattr__(self, name: str) -> Any:
        if name not in _PLACES:
            raise AttributeError(name)
        value = self.__dict__[name] = getattr(self.before, name)
        return value

    def build(self) -> Any:
        s = self.before
        after = WatchedState.__new__(WatchedState)
        fields = after.__dict__
        fields.update(self.__dict__)
        fields["_below"] = s
        for name in ("before", "owners", "effects", "fired"):
            del fields[name]
        if not isinstance(self.due, WatchedDues):
            due = fields["due"] = WatchedDues(s.due.base, s.due.reads, s.due)
            due.update(enumerate(self.due))
        return after


for _name, _member in vars(Draft).items():
    if callable(_member) and _name not in vars(WatchedDraft):
        setattr(WatchedDraft, _name, _member)
