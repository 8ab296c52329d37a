"""The laws from the person's point of view: what they hear, and what becomes of what they said.

A person on a telephone doesn't know the machine's states. They hear sound, words or silence. Each check yields the law
that is broken and one line that says what is wrong. Rule: a law reads the state and the effects, never the machine's
rows or the conditions that arm a deadline. Otherwise a mistake in a row or a condition could hide itself. A check
tests the event and the regions first, because its result is reused for all states that agree in the fields it has read.
"""

from __future__ import annotations

from collections.abc import Iterator

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import (
    CLOSED,
    FOREGROUND,
    LIVE,
    TIMER_INDEX,
    Ask,
    Cue,
    Ending,
    JobKind,
    Link,
    Reply,
    Timer,
    User,
    Voice,
    Words,
)
from duologue.core.state import State

from .laws import (
    HELLO_COSTS_NOTHING,
    INTERRUPTION_ENDS_WELL,
    LAST_WORDS_ARE_HEARD,
    NO_UNEXPLAINED_SILENCE,
    NOISE_IS_BOUNDED,
    PAUSE_LASTS,
    QUESTION_SURVIVES,
    CheckedStep,
)

_CUE = TIMER_INDEX[Timer.CUE]
_DEAD_AIR = TIMER_INDEX[Timer.DEAD_AIR]
_LAST_WORDS = TIMER_INDEX[Timer.LAST_WORDS]
_OFFER = TIMER_INDEX[Timer.OFFER]
_AWAY = (Link.BACKING_OFF, Link.RECONNECTING)
_SPEAKING = (Voice.PLAYING, Voice.HELD)
_NO_SOUND = (Link.SUSPENDED, Link.HEALING, Link.IDLE, Link.TERMINATING)
_TELLS_LOSS = (Cue.APOLOGY, Cue.EMPTY, Cue.CALL_MADE)


def check_state(s: State) -> Iterator[tuple[str, str]]:
    """Check the audible laws about one state. Yields (law, what is wrong)."""
    is_told = s.fault is not None and s.fault.fatal  # the last words are being said
    could_hear = s.user is User.QUIET and s.link not in _NO_SOUND and not is_told
    is_owed = _is_owed(s) or _is_more_to_come(s)
    waits = could_hear and (s.voice is Voice.PLAYING or (s.voice is Voice.SILENT and is_owed))
    if waits and not s.due[_CUE]:
        yield NO_UNEXPLAINED_SILENCE, "the person waits in silence, but no cue is planned"
    if s.due[_CUE] and not waits:
        yield NO_UNEXPLAINED_SILENCE, "a cue is planned, although the person speaks, waits for nothing or can't hear it"
    if s.cues and (is_told or s.link in CLOSED or not (s.voice in _SPEAKING or is_owed)):
        yield NO_UNEXPLAINED_SILENCE, "the count of cues isn't 0, although the wait is over"
    is_open = s.user is User.QUIET and s.voice is Voice.SILENT and s.reply is Reply.NONE and not s.jobs
    is_free = is_open and s.said == s.answered and not s.news
    if s.link is Link.UP and is_free and s.cut and not s.due[_OFFER]:
        yield INTERRUPTION_ENDS_WELL, "a sound without words has cut off an answer, but no offer to go on is planned"
    is_ending = s.ending is not Ending.NO
    if s.link is Link.UP and is_free and _checks_in(s) and not s.due[_DEAD_AIR] and not is_ending:
        yield NOISE_IS_BOUNDED, "both sides are quiet, but no check-in is planned"
    if s.link is Link.UP and is_free and is_ending and not (s.says or s.cut or s.due[_LAST_WORDS]):
        yield NOISE_IS_BOUNDED, "everything is said, but the end of the conversation isn't planned"
    if s.link is Link.SUSPENDED and not s.paused:
        yield PAUSE_LASTS, "the link is suspended, but the conversation isn't marked as paused"


def _is_owed(s: State) -> bool:
    """Does the person wait for an answer, for news from a job, or for the result of a tool call?"""
    return s.said > s.answered or s.news or s.telling or any(job.kind in FOREGROUND for job in s.jobs)


def _is_more_to_come(s: State) -> bool:
    """Does the person wait for the rest of an answer that was cut off, or for what the agent is about to say by
    itself?"""
    is_early = s.reply in (Reply.GUESSING, Reply.DRAFTING, Reply.DRAFTED)
    return s.cut or (s.reply is not Reply.NONE and not is_early)


def _checks_in(s: State) -> bool:
    """Will the agent check in or say goodbye after a long silence?"""
    settings = s.settings
    return settings.dead_air_ms > 0 and (s.check_ins < settings.check_ins_max or settings.hangs_up)


def check_step(step: CheckedStep) -> Iterator[tuple[str, str]]:
    """Check the audible laws about one step. Yields (law, what is wrong)."""
    before, after, event = step.before, step.after, step.event
    is_timer = type(event) is ev.TimerFired
    if is_timer and event.timer is Timer.CUE:  # type: ignore[attr-defined]
        yield from _is_only_a_cue(step)
    played = [effect.cue for effect in step.effects if type(effect) is fx.PlayCue]
    if played and after.user is not User.QUIET:
        yield NO_UNEXPLAINED_SILENCE, "a cue is played while the person speaks"
    if len(played) > 1:
        yield NO_UNEXPLAINED_SILENCE, "two cues are played at once"
    is_stopped = played or step.did(fx.StopCue) or isinstance(event, ev.PlaybackProgressed)
    if after.cues == 0 and before.cues and before.user is User.QUIET and not is_stopped:
        yield NO_UNEXPLAINED_SILENCE, "the wait has ended, but its cue goes on"
    is_onset = isinstance(event, ev.SpeechStarted | ev.PttPressed) and before.link not in CLOSED
    may_sound = before.user is User.QUIET and (before.voice is Voice.SILENT or before.cues)
    if is_onset and may_sound and after.user is not User.QUIET and len(step.did(fx.StopCue)) != 1:
        yield NO_UNEXPLAINED_SILENCE, "the person begins to speak, but the cue isn't stopped exactly once"
    is_pause = after.link is Link.SUSPENDED and before.link is not Link.SUSPENDED
    if is_pause and may_sound and not step.did(fx.StopCue):
        yield PAUSE_LASTS, "a pause begins, but the cue goes on"
    yield from _question(step, played)
    yield from _interruption(step)
    if is_timer and event.timer is Timer.LAST_WORDS:  # type: ignore[attr-defined]
        yield from _last_words(step)
    is_sound = not is_timer and after.link in LIVE and after.words is Words.NONE and _only_sound(step)
    if is_sound and before.due[_DEAD_AIR] and not after.due[_DEAD_AIR]:
        yield NOISE_IS_BOUNDED, "a sound without words has delayed the check-in"
    yield from _noise(step)
    yield from _presence(step)
    if before.paused and after.link is Link.UP and not isinstance(event, ev.ResumeRequested):
        yield PAUSE_LASTS, f"{type(event).__name__} ended a pause, but must not end it"


def _noise(step: CheckedStep) -> Iterator[tuple[str, str]]:
    """Check that a check-in that became due during a sound without words comes right after the sound, that such sounds
    delay the end of a call, but don't keep the call, and that they don't put off the next sign of life."""
    before, after = step.before, step.after
    is_wordless = _is_of_speech(step.event) and before.words is Words.NONE and after.words is Words.NONE
    if is_wordless and _only_sound(step) and before.sign_at and not step.did(fx.PlayCue):  # which is a sign itself
        settings = after.settings
        interval_ms = settings.cue_ms[min(before.cues, len(settings.cue_ms) - 1)]
        next_ms = max(after.at + settings.beat_ms, before.sign_at + interval_ms)
        if after.sign_at > before.sign_at or after.cues < before.cues or after.due[_CUE] > next_ms:
            yield NOISE_IS_BOUNDED, "a sound without words has delayed the next cue"
    ends = before.user is not User.QUIET and after.user is User.QUIET and before.words is Words.NONE
    if ends and before.link in LIVE and after.link in LIVE and _only_sound(step):
        was_due = _is_idle(before) and not before.due[_DEAD_AIR] and _checks_in(before)
        if was_due and after.due[_DEAD_AIR] - after.at > after.settings.beat_ms:
            yield NOISE_IS_BOUNDED, "a check-in was due during a sound, but isn't made right after the sound"
    yield from _goodbye(step)
    if before.user is not User.QUIET and after.link is Link.UP and not before.due[_LAST_WORDS]:
        is_late = after.due[_LAST_WORDS] - after.at > after.settings.beat_ms
        if is_late and not before.due[_DEAD_AIR] and _checks_in(before):
            yield NOISE_IS_BOUNDED, "sounds without words have delayed the end by a period already, and delay it again"


def _goodbye(step: CheckedStep) -> Iterator[tuple[str, str]]:
    """Check what a sound without words can do to a goodbye after a long silence. If the goodbye is heard to its end,
    the conversation must end after the sound. If the sound cuts it off, the goodbye may be said once more. Words must
    always keep the conversation."""
    before, after, event = step.before, step.after, step.event
    if isinstance(event, _MAY_END_GOODBYE) and before.link in LIVE and before.ask is Ask.GOODBYE:
        yield from _end_of_goodbye(step)
    if (
        after.said > before.said
        and not isinstance(event, ev.EndAfterSpeaking)
        and after.ending is Ending.UNLESS_OPPOSED
    ):
        yield LAST_WORDS_ARE_HEARD, "the person has said something, but the call ends"


_MAY_END_GOODBYE = (ev.PlaybackFinished, ev.ReplyFinished, ev.SpeechStarted, ev.OverlapJudged)


def _end_of_goodbye(step: CheckedStep) -> Iterator[tuple[str, str]]:
    before, after, event = step.before, step.after, step.event
    is_speaking = before.voice in _SPEAKING
    is_sound = before.user is not User.QUIET
    is_unopposed = before.words is Words.NONE and after.said == before.asked and not before.called
    is_over = isinstance(event, ev.PlaybackFinished) and is_speaking
    is_shown = isinstance(event, ev.ReplyFinished) and before.reply is not Reply.NONE and not is_speaking
    if is_sound and (is_over or is_shown) and is_unopposed and after.link in LIVE and after.ending is Ending.NO:
        yield NOISE_IS_BOUNDED, "a sound during a goodbye keeps the call, even if the sound is noise"
    is_cut = is_speaking and after.voice not in _SPEAKING and isinstance(event, ev.SpeechStarted | ev.OverlapJudged)
    if is_cut and is_unopposed and after.link in LIVE:
        is_second = before.check_ins > before.settings.check_ins_max
        if after.ending is Ending.NO and (is_second or after.check_ins <= after.settings.check_ins_max):
            yield NOISE_IS_BOUNDED, "sounds can cut off more than one goodbye"
    if is_sound and after.link is Link.TERMINATING and isinstance(event, ev.PlaybackFinished | ev.ReplyFinished):
        yield LAST_WORDS_ARE_HEARD, "the call ends while the person makes a sound"


def _is_idle(s: State) -> bool:
    is_silent = s.voice is Voice.SILENT and s.reply is Reply.NONE and not s.jobs
    return is_silent and s.said == s.answered and not s.news


_OF_PRESENCE = (ev.SpeechStarted, ev.SpeechStopped, ev.WordsHeard, ev.TurnEnded, ev.SendPressed, ev.PttReleased)
_MAY_NOT_DO = (fx.CancelReply, fx.ReportLost, fx.StopPlayback, fx.CancelWork, fx.PostOutput)


def _presence(step: CheckedStep) -> Iterator[tuple[str, str]]:
    """Check that "hello?" costs nothing while an answer is owed and nothing of it is heard: the answer that is on its
    way stays on its way, no turn is added, and the person hears a sign of life or the answer itself."""
    before, after, event = step.before, step.after, step.event
    if not _is_of_speech(event) or before.user is User.QUIET:
        return
    if isinstance(event, ev.WordsHeard):
        is_all = event.presence and event.turn == before.turn > before.said
    else:
        is_all = before.words is Words.PRESENCE
    if not is_all or before.voice is not Voice.SILENT or before.link not in LIVE or not _is_owed(before):
        return
    if any(type(effect) in _MAY_NOT_DO for effect in step.effects):
        yield HELLO_COSTS_NOTHING, "a turn that only asks whether the agent is there has cancelled something"
    if (after.said, after.answered) != (before.said, before.answered) or after.turn > before.turn + 1:
        yield HELLO_COSTS_NOTHING, "words that only ask whether the agent is there count as a turn"
    starts = [effect for effect in step.effects if type(effect) is fx.StartReply]
    if starts and before.reply is not Reply.NONE:
        yield HELLO_COSTS_NOTHING, "words that only ask whether the agent is there restart the request"
    is_over = after.user is User.QUIET
    cues = [effect.cue for effect in step.effects if type(effect) is fx.PlayCue]
    if is_over and cues != [Cue.PRESENCE]:
        yield HELLO_COSTS_NOTHING, "the person asks whether the agent is there, but hears neither a cue nor the answer"
    if is_over and fx.RecordOverheard(before.turn) not in step.effects:
        yield HELLO_COSTS_NOTHING, "words that only ask whether the agent is there aren't recorded"


def _is_of_speech(event: ev.Event) -> bool:
    """Is this event a part of what the person says, or the verdict on it?"""
    is_verdict = isinstance(event, ev.TimerFired) and event.timer in (Timer.SETTLE, Timer.TEXT, Timer.TALK)
    return is_verdict or type(event) in _OF_PRESENCE


def _is_only_a_cue(step: CheckedStep) -> Iterator[tuple[str, str]]:
    """Check a step in which a cue is due: it must play exactly one cue, arm the next one, and change nothing that
    doesn't belong to cues."""

    def rest(s: State) -> State:
        return s._replace(
            at=0, cues=0, sign_at=0, due=tuple(0 if index == _CUE else due for index, due in enumerate(s.due))
        )

    if rest(step.before) != rest(step.after):
        yield NO_UNEXPLAINED_SILENCE, "a step in which a cue is due changes something else, too"
    if len(step.effects) != 1 or not step.did(fx.PlayCue) or not step.after.due[_CUE]:
        yield NO_UNEXPLAINED_SILENCE, "a cue that is due must be played once, and the next one must be planned"


def _question(step: CheckedStep, played: list[Cue]) -> Iterator[tuple[str, str]]:
    before, after, event = step.before, step.after, step.event
    is_lost = bool(step.did(fx.ReportLost)) and after.link not in CLOSED
    if is_lost and isinstance(event, ev.TimerFired) and event.timer is Timer.DISMISS:
        yield QUESTION_SURVIVES, "the end of a fault has dropped a question"
    told = after.user is not User.QUIET or any(cue in _TELLS_LOSS for cue in played)
    if is_lost and not isinstance(event, ev.DismissRequested) and not told:
        yield QUESTION_SURVIVES, "a question is given up, but the person isn't told"
    shown = [effect for effect in step.effects if isinstance(effect, fx.ShowFault)]
    if shown and shown[0].fatal and after.user is User.QUIET and played != [Cue.ENDED]:
        yield QUESTION_SURVIVES, "the conversation can't go on, but the person isn't told"
    if shown and not shown[0].fatal:
        broken = before.voice is not Voice.SILENT and before.heard_ms
        if broken and after.user is User.QUIET and Cue.BROKEN_OFF not in played:
            yield QUESTION_SURVIVES, "an answer breaks off, but the person isn't told"
        called = before.called or any(job.kind in FOREGROUND for job in before.jobs)
        if called and after.asked > after.answered and not before.heard_ms:
            yield QUESTION_SURVIVES, "the brain would be asked again, although its answer has made a tool call"
    is_person = isinstance(event, ev.SpeechStarted | ev.TextTyped)
    if is_person and before.link is Link.FAULTED and after.link is Link.FAULTED and not after.fault.fatal:  # type: ignore[union-attr]
        yield QUESTION_SURVIVES, "the person speaks during a fault, but has to wait for its end"


def _interruption(step: CheckedStep) -> Iterator[tuple[str, str]]:
    """Check two things. If a lost line cuts off an answer, the answer must be marked as cut off. The mark must stay
    until the person says something or the agent speaks again, no matter whether a sound or a lost line has cut off the
    answer."""
    before, after = step.before, step.after
    if after.link in _AWAY and before.link not in _AWAY and not after.cut:
        goes_on_later = before.heard_ms > 0 or before.ask is Ask.OFFER
        was_speaking = before.voice in _SPEAKING and before.ask not in (Ask.CHECK_IN, Ask.GOODBYE)
        was_offering = before.ask is Ask.OFFER and before.reply is not Reply.NONE and before.voice is Voice.SILENT
        if (was_speaking and goes_on_later) or was_offering:
            yield (
                INTERRUPTION_ENDS_WELL,
                "a lost line has cut off an answer, but the answer isn't marked to be taken up again",
            )
    if not before.cut or after.cut or after.link in CLOSED:
        return
    goes_on = step.did(fx.StartReply) or after.reply is not Reply.NONE or after.said > before.said
    by_person = isinstance(step.event, ev.InterruptRequested | ev.TextTyped | ev.WordsHeard | ev.AnswerOverheard)
    if not goes_on and not by_person and not isinstance(step.event, ev.PlaybackFinished):
        yield INTERRUPTION_ENDS_WELL, "the mark of an answer that was cut off is lost"


def _last_words(step: CheckedStep) -> Iterator[tuple[str, str]]:
    before = step.before
    busy = before.voice is not Voice.SILENT or before.reply is not Reply.NONE or before.user is not User.QUIET
    if busy or before.cut or before.ending is Ending.NO or step.did(fx.ReportLost):
        yield LAST_WORDS_ARE_HEARD, "the conversation ends before everything is said"
    if any(job.kind is not JobKind.DISPATCHED for job in before.jobs):
        yield LAST_WORDS_ARE_HEARD, "the conversation ends while a tool call is open"


def _only_sound(step: CheckedStep) -> bool:
    """Has the person only made a sound in this step? True if the step has left the voice, the reply, the link, the
    turns, the news and the jobs unchanged."""
    before, after = step.before, step.after
    same = before.voice is after.voice and before.reply is after.reply and before.link is after.link
    return same and after.said == before.said and after.news == before.news and len(before.jobs) == len(after.jobs)
