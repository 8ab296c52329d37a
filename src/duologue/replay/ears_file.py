"""Reads an ear journal, and replays the hearing machine together with the journal of events.

The replay computes every decision of the hearing machine again. The journal of events must contain the same onsets,
texts and verdicts. Rule: an error names the line that is wrong. It says what was decided in the replay and what the
journal contains.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

from duologue.core import events as ev
from duologue.core.codec import digest
from duologue.core.errors import DuologueError
from duologue.core.leaves import CLOSED
from duologue.core.state import State
from duologue.core.step_record import StepRecord
from duologue.hearing.codec import input_from_json, policy_from_json, words_from_json
from duologue.hearing.inputs import CoreStepped, Input, Reported
from duologue.hearing.intents import HEARING_EVENTS, Intent, event_of
from duologue.hearing.machine import HEARING, HearingMachine
from duologue.hearing.policy import HearingPolicy
from duologue.hearing.state import HearingState, initial_hearing
from duologue.hearing.words import SaidWords
from duologue.observe.ears_writer import EARS_FORMAT, EARS_SCHEMA, start_of, sum_of
from duologue.ports.failure import BrokenContract
from duologue.runtime.ears_contract import check_report


class InvalidEars(DuologueError, ValueError):
    """An ear journal that can't be read, or that doesn't agree with the journal of events."""


class EarsEntry(NamedTuple):
    """One line of an ear journal: the line number, how many events came before the line, and the input."""

    line: int
    events: int
    input: Input


class EarsJournal(NamedTuple):
    """An ear journal: every input of the hearing machine in one conversation, and the settings that its decisions
    depend on."""

    policy: HearingPolicy | None  # None: its policy isn't part of Duologue
    words: SaidWords
    agent: str
    ears: dict[str, Any]
    entries: tuple[EarsEntry, ...]
    complete: bool = True
    start: str = ""  # identifies the journal of events to which it belongs
    end: tuple[int, str] | None = None  # how many events that journal has, and the digest at its end; None: not known
    is_redacted: bool = False  # its words are placeholders
    # Policies that took over later: after how many events each did, and the policy. None: it isn't part of Duologue.
    changes: tuple[tuple[int, HearingPolicy | None], ...] = ()
    unknown: str = ""  # the name of the first policy that isn't part of Duologue and wasn't given either


class HearingDecision(NamedTuple):
    """A decision of the hearing machine: the time of the input or step that led to the decision, the state after it,
    and the intents (the events that the hearing machine wants to send)."""

    at: int
    state: HearingState
    intents: tuple[Intent, ...]
    line: int = 0  # of the ear journal; 0: a step of the conversation machine led to it
    unverified: bool = False  # the journal has another decision, which may follow from words that are redacted


def read_ears(lines: Iterable[str], complete: bool = True, own: Sequence[HearingPolicy] = ()) -> EarsJournal:
    """Read an ear journal. Raises InvalidEars, whose message names the first line that is wrong. If `complete` is
    False, the end line may be missing, and an incomplete last line is ignored. A journal contains only the name of a
    policy that isn't part of Duologue; the policy itself is taken from `own`."""
    checked = checked_lines(lines, complete)
    header = next(checked, (1, {}))[1]
    policy, words = _read_header(header, own)
    unknown = _unknown_policy(header, own)
    entries: list[EarsEntry] = []
    changes: list[tuple[int, HearingPolicy | None]] = []
    end: tuple[int, str] | None = None
    for number, data in checked:
        if end is not None:
            raise InvalidEars(f"line {number}: unexpected line after the end")
        if "end" in data:
            if data["end"] != len(entries):
                raise InvalidEars(
                    f"line {number}: the end line counts {data['end']} inputs, but there are {len(entries)}"
                )
            end = (data.get("events", 0), data.get("digest", ""))
        elif "policy" in data:
            changes.append(_change(number, data, changes, own))
            unknown = unknown or _unknown_policy(data, own)
        else:
            entries.append(_entry(number, data, entries[-1] if entries else None))
    if complete and end is None:
        raise InvalidEars(f"truncated: no end line after input {len(entries)}")
    about = (header.get("agent", ""), header.get("ears", {}))
    is_redacted = header.get("redacted") is True
    return EarsJournal(
        policy,
        words,
        *about,
        tuple(entries),
        end is not None,
        header.get("start", ""),
        end,
        is_redacted,
        tuple(changes),
        unknown,
    )


def checked_lines(lines: Iterable[str], complete: bool) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines as JSON objects, each with its line number. The format and the checksums are checked. If `complete` is
    False, an incomplete last line is ignored."""
    numbered = enumerate(lines, start=1)
    known = ""
    for number, text in numbered:
        try:
            data = _parse(number, text)
        except InvalidEars:
            if number == 1 or complete or text.endswith("\n") or next(numbered, None):
                raise
            return
        if number == 1:
            _check_format(data)
        given = data.pop("sum", None)
        known = sum_of(known, data)
        if given != known:
            raise InvalidEars(f"line {number}: the line was changed, or a line before it is missing (wrong checksum)")
        yield number, data


def _parse(number: int, text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidEars(
            f"line {number}: not JSON{', the line is cut off' if not text.endswith(chr(10)) else ''}"
        ) from None
    if not isinstance(data, dict):
        raise InvalidEars(f"line {number}: expected a JSON object")
    return data


def _check_format(header: dict[str, Any]) -> None:
    if header.get("format") != EARS_FORMAT:
        raise InvalidEars("line 1: not an ear journal of Duologue")
    if header.get("schema") != EARS_SCHEMA:
        raise InvalidEars(
            f"line 1: the file has schema {header.get('schema')!r}, but this version reads only {EARS_SCHEMA}"
        )


def _read_header(header: dict[str, Any], own: Sequence[HearingPolicy]) -> tuple[HearingPolicy | None, SaidWords]:
    if not header:
        raise InvalidEars("line 1: the file is empty")
    try:
        words = words_from_json(header.get("words"))
    except DuologueError as error:
        raise InvalidEars(f"line 1: {error}") from None
    return _read_policy(header, own), words


def _read_policy(data: dict[str, Any], own: Sequence[HearingPolicy]) -> HearingPolicy | None:
    given, missing = data.get("policy"), _own_parts(data)
    if not isinstance(given, dict) or _unknown_policy(data, own):
        return None
    try:
        policy: HearingPolicy = policy_from_json({key: value for key, value in given.items() if key not in missing})
    except DuologueError:
        return None
    return replace(policy, **{part: _with_name(name, part, own) for part, name in missing.items()})


def _own_parts(data: dict[str, Any]) -> dict[str, str]:
    """The parts of this policy that aren't a part of Duologue, with the names of their classes."""
    given = data.get("policy")
    parts = {part: given.get(part) for part in ("endpoint", "overlap")} if isinstance(given, dict) else {}
    return {part: str(one.get("policy")) for part, one in parts.items() if isinstance(one, dict) and "own" in one}


def _with_name(name: str, part: str, own: Sequence[HearingPolicy]) -> Any:
    """The first of these policies whose class has this name. None if no class has it."""
    return next((found for one in own if type(found := getattr(one, part)).__name__ == name), None)


def _unknown_policy(data: dict[str, Any], own: Sequence[HearingPolicy]) -> str:
    return next((name for part, name in _own_parts(data).items() if _with_name(name, part, own) is None), "")


def _change(
    number: int,
    data: dict[str, Any],
    before: list[tuple[int, HearingPolicy | None]],
    own: Sequence[HearingPolicy],
) -> tuple[int, HearingPolicy | None]:
    events, least = data.get("n"), before[-1][0] if before else 0
    if type(events) is not int or events < least:
        raise InvalidEars(f"line {number}: `n` must be the number of events before this line, at least {least}")
    return events, _read_policy(data, own)


def _entry(number: int, data: dict[str, Any], before: EarsEntry | None) -> EarsEntry:
    events = data.pop("n", None)
    least = before.events if before is not None else 0
    if type(events) is not int or events < least:
        raise InvalidEars(f"line {number}: `n` must be the number of events before this line, at least {least}")
    try:
        i = input_from_json(data)
        if isinstance(i, Reported):
            check_report(i.heard)
    except (DuologueError, BrokenContract) as error:
        raise InvalidEars(f"line {number}: {error}") from None
    if before is not None and i.at < before.input.at:
        raise InvalidEars(
            f"line {number}: the time {i.at} ms is before {before.input.at} ms, the time of the line before"
        )
    return EarsEntry(number, events, i)


# -- Replaying


def replay_ears(
    ears: EarsJournal,
    start: State,
    records: Sequence[StepRecord],
    machine: HearingMachine = HEARING,
    complete: bool = True,
) -> Iterator[HearingDecision]:
    """Compute all decisions again, and compare them with the journal of events. Raises InvalidEars at the first
    difference. If the ear journal is redacted, a decision that differs is only marked as `unverified`. If a crash has
    cut off the journal of events, set `complete` to False: the last decisions may then be missing in it."""
    if ears.policy is None or any(policy is None for _, policy in ears.changes):
        what = f"the policy {ears.unknown!r}" if ears.unknown else "the policy of this conversation"
        raise InvalidEars(
            f"{what} isn't part of Duologue: name an agent that has it, as in "
            "`duologue replay FILE --agent module:agent`"
        )
    _check_pair(ears, start, records)
    s = initial_hearing(start, ears.words)
    left = list(reversed(ears.entries))
    told = _Told(ears.is_redacted)
    policy, changes = ears.policy, list(reversed(ears.changes))
    for count, record in enumerate(records):
        while changes and changes[-1][0] <= count:
            policy = changes.pop()[1] or policy
        while left and left[-1].events <= count:
            s, decision = _decide(machine, policy, s, left.pop(), records, told)
            yield decision
        unverified = told.compare(record.event, count + 2) if isinstance(record.event, HEARING_EVENTS) else False
        if record.after is not record.before:
            s, intents = machine.step(policy, s, CoreStepped(record.event.at, record))
            told.follow(intents)
            if intents or unverified:
                yield HearingDecision(record.event.at, s, intents, 0, unverified)
    while left and left[-1].events <= len(records):
        s, decision = _decide(machine, policy, s, left.pop(), records, told)
        yield decision
    if complete and left:
        raise InvalidEars(f"line {left[-1].line}: `n` is {left[-1].events}, but the journal has {len(records)} events")
    if complete and s.core.link not in CLOSED:
        told.finish()


def _decide(
    machine: HearingMachine,
    policy: HearingPolicy,
    s: HearingState,
    entry: EarsEntry,
    records: Sequence[StepRecord],
    told: _Told,
) -> tuple[HearingState, HearingDecision]:
    _check_time(entry, records)
    s, intents = machine.step(policy, s, entry.input)
    told.add(entry.line, intents)
    return s, HearingDecision(entry.input.at, s, intents, entry.line)


def _check_pair(ears: EarsJournal, start: State, records: Sequence[StepRecord]) -> None:
    """Raise InvalidEars unless the ear journal and the journal of events belong together."""
    if ears.start != start_of(start):
        raise InvalidEars(
            "line 1: the file belongs to another conversation or agent: its journal has other settings or begins in"
            " another state"
        )
    if ears.end is None:
        return
    last = records[-1].after if records else start
    if ears.end != (len(records), digest(last)):
        raise InvalidEars(
            f"the file belongs to another conversation: its journal has {ears.end[0]} events and ends with the digest"
            f" {ears.end[1]}, but this journal has {len(records)} events and ends with {digest(last)}"
        )


def _check_time(entry: EarsEntry, records: Sequence[StepRecord]) -> None:
    before = records[entry.events - 1].event.at if entry.events else 0
    after = records[entry.events].event.at if entry.events < len(records) else entry.input.at
    if not before <= entry.input.at <= after:
        raise InvalidEars(
            f"line {entry.line}: the time {entry.input.at} ms doesn't lie between the events around it,"
            f" {before} and {after} ms"
        )


class _Told:
    """Decisions (intents) of the replay that haven't been found in the journal of events yet. As in a running
    conversation, decisions that follow from a step come before decisions that follow from an input."""

    def __init__(self, is_redacted: bool) -> None:
        self._is_redacted = is_redacted
        self._by_inputs: deque[tuple[int, Intent]] = deque()
        self._by_steps: deque[tuple[int, Intent]] = deque()
        self._line = 1

    def add(self, line: int, intents: tuple[Intent, ...]) -> None:
        """Add the intents that follow from the input in this line of the ear journal."""
        self._line = line
        self._by_inputs += [(line, intent) for intent in intents]

    def follow(self, intents: tuple[Intent, ...]) -> None:
        """Add the intents that follow from a step of the conversation machine."""
        self._by_steps += [(self._line, intent) for intent in intents]

    def compare(self, event: ev.Event, line: int) -> bool:
        """Check that the next decision of the replay agrees with this event. `line` is the event's line in the journal
        of events. Raises InvalidEars if they differ. If they differ in a journal whose words are redacted, returns True
        instead, which means that the event is unverified."""
        if self._is_redacted:
            return not any(_drop_until(decided, event) for decided in (self._by_steps, self._by_inputs))
        decided = self._by_steps or self._by_inputs
        if not decided:
            raise InvalidEars(
                f"line {self._line}: {type(event).__name__} is in line {line} of the journal,"
                " but the replay made no such decision"
            )
        number, intent = decided.popleft()
        if not _is_same(intent, event):
            kind, given = event_of(intent)
            raise InvalidEars(
                f"line {number}: the replay decided {kind.__name__} {given}, but line {line} of the journal has {event}"
            )
        return False

    def finish(self) -> None:
        """Raise InvalidEars if a decision is left that isn't in the journal of events. Call this at the end of the
        journal."""
        for number, intent in (*self._by_steps, *self._by_inputs) if not self._is_redacted else ():
            kind = event_of(intent)[0]
            raise InvalidEars(f"line {number}: the replay decided {kind.__name__}, which isn't in the journal")


def _drop_until(decided: deque[tuple[int, Intent]], event: ev.Event) -> bool:
    """Remove the decision that led to this event, and all decisions before it. Returns False and removes nothing if no
    decision led to this event."""
    for place, (_, intent) in enumerate(decided):
        if _is_same(intent, event):
            for _ in range(place + 1):
                decided.popleft()
            return True
    return False


def _is_same(intent: Intent, event: ev.Event) -> bool:
    kind, given = event_of(intent)
    names = {one.name for one in fields(event)}
    return kind is type(event) and all(getattr(event, name) == value for name, value in given.items() if name in names)
