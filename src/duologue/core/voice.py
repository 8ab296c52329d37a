"""The voice region: what is the agent's sound doing? Its rows hold, resume, stop and end the sound.

When the person makes a sound while the agent speaks, the agent's sound may be held until the verdict: the judgement
whether the person's sound is an interruption. This module doesn't know what is said. Rule: every change of this region
is a row in VOICE_ROWS, or a rule in `rules` if the change depends on several regions, such as the start of a sound.
"""

from __future__ import annotations

from .answers import (
    TAKEN_UP,
    become_firm,
    cancel_reply,
    changes_question,
    end_reply,
    end_sound,
    forget_sound,
    is_not_firm,
    mark_answered,
    mark_heard,
    note_cut_goodbye,
    note_goodbye,
    owe_asked,
    stop_sound,
    withdraw_end,
)
from .cues import give_cue, note_speech_heard
from .draft import Draft
from .effects import StopCue, WarnLongSpeech
from .events import (
    Event,
    InterruptRequested,
    OverlapJudged,
    PlaybackFailed,
    PlaybackFinished,
    PlaybackProgressed,
    PlaybackStopped,
    PttPressed,
    QuestionMissed,
    ReplyBecameFirm,
    SpeechStarted,
    SpeechStopped,
    TextTyped,
    WordsHeard,
)
from .leaves import ENDING, SOUNDING, TIMER_INDEX, Ask, Ending, Overlap, Timer, Voice
from .rows import Row, row
from .state import State, floor_is_open, has_foreground, is_owed

# -- Guards


def onset_holds(s: State, e: Event) -> bool:
    return s.settings.overlap is Overlap.CONFIRM and not s.firm


def takes_floor(s: State, e: Event) -> bool:
    """Does the person take the floor (the right to speak) with this event? The onset of speech takes the floor only in
    the profile `immediate`. A verdict takes the floor only if it says that the person's sound is a bid for the floor.
    Neither of these interrupts a firm reply (one that speech can't interrupt). A button press, a typed turn or a
    command always takes the floor."""
    if isinstance(e, SpeechStarted):
        return s.settings.overlap is Overlap.IMMEDIATE and not s.firm
    return not isinstance(e, OverlapJudged) or (e.bid and not s.firm)


def heard_more(s: State, e: PlaybackProgressed) -> bool:
    return e.heard_ms > s.heard_ms


def breath_is_over(s: State, e: Event) -> bool:
    return not s.due[TIMER_INDEX[Timer.BREATH]]


def changes_unheard_question(s: State, e: WordsHeard) -> bool:
    """Does late text change the turn that is being answered, while nothing of the answer was heard yet?"""
    return changes_question(s, e) and s.heard_ms == 0 and not has_foreground(s)


def may_ask_again(s: State, e: QuestionMissed) -> bool:
    """May the agent say its question again? Only if the person waits for nothing, no news (such as the result of a job)
    is to be told, and nothing else is about to be said."""
    return floor_is_open(s) and not is_owed(s) and not s.says and not s.cut and s.ending is Ending.NO


# -- Actions


def interrupt(d: Draft, e: Event) -> None:
    """Stop the sound and cancel the reply in this step. The reply is shortened in the history later, when the line is
    silent."""
    stop_sound(d)
    if isinstance(e, SpeechStarted | OverlapJudged):
        note_cut_goodbye(d)
    if d.cues and isinstance(e, InterruptRequested):
        d.emit(StopCue())
    cancel_reply(d)
    d.cut = isinstance(e, _BY_SOUND) and d.ask in TAKEN_UP
    if d.ask is not Ask.SAY:
        d.ask = Ask.ANSWER
    if isinstance(e, InterruptRequested):
        count_as_answered(d, e)
    elif isinstance(e, WordsHeard):
        owe_asked(d)
    elif isinstance(e, OverlapJudged) and d.overheard > d.said:
        d.said = d.overheard  # the overheard turn was the bid for the floor, so it needs an answer
        withdraw_end(d)
    d.overheard = 0


def take_up_again(d: Draft, e: QuestionMissed) -> None:
    """Let the agent offer to go on with its answer, as it does after an interruption by a sound without words."""
    d.cut = True


def count_as_answered(d: Draft, e: Event) -> None:
    """Count the question as answered, because the person wants no answer. This is done even if nothing of the answer
    was heard."""
    mark_answered(d)
    d.ask = Ask.ANSWER
    d.telling = d.cut = False


def note_heard(d: Draft, e: Event) -> None:
    if isinstance(e, PlaybackProgressed | PlaybackStopped | PlaybackFinished):
        d.heard_ms = max(d.heard_ms, e.heard_ms)
    if isinstance(e, PlaybackFinished):
        d.cut = False  # all of it was heard


def progress(d: Draft, e: PlaybackProgressed) -> None:
    more_ms = e.heard_ms - d.heard_ms
    note_heard(d, e)
    if d.voice is Voice.PLAYING:
        d.arm(Timer.STALL, d.settings.stall_ms_max)
        note_speech_heard(d, more_ms)


def finish(d: Draft, e: PlaybackFinished) -> None:
    """Handle the end of the sound, which was played completely. The turns that it answers now count as answered, and
    the count of consecutive faults starts again at 0."""
    d.reply_id += 1
    note_goodbye(d)
    mark_heard(d)
    end_reply(d, heard=True)
    forget_sound(d)
    d.faults_in_a_row = 0


def silence(d: Draft, e: Event) -> None:
    note_heard(d, e)
    end_sound(d)


def expect_words(d: Draft, e: Event) -> None:
    """Wait a little for the words of the person's sound, which has just ended. For example, the text of a short "stop"
    arrives only after the sound."""
    d.arm(Timer.LULL, d.settings.overlap_quiet_ms_max)


def expect_verdict(d: Draft, e: Event) -> None:
    d.disarm(Timer.LULL)


def warn_long_speech(d: Draft, e: Event) -> None:
    d.emit(WarnLongSpeech(d.voice_id))


V, T = Voice, Timer

_BY_SOUND = (SpeechStarted, PttPressed, OverlapJudged)
TAKES_FLOOR = (*_BY_SOUND, TextTyped, InterruptRequested)

VOICE_ROWS: tuple[Row, ...] = (
    # The person makes a sound or asks for silence
    row(V.PLAYING, SpeechStarted, V.HELD, None, onset_holds),
    row(SOUNDING, TAKES_FLOOR, V.STOPPING, interrupt, takes_floor),
    row(SOUNDING, WordsHeard, V.STOPPING, interrupt, changes_unheard_question),
    row(V.HELD, OverlapJudged, V.PLAYING, why="the person's sound wasn't a bid for the floor"),
    row(V.HELD, SpeechStopped, None, expect_words),
    row(V.HELD, SpeechStarted, None, expect_verdict),
    row(V.HELD, (T.OVERLAP, T.LULL), V.PLAYING),
    row(V.HELD, ReplyBecameFirm, V.PLAYING, become_firm, why="speech can't interrupt a firm reply"),
    row(V.PLAYING, ReplyBecameFirm, None, become_firm, is_not_firm),
    # Playing
    row((*SOUNDING, *ENDING), PlaybackProgressed, None, progress, heard_more),
    row(SOUNDING, PlaybackFinished, V.SILENT, finish),
    row(SOUNDING, T.LONG_SPEECH, None, warn_long_speech),
    row(V.SILENT, QuestionMissed, None, take_up_again, may_ask_again),
    # A wait in silence
    row((V.SILENT, V.PLAYING), T.CUE, None, give_cue),
    # Stopping
    row(ENDING, InterruptRequested, None, count_as_answered),
    row(V.STOPPING, T.BREATH, None),
    row(V.STOPPING, (PlaybackStopped, PlaybackFinished, PlaybackFailed), V.SILENT, silence, breath_is_over),
    row(V.STOPPING, (PlaybackStopped, PlaybackFinished, PlaybackFailed), V.HUSHED, note_heard),
    row(V.HUSHED, T.BREATH, V.SILENT, silence),
    row(ENDING, T.STOP, V.SILENT, silence),
)
