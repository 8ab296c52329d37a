"""The user region: what is the person doing? Its rows begin a turn, note its words, wait for its end and end it.

The rows use the start and the end of speech, the judgement that a turn is over, and facts about words (such as their
number). This module doesn't know about audio, text or services. Rule: every change of this region is a row in
USER_ROWS, except that a closed line ends the turn.
"""

from __future__ import annotations

from .answers import tell, tell_again, withdraw_end
from .cues import wait_anew
from .deadlines import dead_air_ms
from .draft import Draft
from .effects import CommitAudio, DiscardAudio, PlayCue, RecordOverheard, StopCue, WarnLongTalk
from .events import (
    AnswerOverheard,
    Event,
    PttPressed,
    PttReleased,
    SendPressed,
    SoundDismissed,
    SpeechStarted,
    SpeechStopped,
    TextTyped,
    TimerFired,
    TurnEnded,
    WordsHeard,
)
from .leaves import PENDING, SOUNDING, TIMER_INDEX, Ask, Cue, Ending, Timer, User, Voice, Words
from .rows import Row, row
from .state import State, StateOrDraft, awaits_check_in, is_kept_waiting, is_waited_for

_DEAD_AIR = TIMER_INDEX[Timer.DEAD_AIR]
_TOLD_MS = 4_000  # an apology is heard to its end within this time

# -- Guards


def text_is_final(s: State, e: Event) -> bool:
    """Is the text of the turn final, so that no more words are expected? Not while the person makes another sound after
    the text. When that sound has ended without words, it was noise, and the text is final."""
    return s.final and not (s.unread and s.user is User.TALKING)


def sound_follows_text(s: State, e: Event) -> bool:
    """Is the text of the turn final, but has another sound followed it, so that more words may come?"""
    return s.final and s.unread


def no_words_yet(s: State, e: Event) -> bool:
    return s.words is Words.NONE


def is_of_this_turn(s: State, e: WordsHeard) -> bool:
    return e.turn == s.turn


def is_final_text(s: State, e: WordsHeard) -> bool:
    return e.turn == s.turn and e.final


def is_empty_final(s: State, e: WordsHeard) -> bool:
    """Is this the final text of the current turn, and is it empty? If so, nothing was said, even if there was partial
    text before."""
    return e.turn == s.turn and e.final and e.words == 0


def is_overheard(s: State, e: AnswerOverheard) -> bool:
    """Is this turn over, and was it recorded as overheard instead of answered?"""
    is_over = e.turn < s.turn or (e.turn == s.turn and s.user is User.QUIET)
    return e.turn > s.said and is_over


def asks_for_presence(s: StateOrDraft, words: Words) -> bool:
    """Do these words only ask whether the agent is there ("hello?"), while the person waits and has heard nothing of
    the answer?"""
    is_over = s.fault is not None and s.fault.fatal
    return words is Words.PRESENCE and s.voice is Voice.SILENT and is_waited_for(s) and not is_over


def has_late_words(s: State, e: WordsHeard) -> bool:
    """Must this late text be handled? Not if it has no words. If its turn was already sent to the brain, only a final
    text is handled."""
    return e.words > 0 and (e.final or e.turn > s.asked)


# -- Actions


def begin_turn(d: Draft, e: Event) -> None:
    d.turn += 1
    d.content = d.guesses = 0
    d.onset = d.seq
    d.overheard = 0  # from now on, a verdict is about this turn
    if d.before.user is User.QUIET and e.at - d.told_at > _TOLD_MS:
        d.told = Cue.SOUND  # the person has heard all of it
    if d.before.user is User.QUIET and d.before.voice is Voice.SILENT:
        d.emit(StopCue())


def note_quiet(d: Draft, e: SpeechStopped) -> None:
    d.quiet_at = max(0, e.at - e.quiet_ms)


def expect_more_text(d: Draft, e: Event) -> None:
    d.onset = d.seq
    d.unread = d.final
    d.content = 0  # the same text may come again, if the new sound is only noise


def begin_next_turn(d: Draft, e: Event) -> None:
    """End the last turn and begin the next one, because the person speaks again before the text of the last turn has
    come."""
    _end_turn(d)
    begin_turn(d, e)


def note_words(d: Draft, e: WordsHeard) -> None:
    if d.user is User.SETTLING and (d.words is Words.NONE or d.unread) and e.words:
        d.arm(Timer.SETTLE, d.settings.settle_ms_max)  # there are words, so the sound wasn't noise
    d.unread = False
    if e.final and not e.words:
        d.words = Words.NONE  # the empty final text replaces the partial text
    elif e.presence:
        d.words = Words.PRESENCE
    elif e.substantial:
        d.words = Words.SUBSTANTIAL
    elif e.words and d.words in (Words.NONE, Words.PRESENCE):
        d.words = Words.FILLER
    d.final = e.final and d.words is not Words.NONE
    _note_content(d, e)


def _note_content(d: Draft, e: WordsHeard) -> None:
    if e.final and e.turn == d.turn:
        d.content = e.content


def commit_audio(d: Draft, e: Event) -> None:
    d.emit(CommitAudio(d.turn))
    d.final = d.unread = False  # if there was a final text, a sound has followed it
    _note_end_of_audio(d, e)
    if isinstance(e, SendPressed | PttReleased):
        hurry_text(d, e)


def hurry_text(d: Draft, e: Event) -> None:
    d.shorten(Timer.TEXT, d.settings.sent_text_ms_max)


def commit_part(d: Draft, e: Event) -> None:
    """Commit the audio so far, without ending the turn: the person goes on speaking."""
    d.emit(CommitAudio(d.turn))
    d.arm(Timer.COMMIT, d.settings.commit_ms)


def end_turn(d: Draft, e: Event) -> None:
    if isinstance(e, WordsHeard):
        note_words(d, e)
    _end_turn(d)


def commit_and_end_turn(d: Draft, e: Event) -> None:
    _close_audio(d)
    _note_end_of_audio(d, e)
    end_turn(d, e)


def _note_end_of_audio(d: Draft, e: Event) -> None:
    """If the person has sent the turn, or their voice was heard until now, they are silent from now on. But a sound
    that was noise isn't their voice. If the turn has reached its limit, warn."""
    is_heard = d.before.user is User.TALKING and not isinstance(e, SoundDismissed)
    if is_heard or isinstance(e, SendPressed | PttReleased):
        d.quiet_at = e.at
    if isinstance(e, TimerFired) and e.timer is Timer.TALK:
        d.emit(WarnLongTalk(d.turn))


def discard_noise(d: Draft, e: Event) -> None:
    d.emit(DiscardAudio(d.turn))
    end_turn(d, e)


def take_typed(d: Draft, e: Event) -> None:
    """Take a typed turn, which is complete immediately. If a spoken turn is still open, the typed text is added to that
    turn."""
    if d.before.user is User.QUIET:
        d.turn += 1
        d.content = d.guesses = 0
        if d.before.voice is Voice.SILENT and not is_kept_waiting(d.before):
            d.emit(StopCue())  # otherwise the wait goes on, and so does its cue: a typed turn explains no silence
    elif d.before.user in _OPEN:
        _close_audio(d)
    d.quiet_at = e.at
    d.told = Cue.SOUND
    _mark_said(d, d.turn)
    if d.fault is not None and d.fault.fatal:
        _repeat_last_words(d)
    _forget_words(d)


def take_late_words(d: Draft, e: WordsHeard) -> None:
    """Handle text that arrives after its turn has ended. The brain will be asked about it. But the text is only
    recorded as overheard in three cases: if its turn was already answered (at least in part), if its turn began while
    the agent's current speech was playing, or if it adds only fillers to a turn that was already sent to the brain."""
    _note_content(d, e)
    if e.presence and asks_for_presence(d.before, Words.PRESENCE) and e.turn > d.before.said:
        _give_sign(d, e.turn)
    elif _comes_too_late(d.before, e):
        d.emit(RecordOverheard(e.turn))
        d.check_ins = 0
        if e.turn == d.turn and d.user is User.QUIET and d.before.voice in SOUNDING and e.turn > d.floor_turn:
            d.overheard = e.turn
    else:
        _mark_said(d, e.turn)


def _comes_too_late(s: State, e: WordsHeard) -> bool:
    of_question = e.turn <= s.asked
    answered = e.turn <= s.answered or (of_question and s.heard_ms > 0)
    under_sound = s.voice in SOUNDING and e.turn > max(s.floor_turn, s.said) and not (s.firm and e.substantial)
    under_sound = under_sound and s.ask is not Ask.GOODBYE
    return answered or under_sound or (of_question and not e.substantial)


def _end_turn(d: Draft) -> None:
    """End the turn. Words that were spoken while the agent spoke, and fillers while a reply is pending, are only
    recorded as overheard. All other words need an answer, and so do substantial words during a firm reply (one that
    can't be interrupted): they are answered after that reply."""
    if d.words is not Words.NONE:
        over_sound = d.voice in SOUNDING and not (d.firm and d.words is not Words.FILLER) and d.ask is not Ask.GOODBYE
        behind_reply = d.words is Words.FILLER and d.reply in PENDING
        if not over_sound:
            withdraw_end(d)
        if asks_for_presence(d, d.words):
            _give_sign(d, d.turn)
        elif over_sound or behind_reply:
            d.emit(RecordOverheard(d.turn))
            d.overheard = d.turn if over_sound else 0
            d.check_ins = 0
        else:
            _mark_said(d, d.turn)
            wait_anew(d)
    is_over = d.fault is not None and d.fault.fatal
    if d.words is Words.NONE and not is_over:
        tell_again(d)
    elif d.words is not Words.NONE:
        d.told = Cue.SOUND
    if is_over:
        _say_last_words(d)
    elif (
        d.words is Words.NONE
        and d.ending is Ending.NO
        and awaits_check_in(d.before)
        and not d.due[TIMER_INDEX[Timer.DEAD_AIR]]
        and dead_air_ms(d)
    ):
        # The check-in became due while the noise went on. If it waited longer, the next noise could hold it up again.
        d.arm(Timer.DEAD_AIR, d.settings.beat_ms)
    _forget_words(d)


def _say_last_words(d: Draft) -> None:
    """Say once more that the conversation is over, because the person has spoken after a fatal fault. If they only made
    a noise, say nothing, and end the conversation soon."""
    if d.words is Words.NONE:
        d.shorten(Timer.DISMISS, d.settings.close_ms_max)
    else:
        _repeat_last_words(d)


def _repeat_last_words(d: Draft) -> None:
    d.arm(Timer.DISMISS, d.settings.fatal_ms)
    tell(d, Cue.ENDED)


def _give_sign(d: Draft, turn: int) -> None:
    """Answer "hello?" with a cue, which shows that the agent is there. The pending answer isn't affected."""
    d.emit(RecordOverheard(turn))
    d.check_ins = 0
    if d.user is User.QUIET:
        d.emit(PlayCue(Cue.PRESENCE))


def take_answer(d: Draft, e: AnswerOverheard) -> None:
    _mark_said(d, e.turn)
    d.overheard = 0


def _mark_said(d: Draft, turn: int) -> None:
    """Mark the turn as complete, so that the brain is asked about it. If the brain was already asked about this turn,
    it is asked again, because the text of the turn has changed."""
    d.said = max(d.said, turn)
    if turn <= d.asked:
        d.asked = d.answered
    d.check_ins = 0
    d.cut = False
    withdraw_end(d)


def _close_audio(d: Draft) -> None:
    d.emit(DiscardAudio(d.turn) if d.words is Words.NONE else CommitAudio(d.turn))


def _forget_words(d: Draft) -> None:
    d.words = Words.NONE
    d.final = d.unread = False


U, T = User, Timer
_OPEN = (U.TALKING, U.SETTLING)
# A sound that turns out to be noise (SoundDismissed) ends a turn with words, and the words count.
_ENDS = (TurnEnded, PttReleased, SendPressed, T.TALK, T.SETTLE, SoundDismissed)

USER_ROWS: tuple[Row, ...] = (
    row(U.QUIET, (SpeechStarted, PttPressed), U.TALKING, begin_turn),
    row(U.TALKING, SpeechStopped, U.SETTLING, note_quiet),
    row(U.SETTLING, (SpeechStarted, PttPressed), U.TALKING, expect_more_text, why="the same turn continues"),
    row(_OPEN, T.COMMIT, None, commit_part, why="the turn is long, but goes on"),
    row(U.TRANSCRIBING, (SpeechStarted, PttPressed), U.TALKING, begin_next_turn),
    # Words
    row(U.SETTLING, WordsHeard, U.QUIET, discard_noise, is_empty_final),
    row(_OPEN, WordsHeard, None, note_words, is_of_this_turn),
    row(U.TRANSCRIBING, WordsHeard, U.QUIET, end_turn, is_final_text),
    row(U.TRANSCRIBING, WordsHeard, None, note_words, is_of_this_turn),
    row(tuple(U), WordsHeard, None, take_late_words, has_late_words),
    row(tuple(U), AnswerOverheard, None, take_answer, is_overheard),
    # The end of the turn
    row((*_OPEN, U.TRANSCRIBING), (T.SETTLE, T.READY), U.QUIET, discard_noise, no_words_yet),
    row(_OPEN, SoundDismissed, U.QUIET, discard_noise, no_words_yet),
    row(_OPEN, SoundDismissed, U.QUIET, commit_and_end_turn, sound_follows_text, "the sound adds no words to the turn"),
    row(_OPEN, _ENDS, U.QUIET, commit_and_end_turn, text_is_final),
    row(_OPEN, _ENDS, U.TRANSCRIBING, commit_audio),
    row(U.TRANSCRIBING, (PttReleased, SendPressed), None, hurry_text, why="the person has ended the turn"),
    row(U.TRANSCRIBING, T.TEXT, U.QUIET, end_turn),
    row(tuple(U), TextTyped, U.QUIET, take_typed),
)
