"""The link region: is there a healthy session? Its rows start, pause, lose, restore and end the session.

This module doesn't know what is said. The module `rules` decides what happens in the other regions when the line (the
connection to the user) is lost or closed. Rule: every change of this region is a row in LINK_ROWS.
"""

from __future__ import annotations

from .answers import give_up, report_lost, tell
from .deadlines import dead_air_ms
from .draft import Draft
from .effects import (
    ChangeAgent,
    ClearFault,
    CloseSession,
    OpenSession,
    RefuseStart,
    RenewSession,
    RestoreContext,
    SaveContext,
    ShowFault,
    StopCue,
)
from .events import (
    AgentChangeRequested,
    DismissRequested,
    EndAfterSpeaking,
    EndRequested,
    Event,
    LastWordsHeard,
    LinkClosed,
    LinkHealed,
    LinkWobbled,
    PersonSeen,
    PlaybackFailed,
    PlaybackFinished,
    PttPressed,
    PttReleased,
    ReconnectRequested,
    ReplyFailed,
    ReplyFinished,
    ResumeRequested,
    RetryRequested,
    SendPressed,
    ServiceFailed,
    SessionClosed,
    SessionEnded,
    SessionFailed,
    SessionReady,
    SpeechRequested,
    SpeechStarted,
    SpeechStopped,
    StartRequested,
    SuspendRequested,
    TextTyped,
    TimerFired,
    VoicesPlayed,
    WordsHeard,
)
from .leaves import (
    ACTIVE,
    AWAY,
    LIVE,
    SOUNDING,
    TIMER_INDEX,
    Ask,
    Cue,
    Ending,
    ErrorClass,
    FaultSource,
    Link,
    Reply,
    Timer,
    User,
    Voice,
)
from .reply import fails_for_good
from .rows import Row, row
from .settings import POLICIES
from .state import Fault, State, has_foreground

# -- Guards


def session_and_audio_ready(s: State, e: StartRequested) -> bool:
    return e.session_active and e.audio_primed


def is_fatal(s: State, e: Event) -> bool:
    return s.fault is not None and s.fault.fatal


def is_recoverable(s: State, e: Event) -> bool:
    return not is_fatal(s, e)


def renewal_is_pending(s: State, e: Event) -> bool:
    """Has the session reached its time limit, while the next session isn't ready yet?"""
    return s.settings.session_ms_max > 0 and not s.due[TIMER_INDEX[Timer.SESSION_LIMIT]]


def may_attempt_again(s: State, e: Event) -> bool:
    """May another attempt to reconnect be made, and could it succeed?"""
    worth_it = not isinstance(e, SessionFailed) or not POLICIES[e.error].ends
    return worth_it and s.attempts < len(s.settings.backoff_ms)


def is_hopeless(s: State, e: SessionFailed) -> bool:
    return POLICIES[e.error].ends


def needs_new_session(s: State, e: ReplyFailed | ServiceFailed | PlaybackFailed) -> bool:
    return POLICIES[e.error].reconnects


def said_goodbye(s: State, e: Event) -> bool:
    """Does this event end the agent's goodbye, and has the person said nothing since the goodbye was requested? While
    the person makes a sound, the call doesn't end: the sound may be the beginning of speech."""
    unopposed = s.ask is Ask.GOODBYE and s.user is User.QUIET and s.said == s.asked and not s.called
    shown = s.reply in (Reply.COMMITTING, Reply.WAITING, Reply.GENERATING)
    return unopposed and (s.voice in SOUNDING if isinstance(e, PlaybackFinished) else shown)


def is_paused(s: State, e: Event) -> bool:
    return s.paused


def check_in_is_due(s: State, e: Event) -> bool:
    """Is a check-in (such as "Are you still there?") planned? That is so while the timer DEAD_AIR is running."""
    return s.due[TIMER_INDEX[Timer.DEAD_AIR]] > 0


def is_being_played(s: State, e: Event) -> bool:
    return s.voice in SOUNDING


def is_unknown_voice(s: State, e: VoicesPlayed) -> bool:
    return e.played > s.voice_id


# -- Actions


def open_session(d: Draft, e: Event) -> None:
    d.news = d.settings.greets
    _open_next_session(d)


def _open_next_session(d: Draft) -> None:
    d.session_id += 1
    d.emit(OpenSession(d.session_id, d.attempts))


def refuse_start(d: Draft, e: Event) -> None:
    d.emit(RefuseStart(already_running=d.link is not Link.IDLE))


def note_pause(d: Draft, e: Event) -> None:
    d.paused = True
    _hush_cue(d)


def _hush_cue(d: Draft) -> None:
    """Stop the cue (a short sound or phrase for a person who waits) if it may still be playing. A cue can be playing
    only if the person is quiet, and the agent is silent or its sound has paused."""
    if d.user is User.QUIET and (d.voice is Voice.SILENT or d.cues):
        d.emit(StopCue())


def forget_pause(d: Draft, e: Event) -> None:
    d.paused = False


def count_silence_anew(d: Draft, e: Event) -> None:
    d.arm(Timer.DEAD_AIR, dead_air_ms(d))


def end_later(d: Draft, e: EndAfterSpeaking) -> None:
    certain = d.ending is Ending.CERTAIN or not e.withdrawable
    d.ending = Ending.CERTAIN if certain else Ending.UNLESS_OPPOSED


def note_speech(d: Draft, e: Event) -> None:
    d.says = True


def change_agent(d: Draft, e: AgentChangeRequested) -> None:
    """Apply the change of the agent. If a different agent takes over, it speaks next, as at the start of a
    conversation."""
    d.news = d.news or e.speaks
    d.emit(ChangeAgent(e.speaks))


def renew_session(d: Draft, e: Event) -> None:
    """Open the next session. Until it is ready, the conversation continues in the current session."""
    d.session_id += 1
    d.arm(Timer.RENEW, d.settings.renew_ms_max)
    d.emit(SaveContext())
    d.emit(RenewSession(d.session_id))


def begin_renewed(d: Draft, e: Event) -> None:
    """Set the time limits of the new session, and load the saved context into it."""
    d.disarm(Timer.RENEW)
    d.arm(Timer.SESSION_WARNING, d.settings.session_warning_ms)
    d.arm(Timer.SESSION_LIMIT, d.settings.session_ms_max)
    d.emit(RestoreContext(d.session_id))


def lose_link(d: Draft, e: Event) -> None:
    """Handle the loss of the session: save what a new session must know. From now on, events of the old session are
    ignored as stale."""
    if d.fault:
        _clear_fault(d)
    d.session_id += 1
    d.attempts = 0
    d.emit(SaveContext())


def attempt(d: Draft, e: Event) -> None:
    d.attempts += 1
    _open_next_session(d)


def begin_restored(d: Draft, e: Event) -> None:
    d.attempts = 0
    d.emit(RestoreContext(d.session_id))


def restore_pause(d: Draft, e: Event) -> None:
    """Load the saved context into the new session, and stop the cue that told the person to wait for this session. The
    conversation is still paused."""
    begin_restored(d, e)
    _hush_cue(d)


def save_context(d: Draft, e: Event) -> None:
    d.emit(SaveContext())


def fault(d: Draft, e: Event) -> None:
    """Count the fault, decide whether it ends the conversation, and show it."""
    part, error = _source_and_error(d, e)
    if d.before.link not in LIVE:
        d.session_id += 1  # the session that was being opened is abandoned
    if not d.faults:
        d.arm(Timer.BREAKER, d.settings.faults_window_ms)
    d.faults = min(d.faults + 1, d.settings.faults_max)
    d.faults_in_a_row = min(d.faults_in_a_row + 1, d.settings.faults_in_a_row_max)
    tripped = d.faults == d.settings.faults_max or d.faults_in_a_row == d.settings.faults_in_a_row_max
    d.fault = Fault(part, error, fatal=tripped or POLICIES[error].ends)
    d.attempts = 0
    d.emit(ShowFault(*d.fault))
    if d.fault.fatal:
        d.shorten(Timer.DISMISS, d.settings.fatal_ms)
        tell(d, Cue.ENDED)
    else:
        _settle_question(d, d.fault)


def _settle_question(d: Draft, fault: Fault) -> None:
    """Decide what happens to the question that was being answered when the fault came. The brain is asked once more
    after the fault if no part of the answer was heard, no tool call was made and a second request may succeed.
    Otherwise the person is told that something went wrong. If a tool call was given up, its output goes to the brain
    with the person's next words."""
    s = d.before
    if s.heard_ms:
        tell(d, Cue.BROKEN_OFF)
    elif s.called or has_foreground(s):
        give_up(d, d.asked, Cue.CALL_MADE)
    elif not _is_worth_asking_again(s, fault):
        give_up(d, d.asked, Cue.CALL_MADE if s.telling else Cue.APOLOGY)
        d.telling = d.telling and d.asked == s.answered  # what was given up isn't asked again for its outputs alone


def _is_worth_asking_again(s: State, fault: Fault) -> bool:
    may_work = fault.part not in (FaultSource.BRAIN, FaultSource.VOICE) or POLICIES[fault.error].retries_max > 0
    return may_work and s.asked > s.asked_again


def _source_and_error(d: Draft, e: Event) -> tuple[FaultSource, ErrorClass]:
    """The part of the system that a fault came from, and the error class of the fault."""
    if isinstance(e, TimerFired):
        return _TIMEOUT_SOURCES[e.timer], ErrorClass.NETWORK_TIMEOUT
    if isinstance(e, LinkClosed):
        return FaultSource.LINK, ErrorClass.NETWORK_TIMEOUT
    if isinstance(e, ServiceFailed | ReplyFailed):
        return e.part, e.error
    if isinstance(e, SessionFailed):
        return (FaultSource.LINK if d.before.link in AWAY else FaultSource.SESSION), e.error
    assert isinstance(e, PlaybackFailed), e
    return FaultSource.VOICE, e.error


_TIMEOUT_SOURCES = {
    Timer.PREPARE: FaultSource.SESSION,
    Timer.CONNECT: FaultSource.LINK,
    Timer.RECONNECT: FaultSource.LINK,
    Timer.ATTEMPT: FaultSource.BRAIN,
    Timer.ANSWER: FaultSource.BRAIN,
    Timer.STALL: FaultSource.VOICE,
}


def skip_voices(d: Draft, e: VoicesPlayed) -> None:
    """Skip the numbers of voices (stretches of the agent's speech) up to the number in this event, so that they aren't
    used again. If a voice from the saved state is still playing, it gets the number in this event."""
    d.voice_id = e.played


def forget_faults(d: Draft, e: Event) -> None:
    d.faults = 0


def recover(d: Draft, e: Event) -> None:
    _clear_fault(d)
    d.emit(SaveContext())
    _open_next_session(d)


def recover_and_ask(d: Draft, e: Event) -> None:
    """Continue after a fault, and ask the brain once more about the turns that were sent to it before."""
    if d.asked_again <= d.answered:
        d.losses = 0  # those were of earlier turns
    d.asked_again = max(d.asked_again, d.asked)
    recover(d, e)


def recover_without(d: Draft, e: Event) -> None:
    """Continue after a fault. The turns that were already sent to the brain get no answer and are reported as lost.
    Later turns are still sent to the brain."""
    report_lost(d, max(d.asked, d.asked_again))
    recover(d, e)


def _clear_fault(d: Draft) -> None:
    d.fault = None
    d.asked = d.answered
    d.emit(ClearFault())


def close_session(d: Draft, e: Event) -> None:
    d.emit(CloseSession(d.session_id))


L, T = Link, Timer
_PERSON = (SpeechStarted, SpeechStopped, PttPressed, PttReleased, SendPressed, TextTyped, WordsHeard)

LINK_ROWS: tuple[Row, ...] = (
    row(L.IDLE, StartRequested, L.PREPARING, open_session, session_and_audio_ready),
    row(tuple(L), StartRequested, None, refuse_start, why="not ready to start, or a conversation is already running"),
    row((L.PREPARING, L.RECONNECTING), SessionReady, L.SUSPENDED, restore_pause, is_paused, "the pause continues"),
    row((L.PREPARING, L.RECONNECTING), SessionReady, L.UP, begin_restored),
    # Pausing
    row((L.UP, L.HEALING, L.RENEWING), SuspendRequested, L.SUSPENDED, note_pause),
    row(L.SUSPENDED, ResumeRequested, L.UP, forget_pause),
    row((*AWAY, L.PREPARING, L.FAULTED), ResumeRequested, None, forget_pause, is_paused),
    row(L.SUSPENDED, T.SUSPEND, L.TERMINATING, close_session),
    row(L.UP, PersonSeen, None, count_silence_anew, check_in_is_due, "the person has shown that they are there"),
    # The next session
    row(LIVE, T.SESSION_WARNING, None, save_context),
    row(LIVE, T.SESSION_LIMIT, None, renew_session),
    row((L.UP, L.HEALING), SessionEnded, L.RENEWING, None, renewal_is_pending),
    row(L.RENEWING, SessionReady, L.UP, begin_renewed),
    row(LIVE, SessionReady, None, begin_renewed, renewal_is_pending),
    row(L.UP, LinkWobbled, L.HEALING),
    row(L.HEALING, LinkHealed, L.UP),
    # Losing the line and getting it back
    row(LIVE, (T.RENEW, T.HEAL, SessionEnded), L.BACKING_OFF, lose_link),
    row((L.PREPARING, *LIVE), LinkClosed, L.BACKING_OFF, lose_link),
    row(L.FAULTED, LinkClosed, L.BACKING_OFF, lose_link, is_recoverable),
    row(LIVE, SessionFailed, L.FAULTED, fault, is_hopeless),
    row(LIVE, (SessionFailed, ReconnectRequested), L.BACKING_OFF, lose_link),
    row(LIVE, (ReplyFailed, ServiceFailed, PlaybackFailed), L.BACKING_OFF, lose_link, needs_new_session),
    row(L.BACKING_OFF, T.BACKOFF, L.RECONNECTING, attempt),
    row(tuple(L), VoicesPlayed, None, skip_voices, is_unknown_voice, "the client has played unsaved voices"),
    row(L.RECONNECTING, (SessionFailed, LinkClosed, T.CONNECT), L.BACKING_OFF, None, may_attempt_again),
    # Faults
    row((L.PREPARING, L.RECONNECTING), (SessionFailed, LinkClosed, T.PREPARE, T.CONNECT), L.FAULTED, fault),
    row(AWAY, T.RECONNECT, L.FAULTED, fault),
    row(LIVE, (ReplyFailed, T.ATTEMPT, T.ANSWER), L.FAULTED, fault, fails_for_good),
    row(LIVE, PlaybackFailed, L.FAULTED, fault, is_being_played),
    row(LIVE, (ServiceFailed, T.STALL), L.FAULTED, fault),
    row(ACTIVE, T.BREAKER, None, forget_faults),
    row(
        L.FAULTED,
        (RetryRequested, DismissRequested, LastWordsHeard, T.DISMISS),
        L.TERMINATING,
        close_session,
        is_fatal,
    ),
    row(L.FAULTED, RetryRequested, L.PREPARING, recover),
    row(L.FAULTED, DismissRequested, L.PREPARING, recover_without),
    row(L.FAULTED, T.DISMISS, L.PREPARING, recover_and_ask),
    row(L.FAULTED, _PERSON, L.PREPARING, recover_and_ask, is_recoverable, "the person needn't wait for T.DISMISS"),
    # The program
    row(ACTIVE, SpeechRequested, None, note_speech),
    row(ACTIVE, AgentChangeRequested, None, change_agent),
    # Ending
    row(ACTIVE, EndRequested, L.TERMINATING, close_session),
    row(LIVE, EndAfterSpeaking, None, end_later),
    row(ACTIVE, EndAfterSpeaking, L.TERMINATING, close_session, why="nothing can be said while the line is away"),
    row(LIVE, T.LAST_WORDS, L.TERMINATING, close_session),
    row(LIVE, (PlaybackFinished, ReplyFinished), L.TERMINATING, close_session, said_goodbye),
    row(L.TERMINATING, (SessionClosed, T.CLOSE), L.IDLE),
)
