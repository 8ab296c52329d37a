"""A conversation as data: everything needed to continue it after a crash, in this process or in another.

The part "machine" holds ids, counts and times. The part "words" holds what was said. The long lists of "words" are
split into pages, stored as "words.0", "words.1" and so on. The words of a private conversation aren't saved. Rule: all
data is checked before any of it is used, and an error names what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from duologue.core.codec import canonical, event_to_json, settings_digest, state_from_json, state_to_json
from duologue.core.deadlines import has_unowned_timer
from duologue.core.errors import DuologueError
from duologue.core.events import Event
from duologue.core.leaves import Outcome
from duologue.core.settings import Settings
from duologue.core.state import State
from duologue.observe.metrics import Meter
from duologue.ports.history import AgentSaid, CallOutput, Item, News, Note, UserSaid
from duologue.ports.tool_call import ToolCall

from .call_data import DataNotSavable, data_from_json
from .receipts import HeardAnswer
from .transcript_pages import join_pages, page_name

SCHEMA = 3
CONTEXT_PART = "context"
SCHEMA_WITHOUT_PAGES = 1  # the whole transcript is in one part


class NotRestorable(DuologueError, ValueError):
    """A conversation can't be restored from the stored data. The message says why."""


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A tool call that was running when the conversation was saved."""

    call: int
    reply: int
    name: str
    arguments: dict[str, Any] | str
    id: str = ""
    partial: str = ""


@dataclass(frozen=True, slots=True)
class OpenSpeech:
    """A reply that was playing when the conversation was saved. Its ledger says how much of it was heard; `complete`
    says whether the ledger has the whole reply."""

    reply: int
    voice: int
    ledger: dict[str, Any] = field(default_factory=dict)
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Everything that is saved about one conversation."""

    state: State
    transcript: dict[str, Any]
    requests: dict[str, Any]
    calls: tuple[OpenCall, ...] = ()
    speech: OpenSpeech | None = None
    cut: OpenSpeech | None = None  # the newest interrupted reply; the client may still report that more of it was heard
    events: int = 0  # steps in the journal so far
    summary: tuple[str, int] = ("", 0)  # the brain's summary, and how many places of the history it covers
    metrics: dict[str, Any] | None = None  # what was counted so far; None if it wasn't saved
    cut_by_line: bool = False  # `cut` was interrupted because the line was lost
    context: dict[str, Any] = field(default_factory=dict)  # facts and data of the call, and which agent has it
    heard: tuple[HeardAnswer, ...] = ()  # answers whose turns aren't settled, as far as the client has heard them


# -- Writing


def machine_part(state: State, events: int, metrics: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "settings_digest": settings_digest(state.settings),
        "state": state_to_json(state),
        "events": events,
        "metrics": metrics,
    }


def journal_line(number: int, event: Event) -> str:
    """The line of the stored journal for the event with this number."""
    return canonical({"n": number, "event": event_to_json(event)})


def words_part(
    transcript: dict[str, Any],
    requests: dict[str, Any],
    calls: tuple[OpenCall, ...],
    speech: OpenSpeech | None,
    cut: OpenSpeech | None = None,
    summary: tuple[str, int] = ("", 0),
    heard: tuple[HeardAnswer, ...] = (),
    cut_by_line: bool = False,
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "transcript": transcript,
        "asking": requests,
        "calls": [[call.call, call.reply, call.name, call.arguments, call.id, call.partial] for call in calls],
        "speech": [speech.reply, speech.voice, speech.ledger] if speech is not None else None,
        "cut": [cut.reply, cut.voice, cut.ledger] if cut is not None else None,
        "summary": list(summary),
        "heard": [list(answer) for answer in heard],
        "complete": [one is None or one.complete for one in (speech, cut)],
        "cut_by_line": cut_by_line,
    }


# -- Reading


def read_checkpoint(parts: Mapping[str, Any], settings: Settings) -> Checkpoint:
    """Read the checkpoint that is stored in these parts. Raises NotRestorable if the parts can't be read, and also if
    the agent's settings have changed since the conversation was saved."""
    machine, words = parts.get("machine"), parts.get("words")
    if not isinstance(machine, dict) or not isinstance(words, dict):
        raise NotRestorable("the conversation can't be restored, because its words were not saved")
    for part in (machine, words):
        if part.get("schema") not in range(SCHEMA_WITHOUT_PAGES, SCHEMA + 1):
            raise NotRestorable(
                f"the conversation was saved with schema {part.get('schema')!r}; this version reads up to {SCHEMA}"
            )
    if machine.get("settings_digest") != settings_digest(settings):
        raise NotRestorable("the agent's settings have changed since the conversation was saved")
    try:
        state = state_from_json(machine["state"], settings)
        if has_unowned_timer(state):
            raise NotRestorable("the saved state is invalid: it has a deadline that can't be set in this state")
        calls = tuple(_open_call(call) for call in words["calls"])
        is_speech_complete, is_cut_complete = words.get("complete", [True, True])  # earlier versions didn't save it
        speech = _open_speech(words["speech"], is_speech_complete) if words["speech"] is not None else None
        cut = _open_speech(words["cut"], is_cut_complete) if words.get("cut") is not None else None
        match stored_transcript(parts), words["asking"], machine["events"]:
            case dict(transcript), dict(requests), int(events) if events >= 0:
                metrics = machine.get("metrics")
                if metrics is not None:
                    Meter().load(metrics)  # raises if it can't be read
                summary = _summary(words)
                context = parts.get(CONTEXT_PART)
                if context is not None and not isinstance(context, dict):
                    raise NotRestorable("the checkpoint is invalid: the part with the context can't be read")
                saved = Checkpoint(state, transcript, requests, calls, speech, cut, events, summary, metrics)
                by_line = words.get("cut_by_line") is True
                return replace(saved, context=context or {}, heard=_heard(words), cut_by_line=by_line)
        raise NotRestorable("the saved conversation can't be read: transcript, requests or event count are invalid")
    except NotRestorable:
        raise
    except (DuologueError, AttributeError, KeyError, TypeError, ValueError) as problem:
        raise NotRestorable(f"the saved conversation can't be read: {type(problem).__name__}") from None


def stored_transcript(parts: Mapping[str, Any]) -> Any:
    """The transcript as JSON values, joined from its stored pages. Raises KeyError if a page is missing."""
    words = parts["words"]
    if words["schema"] == SCHEMA_WITHOUT_PAGES:
        return words["transcript"]
    rest = words["transcript"]
    return join_pages(rest, [parts[page_name("words", page)] for page in rest["pages"]])


def _open_call(data: Any) -> OpenCall:
    match data:
        case [int(call), int(reply), str(name), dict() | str() as arguments, str(id_), str(partial)]:
            return OpenCall(call, reply, name, arguments, id_, partial)
    raise NotRestorable("the checkpoint is invalid: the entry of a running tool call can't be read")


def _open_speech(data: Any, is_complete: Any) -> OpenSpeech:
    match data:
        case [int(reply), int(voice), dict(ledger)]:
            return OpenSpeech(reply, voice, ledger, is_complete is True)
    raise NotRestorable("the checkpoint is invalid: the entry of the reply that was playing can't be read")


def _summary(words: dict[str, Any]) -> tuple[str, int]:
    match words.get("summary", ["", 0]):  # earlier versions didn't save it
        case [str(written), int(covered)] if covered >= 0:
            return written, covered
    raise NotRestorable("the checkpoint is invalid: the summary can't be read")


def _heard(words: dict[str, Any]) -> tuple[HeardAnswer, ...]:
    found = []
    for data in words.get("heard", []):  # earlier versions didn't save it
        match data:
            case [int(turn), str(heard), str(text)] if turn >= 0:
                found.append(HeardAnswer(turn, heard, text))
            case _:
                raise NotRestorable("the checkpoint is invalid: an entry in its list of heard answers can't be read")
    return tuple(found)


# -- Items of the history


def item_to_json(item: Item) -> list[Any]:
    match item:
        case UserSaid():
            return ["user", item.turn, item.text, item.overheard, item.confidence]
        case AgentSaid():
            calls = [[number, call.name, call.arguments, call.id] for number, call in item.calls]
            saved = ["agent", item.reply, item.text, item.interrupted, calls, item.unheard, item.heard_ms]
            return [*saved, item.speaker] if item.speaker else saved
        case CallOutput():
            return ["output", item.call, item.output, item.outcome.value, item.tool]
        case News():
            return ["news", item.call, item.text, item.outcome.value, item.tool]
        case Note():
            return ["note", item.text]


def _history_call(data: Any) -> tuple[int, ToolCall]:
    match data:
        case [int(number), str(name), dict() | str() as arguments, str(id_)]:
            return number, ToolCall(name, arguments, id_)
    raise NotRestorable("the saved history is invalid: the entry of a tool call can't be read")


def _speaker(more: list[Any]) -> str:
    match more:
        case []:
            return ""
        case [str(speaker)]:
            return speaker
    raise NotRestorable("the saved history is invalid: the speaker of a reply can't be read")


def item_from_json(data: Any) -> Item:
    match data:
        case ["user", int(turn), str(text), bool(overheard), int() | float() as confidence]:
            return UserSaid(turn, text, overheard, confidence)
        case ["agent", int(reply), str(text), bool(interrupted), list(calls), str(unheard), int(heard_ms), *more]:
            made = tuple(map(_history_call, calls))
            return AgentSaid(reply, text, interrupted, made, unheard, heard_ms, _speaker(more))
        case ["output", int(call), str(output), str(outcome), str(tool)]:
            return CallOutput(call, output, Outcome(outcome), tool)
        case ["news", int(call), str(text), str(outcome), str(tool)]:
            return News(call, text, Outcome(outcome), tool)
        case ["note", str(text)]:
            return Note(text)
    raise NotRestorable("the saved history contains an item that this version can't read")


def read_data(saved: dict[str, Any], made: Any) -> Any:
    """The saved data of a call, as an object of the same class as `made`. If no data was saved, `made` is returned.
    Raises NotRestorable if the saved data can't be read."""
    if made is None or saved.get("data") is None:
        return made
    try:
        return data_from_json(type(made), saved["data"])
    except DataNotSavable as problem:
        raise NotRestorable(f"the data of the call can't be read: {problem}") from None
