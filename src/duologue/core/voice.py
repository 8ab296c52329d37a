"""What is the agent's sound doing? Holding it for a verdict, resuming, stopping and ending it.

Does not know what is said. Sound starts in a rule, because that takes the line, the person and the
reply together. Rule: every other change of this region is a row in VOICE_ROWS.
"""

from __future__ import annotations

from .answers import answer, cancel_reply, changes_question, end_sound, forget_sound, owe_asked, settle, stop_sound
from .draft import Draft
from .effects import WarnLongSpeech
from .events import (
    Event,
    InterruptRequested,
    OverlapJudged,
    PlaybackFailed,
    PlaybackFinished,
    PlaybackProgressed,
    PlaybackStopped,
    PttPressed,
    SpeechStarted,
    SpeechStopped,
    TextTyped,
    WordsHeard,
)
from .leaves import ENDING, SOUNDING, TIMER_INDEX, Ask, Overlap, Timer, Voice
from .rows import Row, row
from .state import State, has_foreground

# -- Guards


def onset_holds(s: State, e: Event) -> bool:
    return s.settings.overlap is Overlap.CONFIRM


def takes_floor(s: State, e: Event) -> bool:
    """Does the person take the floor? A mere sound does so only in the profile `immediate`; a press,
    a typed turn or a command always does."""
    if isinstance(e, SpeechStarted):
        return s.settings.overlap is Overlap.IMMEDIATE
    return not isinstance(e, OverlapJudged) or e.bid


def heard_more(s: State, e: PlaybackProgressed) -> bool:
    return e.heard_ms > s.heard_ms


def breath_is_over(s: State, e: Event) -> bool:
    return not s.due[TIMER_INDEX[Timer.BREATH]]


def changes_the_question(s: State, e: WordsHeard) -> bool:
    """Late text of the very turn that is being answered, while nothing of the answer was heard."""
    return changes_question(s, e) and s.heard_ms == 0 and not has_foreground(s)


# -- Actions


def interrupt(d: Draft, e: Event) -> None:
    """Stop the sound in this very step and drop the reply; truncation follows when it is silent."""
    stop_sound(d)
    cancel_reply(d)
    d.ask = Ask.ANSWER
    if isinstance(e, InterruptRequested):
        want_no_answer(d, e)
    elif isinstance(e, WordsHeard):
        owe_asked(d)
    elif isinstance(e, OverlapJudged):
        d.said = max(d.said, d.overheard)  # what was just overheard was the bid
    d.overheard = 0


def want_no_answer(d: Draft, e: Event) -> None:
    """The person wants no answer, even if nothing of it was heard."""
    answer(d)
    d.telling = False


def note_heard(d: Draft, e: Event) -> None:
    if isinstance(e, PlaybackProgressed | PlaybackStopped | PlaybackFinished):
        d.heard_ms = max(d.heard_ms, e.heard_ms)


def progress(d: Draft, e: PlaybackProgressed) -> None:
    note_heard(d, e)
    if d.voice is Voice.PLAYING:
        d.arm(Timer.STALL, d.settings.stall_ms_max)


def finish(d: Draft, e: PlaybackFinished) -> None:
    """Played to its end: this is what answers a turn, and what closes the breaker."""
    d.reply_id += 1
    answer(d)
    settle(d, heard=True)
    forget_sound(d)
    d.faults_in_a_row = 0


def silence(d: Draft, e: Event) -> None:
    note_heard(d, e)
    end_sound(d)


def expect_words(d: Draft, e: Event) -> None:
    """Silence alone proves nothing: the words of a short "stop" come after its sound."""
    d.arm(Timer.LULL, d.settings.overlap_quiet_ms_max)


def expect_verdict(d: Draft, e: Event) -> None:
    d.disarm(Timer.LULL)


def warn_long_speech(d: Draft, e: Event) -> None:
    d.emit(WarnLongSpeech(d.voice_id))


V, T = Voice, Timer

TAKES_FLOOR = (SpeechStarted, PttPressed, TextTyped, InterruptRequested, OverlapJudged)

VOICE_ROWS: tuple[Row, ...] = (
    # The person makes a sound or asks for silence
    row(V.PLAYING, SpeechStarted, V.HELD, None, onset_holds),
    row(SOUNDING, TAKES_FLOOR, V.STOPPING, interrupt, takes_floor),
    row(SOUNDING, WordsHeard, V.STOPPING, interrupt, changes_the_question),
    row(V.HELD, OverlapJudged, V.PLAYING, why="it was no bid"),
    row(V.HELD, SpeechStopped, None, expect_words),
    row(V.HELD, SpeechStarted, None, expect_verdict),
    row(V.HELD, (T.OVERLAP, T.LULL), V.PLAYING),
    # Playing
    row((*SOUNDING, *ENDING), PlaybackProgressed, None, progress, heard_more),
    row(SOUNDING, PlaybackFinished, V.SILENT, finish),
    row(SOUNDING, T.LONG_SPEECH, None, warn_long_speech),
    # Stopping
    row(ENDING, InterruptRequested, None, want_no_answer),
    row(V.STOPPING, T.BREATH, None),
    row(V.STOPPING, (PlaybackStopped, PlaybackFinished, PlaybackFailed), V.SILENT, silence, breath_is_over),
    row(V.STOPPING, (PlaybackStopped, PlaybackFinished, PlaybackFailed), V.HUSHED, note_heard),
    row(V.HUSHED, T.BREATH, V.SILENT, silence),
    row(ENDING, T.STOP, V.SILENT, silence),
)
