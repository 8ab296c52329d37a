"""The laws: what must never happen, as checks on one step and on one state.

Each check yields the law that is broken and one line that says what is wrong. Laws about the whole graph are in
`check`: a state of rest can always be reached, and timers alone never lead back to the same state. Rule: a law reads
the state and the effects, never the machine's rows. Otherwise a broken row could hide its own violation.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter, lt
from typing import NamedTuple

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.deadlines import LIMITS
from duologue.core.leaves import (
    CLOSED,
    EARLY,
    FOREGROUND,
    LIVE,
    SOUNDING,
    TIMER_INDEX,
    JobKind,
    Leaf,
    Link,
    Outcome,
    Reply,
    User,
    Voice,
    Words,
)
from duologue.core.state import State, is_sounding, turn_of_onset

# The titles of the laws, as in docs/design.md.
NEVER_STUCK = "1 never stuck"
NOTHING_STALE = "2 nothing stale"
ONCE = "3 once"
SAID_AND_HEARD_AGREE = "4 said and heard agree"
IDEMPOTENT = "5 idempotent"
EVERY_SENTENCE_ENDS = "6 every sentence ends"
VIEWS_ARE_HONEST = "7 every view is honest"
NO_INPUT_IS_LOST = "8 no input is lost"
PAUSING_CHANGES_NOTHING = "9 pausing changes nothing"
RULES_AT_REST = "9 rules at rest"
NO_UNEXPLAINED_SILENCE = "10 no unexplained silence"
QUESTION_SURVIVES = "11 a question survives a fault"
INTERRUPTION_ENDS_WELL = "12 an interruption without words ends well"
LAST_WORDS_ARE_HEARD = "13 last words are heard"
NOISE_IS_BOUNDED = "14 noise has bounded power"
PAUSE_LASTS = "15 a pause lasts"
EARLY_IS_UNHEARD = "16 an early answer is heard only if the turn ended with its words"
HELLO_COSTS_NOTHING = '17 "hello?" costs nothing'
PROMISE_IS_KEPT = "promise"

_AT_REST: tuple[Leaf, ...] = (Link.IDLE, Link.UP, Link.SUSPENDED, User.QUIET, Voice.SILENT, Reply.NONE)
_HARD: dict[Leaf, tuple[int, ...]] = {
    leaf: tuple(TIMER_INDEX[limit.timer] for limit in LIMITS if limit.hard and leaf in limit.leaves)
    for region in (Link, User, Voice, Reply)
    for leaf in region
    if leaf not in _AT_REST
}


_IN_PROGRESS = (Reply.COMMITTING, Reply.WAITING, Reply.GENERATING, Reply.READY, *EARLY)


class CheckedStep(NamedTuple):
    """One step of the machine: the state before, the event, the state after and the effects."""

    before: State
    event: ev.Event
    after: State
    effects: tuple[fx.Effect, ...]

    def did(self, kind: type[fx.Effect]) -> list[fx.Effect]:
        """The step's effects of this kind."""
        return [effect for effect in self.effects if type(effect) is kind] if self.effects else []


def check_state(s: State) -> Iterator[tuple[str, str]]:
    """Check the laws about one state. Yields (law, what is wrong)."""
    for leaf in (s.link, s.user, s.voice, s.reply):
        if leaf not in _AT_REST and not any(s.due[index] for index in _HARD[leaf]):
            yield NEVER_STUCK, f"{leaf!r} has no hard deadline"
    for job in s.jobs:
        if not job.due:
            yield NEVER_STUCK, f"{job.kind!r} has no hard deadline"
    if not s.answered <= s.asked <= s.said <= s.turn:
        yield (
            NO_INPUT_IS_LOST,
            f"turns are out of order: answered {s.answered}, asked {s.asked}, said {s.said}, turn {s.turn}",
        )
    if (s.link is Link.FAULTED) != (s.fault is not None):
        yield (
            VIEWS_ARE_HONEST,
            "the link is faulted without a fault, or a fault is stored although the link isn't faulted",
        )
    if s.voice is not Voice.SILENT and s.reply is not Reply.NONE:
        yield ONCE, "a request is open while another reply is played"
    if s.link not in LIVE and (s.voice is not Voice.SILENT or s.reply is not Reply.NONE):
        yield SAID_AND_HEARD_AGREE, "a reply is played or requested while the link is not live"
    yield from _flags(s)
    yield from _early_state(s)
    if s.link in CLOSED and (s.jobs or s.said > s.answered or s.user is not User.QUIET):
        yield NO_INPUT_IS_LOST, "a closed link still has jobs, an open turn or an unanswered turn"


def _flags(s: State) -> Iterator[tuple[str, str]]:
    """Check that each flag is false in states where it has no meaning. A flag that stayed true would wrongly apply to
    the next turn or reply."""
    if s.final and (s.user not in (User.TALKING, User.SETTLING) or s.words is Words.NONE):
        yield NOTHING_STALE, "a text counts as final without an open turn, or without words"
    if s.unread and not s.final:
        yield NOTHING_STALE, "a sound counts as later than the final text, but there is no final text"
    if s.firm and s.reply not in _IN_PROGRESS and s.voice is not Voice.PLAYING:
        yield NOTHING_STALE, "a reply that is neither open nor playing counts as firm"


def _early_state(s: State) -> Iterator[tuple[str, str]]:
    if (s.reply in EARLY) != bool(s.guess):
        yield NOTHING_STALE, "there is an early request without its words, or its words without a request"
    if s.reply in EARLY and s.asked != s.answered:
        yield EARLY_IS_UNHEARD, "a turn counts as sent to the brain before it is over"
    if s.reply in EARLY and s.link is Link.UP and s.user is User.QUIET:
        yield EARLY_IS_UNHEARD, "the turn is over, but the early request is neither used nor dropped"
    if s.guesses > s.settings.early_requests_max:
        yield EARLY_IS_UNHEARD, f"{s.guesses} early requests in one turn"


def check_step(step: CheckedStep) -> Iterator[tuple[str, str]]:
    """Check the laws about one step. Yields (law, what is wrong)."""
    yield from _ids(step)
    yield from _once(step)
    yield from _one_output(step)
    yield from _said_and_heard(step)
    yield from _no_input_lost(step)
    yield from _early(step)


_ids_of = attrgetter("session_id", "reply_id", "voice_id", "call_id", "turn", "onset")


def _ids(step: CheckedStep) -> Iterator[tuple[str, str]]:
    before, after, event = step.before, step.after, step.event
    if any(map(lt, _ids_of(after), _ids_of(before))):
        yield ONCE, "an id decreased, so it could be used twice"
    onset = isinstance(event, ev.SpeechStarted | ev.PttPressed) and before.link not in CLOSED
    if onset and after.turn != turn_of_onset(before):
        yield ONCE, f"speech belongs to turn {after.turn}, but `turn_of_onset` says {turn_of_onset(before)}"
    same = before.voice is not Voice.SILENT and after.voice is not Voice.SILENT
    if same and after.voice_id != before.voice_id and not isinstance(event, ev.VoicesPlayed):
        yield ONCE, "a voice got another number while it was playing"


def _once(step: CheckedStep) -> Iterator[tuple[str, str]]:
    starts = step.did(fx.StartReply)
    if len(starts) > 1:
        yield ONCE, f"{len(starts)} requests in one step"
    is_confirmed = step.before.reply in EARLY and step.after.reply_id == step.before.reply_id
    if (
        starts
        and step.before.reply not in (Reply.NONE, Reply.RETRYING)
        and not (is_confirmed or step.did(fx.CancelReply))
    ):
        yield ONCE, "a request starts while another is open"
    if starts and step.after.link is not Link.UP:
        yield ONCE, "a request starts while the link is not up"
    left = step.before.reply not in (Reply.NONE, Reply.RETRYING) and step.after.reply_id != step.before.reply_id
    ended = isinstance(step.event, ev.ReplyFinished | ev.ReplyWasEmpty)
    if left and not ended and not step.did(fx.CancelReply):
        yield ONCE, "a request was dropped without CancelReply"


def _early(step: CheckedStep) -> Iterator[tuple[str, str]]:
    before, after, event = step.before, step.after, step.event
    guesses = step.did(fx.GuessReply)
    if (
        guesses
        and (before.reply is not Reply.NONE or before.voice is not Voice.SILENT)
        and not step.did(fx.CancelReply)
    ):
        yield ONCE, "a request is sent early while another is open"
    if guesses and (step.did(fx.StartReply) or after.user is User.QUIET or after.link is not Link.UP):
        yield EARLY_IS_UNHEARD, "a request is sent early, although no turn is open"
    if before.reply not in EARLY or after.reply_id != before.reply_id:
        return
    changed = isinstance(event, ev.WordsHeard) and (event.turn, event.gist) != (before.turn, before.guess)
    if changed or isinstance(event, ev.TextTyped):
        yield EARLY_IS_UNHEARD, "the words have changed, but the early request goes on"
    if after.reply not in EARLY:
        confirmed = after.asked == after.said == before.turn == after.turn > after.answered
        if not confirmed or not step.did(fx.StartReply):
            yield EARLY_IS_UNHEARD, "an early request is used, although its turn isn't over"


def _one_output(step: CheckedStep) -> Iterator[tuple[str, str]]:
    if not step.before.jobs and not isinstance(step.event, ev.ToolCalled):
        if step.did(fx.PostOutput) or step.did(fx.PostNews):
            yield ONCE, "there is an output or news, but no tool call for it"
        return
    after = {job.call: job.kind for job in step.after.jobs}
    outputs = [effect.call for effect in step.effects if isinstance(effect, fx.PostOutput)]
    ends = [
        effect.call
        for effect in step.effects
        if isinstance(effect, fx.PostNews) and effect.outcome is not Outcome.NEEDS_INPUT
    ]
    for job in step.before.jobs:
        kind = after.get(job.call, JobKind.ABSENT)
        answered = job.kind in FOREGROUND and kind not in FOREGROUND
        if outputs.count(job.call) != answered:
            yield ONCE, f"a job changed from {job.kind.value} to {kind.value} with {outputs.count(job.call)} outputs"
        ended = job.kind is JobKind.DISPATCHED and kind is JobKind.ABSENT
        if ends.count(job.call) != ended:
            yield (
                ONCE,
                f"a job changed from {job.kind.value} to {kind.value} with {ends.count(job.call)} reports of its end",
            )
    if isinstance(step.event, ev.ToolCalled) and step.after is not step.before:
        accepted = step.event.call in after
        if outputs.count(step.event.call) != (not accepted):
            yield ONCE, "a tool call must be either run or refused"


_ENDS_SOUND = (
    ev.PlaybackFinished,
    ev.PlaybackStopped,
    ev.PlaybackFailed,
    ev.TimerFired,
    ev.EndRequested,
    ev.SessionEnded,
    ev.SessionFailed,
    ev.LinkClosed,
    ev.LinkWobbled,
    ev.ReconnectRequested,
    ev.ReplyFailed,
    ev.ServiceFailed,
)


def _said_and_heard(step: CheckedStep) -> Iterator[tuple[str, str]]:
    before, after, event = step.before, step.after, step.event
    if not step.effects and before.voice is after.voice and before.link is after.link:
        return
    starts = step.did(fx.StartPlayback)
    if (starts or step.did(fx.ResumePlayback)) and after.link is not Link.UP:
        yield SAID_AND_HEARD_AGREE, "playback starts or resumes while the link is not up"
    if starts and (before.user is not User.QUIET or before.voice is not Voice.SILENT) and after.user is not User.QUIET:
        yield SAID_AND_HEARD_AGREE, "playback starts while the user talks"
    if bool(starts) != (before.voice is Voice.SILENT and after.voice in SOUNDING):
        yield SAID_AND_HEARD_AGREE, "StartPlayback must come exactly when a silent voice starts to play"
    played_out = before.voice in SOUNDING and isinstance(event, ev.PlaybackFinished)
    cut = before.voice in SOUNDING and after.voice not in SOUNDING and not played_out
    if len(step.did(fx.StopPlayback)) != cut:
        yield SAID_AND_HEARD_AGREE, "playback that is cut short needs exactly one StopPlayback"
    over = before.voice is not Voice.SILENT and after.voice is Voice.SILENT
    truncated = step.did(fx.TruncateReply)
    if len(truncated) != (over and not played_out):
        yield SAID_AND_HEARD_AGREE, "playback that is cut short needs exactly one TruncateReply"
    if truncated:
        heard_ms = max(before.heard_ms, getattr(event, "heard_ms", 0))
        if truncated != [fx.TruncateReply(before.voice_id, heard_ms)]:
            yield SAID_AND_HEARD_AGREE, f"the step did {truncated}, but {heard_ms} ms were heard"
    if over and not isinstance(event, _ENDS_SOUND):
        yield EVERY_SENTENCE_ENDS, f"{type(event).__name__} must not end the playback of a reply"
    yield from _held(step)


def _held(step: CheckedStep) -> Iterator[tuple[str, str]]:
    before, after = step.before, step.after
    same = before.voice_id == after.voice_id and before.voice in SOUNDING and after.voice in SOUNDING
    held = same and is_sounding(before) and not is_sounding(after)
    resumed = same and not is_sounding(before) and is_sounding(after)
    if len(step.did(fx.HoldPlayback)) != held:
        yield SAID_AND_HEARD_AGREE, "HoldPlayback must come exactly when a sounding voice pauses"
    if len(step.did(fx.ResumePlayback)) != resumed:
        yield SAID_AND_HEARD_AGREE, "ResumePlayback must come exactly when a paused voice sounds again"


def _no_input_lost(step: CheckedStep) -> Iterator[tuple[str, str]]:
    before, after, event = step.before, step.after, step.event
    if after.answered > before.answered and after.link not in CLOSED and not _may_answer(step):
        yield (
            NO_INPUT_IS_LOST,
            f"{type(event).__name__} marked a turn as answered without an answer, a cancel or a report",
        )
    lost = step.did(fx.ReportLost)
    owed = before.said > before.answered
    if after.link in CLOSED and before.link not in CLOSED and owed and not (lost or _may_answer(step)):
        yield NO_INPUT_IS_LOST, "the link is closed, but an unanswered turn was not reported as lost"
    had_words = before.user is not User.QUIET and before.words is not Words.NONE
    closed = had_words and (after.user is User.QUIET or after.turn > before.turn) and after.link not in CLOSED
    recorded = after.said >= before.turn or any(
        isinstance(effect, fx.RecordOverheard) and effect.turn == before.turn for effect in step.effects
    )
    if closed and not recorded and not _takes_back(before, event):
        yield NO_INPUT_IS_LOST, "a turn with words ended, but counts neither as said nor as overheard"
    for effect in step.effects:
        if isinstance(effect, fx.RecordOverheard) and before.asked < effect.turn <= before.said:
            yield NO_INPUT_IS_LOST, "a turn that must be sent to the brain was recorded as overheard"
    if after.said < before.said and after.link not in CLOSED:
        yield NO_INPUT_IS_LOST, "the turn number `said` decreased"


def _takes_back(s: State, e: ev.Event) -> bool:
    """Is this event an empty final transcript of the current turn? Such a transcript takes back the words of the
    turn."""
    return isinstance(e, ev.WordsHeard) and e.turn == s.turn and e.final and e.words == 0


def _may_answer(step: CheckedStep) -> bool:
    """May this step mark turns as answered? Yes, if an answer was heard or shown, if the user cancelled the answer, or
    if the turns were reported as lost."""
    if step.did(fx.ReportLost):
        return True
    if isinstance(
        step.event, ev.InterruptRequested | ev.CancelRequested | ev.PlaybackFinished | ev.ReplyFinished | ev.TurnTaken
    ):
        return True
    return any(isinstance(effect, fx.TruncateReply) and effect.heard_ms > 0 for effect in step.effects)


def check_pause(paused: CheckedStep, resumed: CheckedStep, same: bool) -> Iterator[tuple[str, str]]:
    """Check that pausing and resuming changes nothing but due times. `paused` is the step that pauses, and `resumed` is
    the step that resumes. `same` says whether the state before the pause equals the state after resuming. Yields (law,
    what is wrong)."""
    allowed = (fx.HoldPlayback, fx.ResumePlayback, fx.StopCue)
    if not same:
        yield PAUSING_CHANGES_NOTHING, "the state differs after the pause"
    if any(type(effect) not in allowed for effect in (*paused.effects, *resumed.effects)):
        yield (
            PAUSING_CHANGES_NOTHING,
            "a pause has other effects than holding and resuming playback and stopping a cue",
        )


def describe(s: State) -> str:
    """The state in one line of a trace: link, user, voice, reply and jobs."""
    jobs = ",".join(job.kind.value for job in s.jobs) or "-"
    return f"{s.link.value}/{s.user.value}/{s.voice.value}/{s.reply.value}/{jobs}"
