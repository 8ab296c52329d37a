"""What the hearing machine does after a step of the conversation machine.

Rule: `see` runs first, for every step. It stores the conversation machine's new state, updates what has become of the
user's words, and shifts times after a pause. Then at most one row applies.
"""

from __future__ import annotations

from collections.abc import Iterator

from duologue.core import events as ev
from duologue.core.effects import StartReply, WarnLongTalk
from duologue.core.leaves import ACTIVE, AWAY, Link, User, Voice
from duologue.core.leaves import Words as WordKind
from duologue.core.state import State, is_sounding

from . import intents as it
from .actions import begin_turn_of, dismiss_voice, follow_own_speech, split
from .inputs import CoreStepped
from .questions import follow as follow_question
from .questions import follow_jobs, judge_for_jobs
from .state import (
    DEAF,
    HeardUtterance,
    HearingDraft,
    answers_aside,
    least_answer_ms,
    needed_ms,
    new_words,
    newest_of,
    withholds_onsets,
)
from .words import TurnMark
from .words import follow as follow_words

_OPEN = (User.TALKING, User.SETTLING)
_SOUNDING = (Voice.PLAYING, Voice.HELD)


def see(d: HearingDraft, i: CoreStepped) -> None:
    """Store the conversation machine's new state. Then update the user's words, the agent's question and the times."""
    before, after = i.record.before, i.record.after
    _follow_own_speech(d, before, after)
    needed = needed_ms(d.policy, d.question) if d.question is not None else None
    d.asked_question = follow_question(d.asked_question, i.record, needed, d.policy.question_shown_ms)
    if d.aside_question.reply:
        d.aside_question = follow_question(d.aside_question, i.record, needed, d.policy.question_shown_ms)
    if d.job_questions:
        d.job_questions = follow_jobs(d.job_questions, i.record, needed, d.policy.question_shown_ms)
    d.core = after
    is_told = type(i.record.event) in (ev.TextTyped, ev.PlaybackFinished, ev.ReplyFinished, ev.ToolCalled)
    if i.record.effects or after.said != before.said or is_told:
        d.words = follow_words(d.words, i.record, (one.turn for one in d.known))
        if d.job_questions:
            _judge_for_jobs(d, i)
    _follow_playback(d, before, after)
    if after.turn > before.turn:
        d.turn_at = d.at
    if before.user in _OPEN and (after.user not in _OPEN or after.turn > before.turn):
        _note_end_of_turn(d, before.turn)
    if after.onset > before.onset:
        newest = newest_of(d)
        if newest is not None and not newest.onset:
            d.put(newest._replace(turn=after.turn, onset=after.onset))
    if isinstance(i.record.event, ev.SendPressed | ev.PttReleased) or _reached_limit(i):
        d.sent_turn = after.turn
    if before.link is not after.link:
        _follow_link(d, before.link, after.link)


def _follow_playback(d: HearingDraft, before: State, after: State) -> None:
    """Record when the line last reported how much of the agent's speech was heard. The time in which the speech was
    held, or in which the line carried no sound, doesn't count."""
    if is_sounding(before) and not is_sounding(after):
        d.held_at = d.at
    if after.heard_ms != before.heard_ms or (after.voice is Voice.PLAYING and before.voice not in _SOUNDING):
        d.heard_at = d.at
    elif is_sounding(after) and not is_sounding(before):
        d.heard_at += d.at - max(d.held_at, d.heard_at)


def _note_end_of_turn(d: HearingDraft, turn: int) -> None:
    for one in d.known:
        if one.turn == turn:
            d.put(one._replace(turn_ended_at=d.at))


def _judge_for_jobs(d: HearingDraft, i: CoreStepped) -> None:
    """If this step asks the brain about new words, decide which questions of jobs these words can answer."""
    for effect in i.record.effects:
        if type(effect) is StartReply and (new := new_words(d, effect.first, effect.last)) is not None:
            d.job_questions = judge_for_jobs(d.job_questions, new.began_at, new.is_read, answers_aside(d, new))


def _follow_own_speech(d: HearingDraft, before: State, after: State) -> None:
    """Record which of the agent's words were played before this step. Call this before `d.core` gets the new state."""
    if is_sounding(before) and (after.heard_ms != before.heard_ms or not is_sounding(after)):
        follow_own_speech(d)


def _reached_limit(i: CoreStepped) -> bool:
    return any(type(effect) is WarnLongTalk for effect in i.record.effects)


def _follow_link(d: HearingDraft, before: Link, after: Link) -> None:
    """If audio arrives again after a break, shift the times of the user's voice by the length of the break. If the line
    is lost, release the push-to-talk button."""
    if d.button and after in AWAY:
        d.speaking = d.button = False
        d.intents.append(it.ReleaseButton())
    if (after in DEAF) is (before in DEAF):
        return
    if after in DEAF:
        d.deaf_at = d.at
        return
    d.began_at, d.ended_at, d.end_reported_at, d.turn_at, d.text_at = (
        _after_break(d, at) for at in (d.began_at, d.ended_at, d.end_reported_at, d.turn_at, d.text_at)
    )
    d.early_end = d.early_end._replace(ended_at=_after_break(d, d.early_end.ended_at))
    for one in d.known:
        if one.turn_ended_at:
            d.put(one._replace(turn_ended_at=_after_break(d, one.turn_ended_at)))


def _after_break(d: HearingDraft, at: int) -> int:
    """This time, shifted by the length of the break."""
    return at + d.at - max(at, d.deaf_at)


# -- The conversation machine has ended a turn in mid-speech


def _has_ended(i: CoreStepped) -> bool:
    before, after = i.record.before, i.record.after
    ended = before.user in _OPEN and after.user in (User.QUIET, User.TRANSCRIBING)
    return ended and after.link in ACTIVE and not isinstance(i.record.event, ev.PttReleased)


def ended_under_button(d: HearingDraft, i: CoreStepped) -> bool:
    return d.button and _has_ended(i)


def ended_in_speech(d: HearingDraft, i: CoreStepped) -> bool:
    """Has the turn ended in this step, although the user is still speaking and has said words?"""
    if not (d.speaking and d.known and _has_ended(i)):
        return False
    return isinstance(i.record.event, ev.TextTyped | ev.SendPressed) or i.record.before.words is not WordKind.NONE


def ended_in_noise(d: HearingDraft, i: CoreStepped) -> bool:
    return d.speaking and _has_ended(i)


def go_on_with_button(d: HearingDraft, i: CoreStepped) -> None:
    """Begin the next turn at once, because the push-to-talk button is still pressed."""
    split(d)
    d.intents.append(it.PressButton())


def go_on_speaking(d: HearingDraft, i: CoreStepped) -> None:
    """Begin the next turn with the words that follow. There is one exception: if the user has sent the turn, and the
    brain hasn't been asked about it yet, the next turn begins only after the brain was asked. Until then, all text of
    the utterance belongs to the turn that was sent."""
    if not withholds_onsets(d):
        begin_rest(d, i)


def begin_rest(d: HearingDraft, i: CoreStepped) -> None:
    """Begin the next turn with the words that follow. The words so far stay in the turn that has ended."""
    newest = split(d)
    assert newest is not None
    d.began_at = d.at
    begin_turn_of(d, newest, is_withheld=False)


def is_withheld_no_more(d: HearingDraft, i: CoreStepped) -> bool:
    newest = newest_of(d)
    if not d.speaking or newest is None or withholds_onsets(d):
        return False
    outlasts_sent_turn = newest.turn == d.sent_turn and d.core.user is User.QUIET
    return not newest.has_begun or (outlasts_sent_turn and d.core.link in ACTIVE)


def give_up_sound(d: HearingDraft, i: CoreStepped) -> None:
    dismiss_voice(d)


def follow(d: HearingDraft, i: CoreStepped) -> None:
    """Do nothing more: `see` has already done everything that this step needs."""


# -- A question that was lost with the line


def came_back_in_question(d: HearingDraft, i: CoreStepped) -> bool:
    """Is the line back, after it was lost before the agent's question was heard?"""
    is_back = i.record.before.link in AWAY and i.record.after.link is Link.UP
    return is_back and bool(d.asked_question.reply) and not d.asked_question.is_asked


def repeat_question(d: HearingDraft, i: CoreStepped) -> None:
    d.intents.append(it.RepeatQuestion())


# -- An answer that was said over the end of the question


def answer_came_early(d: HearingDraft, i: CoreStepped) -> bool:
    """Did the user say something while the agent was speaking the last words of a question, which it has just
    finished?"""
    return type(i.record.event) is ev.PlaybackFinished and _early_answer(d, i.record.before) is not None


def take_answer(d: HearingDraft, i: CoreStepped) -> None:
    found = _early_answer(d, i.record.before)
    assert found is not None
    d.intents.append(it.TakeAnswer(found.turn, ("over_question",), 0.8))


def _early_answer(d: HearingDraft, before: State) -> HeardUtterance | None:
    if d.question is None:
        return None
    least_ms = least_answer_ms(d.policy, d.question)
    return next((one for one in _overheard(d, before) if one.over_ms >= least_ms), None)


def _overheard(d: HearingDraft, before: State) -> Iterator[HeardUtterance]:
    """The utterances that were recorded as overheard while the agent was speaking, newest first."""
    one: HeardUtterance
    if before.voice not in _SOUNDING:
        return
    for one in reversed(d.known):
        said = d.words.of(one.turn)
        if before.floor_turn < one.turn and one.turn > d.core.said and said.mark is TurnMark.OVERHEARD:
            yield one


# -- Words after the agent's sound, whose end the line reported late


def turn_ended_after_sound(d: HearingDraft, i: CoreStepped) -> bool:
    """Did the user's turn end after the agent's sound, although the line reports the end of the sound only now? When
    the sound ended follows from its length, and from the last report of how much of it was heard."""
    return type(i.record.event) is ev.PlaybackFinished and _said_after_sound(d, i) is not None


def take_words(d: HearingDraft, i: CoreStepped) -> None:
    """Treat the overheard words as the next turn, as if the line had reported the end of the sound in time."""
    found = _said_after_sound(d, i)
    assert found is not None
    d.intents.append(it.TakeAnswer(found.turn, ("after_sound",), 0.8))


def _said_after_sound(d: HearingDraft, i: CoreStepped) -> HeardUtterance | None:
    before = i.record.before
    ended_at = d.before.heard_at + max(0, i.record.event.heard_ms - before.heard_ms)  # type: ignore[attr-defined]
    return next((one for one in _overheard(d, before) if ended_at < one.turn_ended_at), None)
