"""Invariants: what must hold for every call, even if faults happened in it.

They are checked from outside, on the steps, the history, the line's log and the signals of a finished call. Rule: each
invariant is a function that returns its complaints, and the function doesn't use the code that it checks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from duologue.core.effects import Effect, ReportLost, StartPlayback, StartReply
from duologue.core.machine import MACHINE
from duologue.core.state import initial
from duologue.core.step_record import StepRecord
from duologue.lines.scripted import LineAct
from duologue.observe import signals as sg
from duologue.ports.brain import Request
from duologue.ports.history import AgentSaid, CallOutput, Item, UserSaid

from .audible_sounds import AudibleSound
from .caller_account import CallerAccount
from .silence import FIRST_MS_MAX, GAP_MS_MAX, WORDS_MS_MAX, HeardCall, Silence, measure, measure_from_voice
from .untrue_notices import untrue_notices

_PROGRAMMING_ERRORS = (
    "AssertionError",
    "KeyError",
    "AttributeError",
    "TypeError",
    "IndexError",
    "InvalidEvent",
    "InboxFull",
)


@dataclass
class Evidence:
    """Everything that was recorded about one call."""

    records: list[StepRecord] = field(default_factory=list)
    journal: list[str] = field(default_factory=list)  # the lines of the journal
    signals: list[sg.Signal] = field(default_factory=list)
    history: tuple[Item, ...] = ()
    line: list[LineAct] = field(default_factory=list)
    connections: list[LineAct] = field(default_factory=list)  # when the line was opened, and when it went away
    sounded: list[AudibleSound] = field(default_factory=list)  # when the samples that the line played could be heard
    played: dict[int, int] = field(default_factory=dict)  # milliseconds that were really played, by voice
    requests: list[Request] = field(default_factory=list)
    account: CallerAccount = field(default_factory=CallerAccount)  # what the caller and the services have noted
    heard_finals: list[str] = field(default_factory=list)  # final texts that reached the conversation
    came_to_rest: bool = True
    ended: bool = True
    tasks_left: list[str] = field(default_factory=list)


def never_stuck(e: Evidence) -> list[str]:
    """Check that the call came to rest (nothing was left to do), and that it ended."""
    complaints = [] if e.came_to_rest else ["the call never came to rest"]
    return complaints if e.ended else [*complaints, "the call did not end"]


def nothing_left_running(e: Evidence) -> list[str]:
    """Check that no task outlived its call."""
    return [f"task {name} still runs" for name in e.tasks_left]


def nothing_lost_silently(e: Evidence) -> list[str]:
    """Check that every turn with words was sent to the brain, overheard or reported as lost, and that every final text
    is in the history."""
    settled: set[int] = set()
    for record in e.records:
        for effect in record.effects:
            if isinstance(effect, StartReply | ReportLost):
                settled.update(range(effect.first, effect.last + 1))
    said = [item for item in e.history if isinstance(item, UserSaid)]
    lost = [item for item in said if not item.overheard and item.turn not in settled]
    complaints = [
        f"turn {item.turn} was neither sent to the brain nor reported as lost: {item.text!r}" for item in lost
    ]
    written = " ".join(item.text for item in said).split()
    missing = [text for text in e.heard_finals if not _are_in_order(text.split(), written)]
    return complaints + [f"a final text was heard, but is not in the history: {text!r}" for text in missing]


def _are_in_order(words: list[str], written: list[str]) -> bool:
    """Does `written` contain all of `words` in this order? There may be other words between them."""
    rest = iter(written)
    return all(word in rest for word in words)


def asked_words_reach_the_brain(e: Evidence) -> list[str]:
    """Check that, for every turn that was sent to the brain, at least one request contains words of this turn.
    Exception: turns that were reported as lost, because their text may have come after the request."""
    texts = {item.turn: item.text for item in e.history if isinstance(item, UserSaid) and not item.overheard}
    sent = {request.reply: set(request.text.split()) for request in e.requests}
    ranges = [effect for effect in _effects(e) if isinstance(effect, StartReply) and effect.reply in sent]
    asked = {turn for effect in ranges for turn in range(effect.first, effect.last + 1) if turn in texts}
    reached = {
        turn
        for effect in ranges
        for turn in range(effect.first, effect.last + 1)
        if turn in texts and sent[effect.reply] & set(texts[turn].split())
    }
    lost = {turn for one in _effects(e) if isinstance(one, ReportLost) for turn in range(one.first, one.last + 1)}
    silent = sorted(asked - reached - lost)
    return [f"turn {turn} was sent to the brain without its words: {texts[turn]!r}" for turn in silent]


def no_turn_is_asked_and_overheard(e: Evidence) -> list[str]:
    """Check that no request to the brain consists only of turns that are marked as overheard in the history."""
    said = {item.turn: item for item in e.history if isinstance(item, UserSaid)}
    asked = {request.reply: request.text for request in e.requests}
    complaints = []
    for effect in _effects(e):
        if isinstance(effect, StartReply) and asked.get(effect.reply):
            turns = [said[turn] for turn in range(effect.first, effect.last + 1) if turn in said]
            if turns and all(item.overheard for item in turns):
                complaints.append(f"request {effect.reply} has only overheard turns: {asked[effect.reply]!r}")
    return complaints


def one_output_for_each_call(e: Evidence) -> list[str]:
    """Check that every tool call has exactly one output in the history, and that every output belongs to a tool
    call."""
    calls = [number for item in e.history if isinstance(item, AgentSaid) for number, _ in item.calls]
    outputs = [item.call for item in e.history if isinstance(item, CallOutput)]
    complaints = [f"call {call} has {outputs.count(call)} outputs" for call in calls if outputs.count(call) != 1]
    return complaints + [
        f"there is an output for call {call}, but no such call" for call in outputs if call not in calls
    ]


def the_line_obeys_its_order(e: Evidence) -> list[str]:
    """Check that no sound is played after a stop or during a hold, and that chunks and voices come in order."""
    complaints = []
    held: set[int] = set()
    over: set[int] = set()
    chunks: dict[int, int] = {}
    for act in e.line:
        if act.what == "hold":
            held.add(act.voice)
        elif act.what == "resume":
            held.discard(act.voice)
        elif act.what == "clear":
            over.add(act.voice)
        elif act.what == "play":
            if act.voice in over or act.voice in held:
                complaints.append(
                    f"chunk {act.chunk} of voice {act.voice} was played at {act.at_ms} ms, after a stop or a hold"
                )
            if act.chunk != chunks.get(act.voice, 0) + 1:
                complaints.append(f"chunk {act.chunk} of voice {act.voice} follows chunk {chunks.get(act.voice, 0)}")
            if any(voice > act.voice for voice in chunks):
                complaints.append(f"voice {act.voice} is played after a newer voice")
            chunks[act.voice] = act.chunk
    return complaints


def history_claims_no_more_than_was_played(e: Evidence) -> list[str]:
    """Check that the history doesn't say that more of a reply was heard than the line played."""
    voices = {effect.reply: effect.voice for effect in _effects(e) if isinstance(effect, StartPlayback)}
    said = [item for item in e.history if isinstance(item, AgentSaid) and item.heard_ms]
    return [
        f"reply {item.reply} was heard for {item.heard_ms} ms according to the history, but {played} ms were played"
        for item in said
        if item.heard_ms > (played := e.played.get(voices.get(item.reply, 0), 0))
    ]


def no_turn_is_answered_twice(e: Evidence) -> list[str]:
    """Check that the user didn't hear two replies to the same turn. Replies that made tool calls or were interrupted
    don't count."""
    said = {item.reply: item for item in e.history if isinstance(item, AgentSaid)}
    answered: dict[int, int] = {}
    complaints = []
    for effect in _effects(e):
        if not isinstance(effect, StartReply) or effect.reply not in said:
            continue
        item = said[effect.reply]
        if not item.heard_ms or item.interrupted or item.calls:
            continue
        for turn in range(effect.first, effect.last + 1):
            if turn in answered:
                complaints.append(f"turn {turn} was answered by replies {answered[turn]} and {effect.reply}")
            answered[turn] = effect.reply
    return complaints


def _effects(e: Evidence) -> list[Effect]:
    return [effect for record in e.records for effect in record.effects]


def no_programming_errors(e: Evidence) -> list[str]:
    """Check that the runtime itself raised no error. Services may fail."""
    problems = [s for s in e.signals if isinstance(s, sg.Problem)]
    return [f"{s.where}: {s.what}" for s in problems if s.what.split(":")[0] in _PROGRAMMING_ERRORS]


def it_replays(e: Evidence) -> list[str]:
    """Check that the recorded events, applied again, lead to the same states."""
    if not e.records:
        return []
    s = initial(e.records[0].before.settings)
    for record in e.records:
        s, _ = MACHINE.step(s, record.event)
        if s != record.after:
            return [f"{type(record.event).__name__} at {record.event.at} ms leads to another state in a replay"]
    return []


def silence_of(e: Evidence) -> Silence:
    """The longest silences that the caller heard while waiting for something."""
    return measure(e.account, _heard_call(e))


def silence_from_voice(e: Evidence) -> Silence:
    """The same, always counted from the moment at which the caller fell silent, also if the ears lost the report."""
    return measure_from_voice(e.account, _heard_call(e))


def _heard_call(e: Evidence) -> HeardCall:
    cues = [one for one in e.signals if isinstance(one, sg.CueGiven)]
    shown = [one.at for one in e.signals if isinstance(one, sg.Caption) and _is_shown(one)]
    return HeardCall(e.sounded, e.connections, cues, shown)


def _is_shown(caption: sg.Caption) -> bool:
    """Is this an answer that was shown and not spoken?"""
    return caption.role == "assistant" and caption.final and not caption.voice and bool(caption.text)


def no_unexplained_silence(e: Evidence) -> list[str]:
    """Check that a caller who waits soon hears a sign of life, then words, and that no silence is too long."""
    limits = Silence(FIRST_MS_MAX, WORDS_MS_MAX, GAP_MS_MAX)
    what = ("before the first sign", "before the first words", "between two signs")
    found = zip(silence_of(e), limits, what, strict=True)
    return [f"{ms} ms of silence {where}, while the caller waited" for ms, most, where in found if ms > most]


def nothing_untrue_is_shown(e: Evidence) -> list[str]:
    """Check that every notice was true, as the journal and the services tell."""
    shown = [one for one in e.signals if isinstance(one, sg.Noticed | sg.Lost | sg.Problem)]
    if not e.journal:
        return ["there are notices, but no journal to judge them by"] if shown else []
    return untrue_notices(e.journal, shown, e.account)


INVARIANTS: tuple[Callable[[Evidence], list[str]], ...] = (
    never_stuck,
    nothing_left_running,
    nothing_lost_silently,
    asked_words_reach_the_brain,
    no_turn_is_asked_and_overheard,
    one_output_for_each_call,
    the_line_obeys_its_order,
    history_claims_no_more_than_was_played,
    no_turn_is_answered_twice,
    no_programming_errors,
    it_replays,
    no_unexplained_silence,
    nothing_untrue_is_shown,
)


def complaints_about(e: Evidence) -> list[str]:
    """The complaints of all invariants, each with the name of its invariant."""
    return [f"{check.__name__}: {complaint}" for check in INVARIANTS for complaint in check(e)]
