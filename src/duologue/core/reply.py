"""The reply region: how far along is the agent's reply? Its rows request, retry, cancel and finish the reply.

This module doesn't know the words of the question or of the reply. When a reply is cancelled, the reply id increases,
and events with the old id are ignored. Rule: every change of this region is a row in REPLY_ROWS, or a rule in `rules`
if the change depends on several regions.
"""

from __future__ import annotations

from .answers import (
    become_firm,
    cancel_reply,
    changes_question,
    clear_reply,
    drop_guess,
    end_reply,
    give_up,
    guess_reply,
    is_not_firm,
    mark_answered,
    mark_heard,
    note_goodbye,
    start_reply,
    start_saying,
)
from .draft import Draft
from .events import (
    AgentChangeRequested,
    AnswerOverheard,
    AudioBuffered,
    Event,
    InterruptRequested,
    PttPressed,
    ReplyAccepted,
    ReplyBecameFirm,
    ReplyFailed,
    ReplyFinished,
    ReplyWasEmpty,
    SpeechStarted,
    TextTyped,
    TimerFired,
    TokenArrived,
    ToolCalled,
    TurnGuessed,
    TurnTaken,
    WordsHeard,
)
from .leaves import EARLY, PENDING, Ask, Cue, Ending, Link, Reply, Timer, User, Words
from .rows import Row, row
from .settings import POLICIES
from .state import State, has_foreground, is_idle, may_say, turn_of_onset
from .user import is_overheard

# -- Guards


def may_retry(s: State, e: Event) -> bool:
    """May the reply be tried again after this failure? A reply that has made a tool call is never tried again."""
    allowed = POLICIES[e.error].retries_max if isinstance(e, ReplyFailed) else len(s.settings.retry_ms)
    return not s.called and s.retries < min(allowed, len(s.settings.retry_ms))


def fails_for_good(s: State, e: Event) -> bool:
    """Does this failure end in a fault? No, if no reply is pending, if the reply can be tried again, or if its tool
    calls will continue it. After the deadline for the whole answer, a reply can't be tried again."""
    worth_going_on = not isinstance(e, ReplyFailed) or POLICIES[e.error].retries_max > 0
    if s.reply not in PENDING or (s.called and worth_going_on):
        return False
    return (isinstance(e, TimerFired) and e.timer is Timer.ANSWER) or not may_retry(s, e)


def adds_to_question(s: State, e: WordsHeard | TextTyped) -> bool:
    """Does the person add words to the question before any of the answer was heard? A mere "hello?" adds nothing.
    Always false while the conversation waits for a tool call, because new words then have to wait."""
    if has_foreground(s):
        return False
    return isinstance(e, TextTyped) or (
        not e.presence and e.substantial > 0 and (e.turn > s.asked or changes_question(s, e))
    )


def may_ask_once_more(s: State, e: Event) -> bool:
    return not s.called and s.retries == 0


def must_wait(s: State, e: Event) -> bool:
    """Must a check-in wait until the person's sound has ended? Or is the conversation about to end anyway?"""
    return s.user is not User.QUIET or s.ending is not Ending.NO


def may_check_in(s: State, e: Event) -> bool:
    return s.check_ins < s.settings.check_ins_max


def hangs_up(s: State, e: Event) -> bool:
    return s.settings.hangs_up


def another_agent_answers(s: State, e: AgentChangeRequested) -> bool:
    """Will another agent answer instead? No, if this reply has made a tool call, because the output of the tool call
    will continue the reply. Also no if the reply says text from the program."""
    return e.speaks and not s.called and s.ask is not Ask.SAY


def may_guess(s: State, e: TurnGuessed) -> bool:
    """May the brain be asked early, before it is certain that the turn is over? Not while an earlier turn has no answer
    or there is news (such as the result of a job). In one turn, the brain is asked early at most `early_requests_max`
    times."""
    is_free = s.link is Link.UP and s.user is not User.QUIET and is_idle(s) and s.words is not Words.NONE
    return (
        is_free
        and s.said == s.answered
        and not s.news
        and s.ending is Ending.NO
        and s.guesses < s.settings.early_requests_max
        and e.gist != s.guess
    )


def changes_guess(s: State, e: WordsHeard) -> bool:
    """Does the text differ from the words that were sent to the brain early? Differences in case and punctuation are
    ignored."""
    return e.turn != s.turn or e.gist != s.guess


def begins_next_turn(s: State, e: Event) -> bool:
    """Does speech that begins now start a new turn, instead of continuing the turn that was sent to the brain early?"""
    return turn_of_onset(s) > s.turn


def turn_has_words(s: State, e: Event) -> bool:
    """Is a turn of the person open, and does it have words? A reply that is ready waits for the end of this turn."""
    return s.user is not User.QUIET and s.words is not Words.NONE


# -- Actions


def ask(d: Draft, e: Event) -> None:
    """If the program has text to say and it may be said now, say it. Otherwise ask the brain about all turns that are
    owed an answer, and about news (such as the result of a job)."""
    if may_say(d.before):
        start_saying(d)
    else:
        start_reply(d, Ask.ANSWER)


def ask_again(d: Draft, e: Event) -> None:
    if d.ask is Ask.SAY:
        start_saying(d)
    else:
        start_reply(d, d.ask)


def take_turn(d: Draft, e: TurnTaken) -> None:
    """Drop the request about this turn, because the program has taken the turn as the answer to its own question. The
    person is still owed an answer to the other turns and news in the request."""
    is_asked = d.before.reply is not Reply.NONE
    if is_asked:
        cancel_reply(d)
    d.answered = e.turn
    d.asked = max(d.asked, e.turn)
    if is_asked:
        end_reply(d, heard=False)


def ask_check_in(d: Draft, e: Event) -> None:
    d.check_ins += 1
    start_reply(d, Ask.CHECK_IN)


def ask_goodbye(d: Draft, e: Event) -> None:
    start_reply(d, Ask.GOODBYE)


def ask_offer(d: Draft, e: Event) -> None:
    start_reply(d, Ask.OFFER)


def guess(d: Draft, e: TurnGuessed) -> None:
    guess_reply(d, e.gist)


def guess_again(d: Draft, e: TurnGuessed) -> None:
    cancel_reply(d)
    guess_reply(d, e.gist)


def drop_early(d: Draft, e: Event) -> None:
    drop_guess(d)


def note_call(d: Draft, e: Event) -> None:
    d.called = True


def retry(d: Draft, e: Event) -> None:
    d.retries += 1
    cancel_reply(d)


def drop(d: Draft, e: Event) -> None:
    """Cancel a reply of which nothing was heard. The brain will be asked about its turns again."""
    cancel_reply(d)
    end_reply(d, heard=False)


def finish(d: Draft, e: Event) -> None:
    """End a reply that has no audio. If the reply made tool calls, their outputs will continue it. Otherwise its turns
    count as answered."""
    d.reply_id += 1
    if d.called:
        clear_reply(d)
    else:
        note_goodbye(d)
        mark_heard(d)
        end_reply(d, heard=True)
        d.faults_in_a_row = 0


def end_empty(d: Draft, e: Event) -> None:
    """End an empty reply. If it made tool calls, their outputs will continue it. Otherwise its turns are reported as
    lost, because the brain was already asked a second time."""
    d.reply_id += 1
    if d.called:
        clear_reply(d)
    else:
        give_up(d, d.asked, Cue.CALL_MADE if d.telling else Cue.EMPTY)
        end_reply(d, heard=True)


def cancel(d: Draft, e: Event) -> None:
    """Cancel the reply, and count the question as answered, because the person wants no answer."""
    cancel_reply(d)
    mark_answered(d)
    end_reply(d, heard=True)


R, T = Reply, Timer
_OPEN = (R.COMMITTING, R.WAITING, R.GENERATING)

REPLY_ROWS: tuple[Row, ...] = (
    row(R.NONE, (T.BEAT, T.PATIENCE), R.COMMITTING, ask),
    row(R.NONE, T.DEAD_AIR, None, None, must_wait, "it waits for the end of the person's sound"),
    row(R.NONE, T.DEAD_AIR, R.COMMITTING, ask_check_in, may_check_in),
    row(R.NONE, T.DEAD_AIR, R.COMMITTING, ask_goodbye, hangs_up, "the person answered no check-in"),
    row(R.NONE, T.OFFER, R.COMMITTING, ask_offer),
    row(R.COMMITTING, ReplyAccepted, R.WAITING),
    row((R.COMMITTING, R.WAITING), TokenArrived, R.GENERATING),
    row((R.COMMITTING, R.WAITING), ToolCalled, R.GENERATING, note_call),
    row((R.GENERATING, R.READY, R.NONE), ToolCalled, None, note_call),
    row((*_OPEN, R.READY), ReplyBecameFirm, None, become_firm, is_not_firm),
    row(_OPEN, AudioBuffered, R.READY),
    row(_OPEN, ReplyFinished, R.NONE, finish),
    row(_OPEN, ReplyWasEmpty, R.RETRYING, retry, may_ask_once_more),
    row(_OPEN, ReplyWasEmpty, R.NONE, end_empty),
    # Asking early, while the turn may still go on
    row(R.NONE, TurnGuessed, R.GUESSING, guess, may_guess),
    row(EARLY, TurnGuessed, R.GUESSING, guess_again, may_guess, "replaces the earlier request"),
    row(R.GUESSING, TokenArrived, R.DRAFTING),
    row((R.GUESSING, R.DRAFTING), AudioBuffered, R.DRAFTED),
    row(EARLY, ReplyBecameFirm, None, become_firm, is_not_firm),
    row(EARLY, WordsHeard, R.NONE, drop_early, changes_guess, "the words are not those that were sent"),
    row(EARLY, (SpeechStarted, PttPressed), R.NONE, drop_early, begins_next_turn),
    row(EARLY, (TextTyped, InterruptRequested), R.NONE, drop_early, why="the question has changed or was cancelled"),
    row(EARLY, AnswerOverheard, R.NONE, drop_early, is_overheard, "the question has changed"),
    row(EARLY, (ReplyFailed, T.ATTEMPT, T.ANSWER, T.READY), R.NONE, drop_early, why="asked again when the turn ends"),
    # Failing
    row((*_OPEN, R.READY), (ReplyFailed, T.ATTEMPT), R.RETRYING, retry, may_retry),
    row(PENDING, (ReplyFailed, T.ATTEMPT, T.ANSWER), R.NONE, drop),
    row(R.RETRYING, T.RETRY, R.COMMITTING, ask_again),
    # The person
    row(PENDING, (WordsHeard, TextTyped), R.NONE, drop, adds_to_question),
    row(PENDING, InterruptRequested, R.NONE, cancel),
    row(R.READY, T.READY, R.NONE, drop, turn_has_words),
    # The program
    row(PENDING, TurnTaken, R.NONE, take_turn),
    row(R.NONE, TurnTaken, None, take_turn),
    row(PENDING, AgentChangeRequested, R.NONE, drop, another_agent_answers),
    row(EARLY, AgentChangeRequested, R.NONE, drop_early, another_agent_answers),
)
