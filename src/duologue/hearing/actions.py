"""The hearing machine's guards and actions for reports from the ears, the push-to-talk button, typed text and time.

Rule: an action changes the draft and adds intents (messages to the conversation machine). The reaction of the
conversation machine arrives later, as the input CoreStepped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from duologue.core.leaves import SOUNDING, User
from duologue.core.state import is_sounding, turn_of_onset
from duologue.ports.ears import Final, Partial, Pause, SpeechBegan, SpeechEnded, TurnOver, VoiceFrame
from duologue.ports.spoken_words import new_words
from duologue.turns.controller import Acoustic, Linguistic, TurnState
from duologue.turns.echo_words import is_own, without_own
from duologue.turns.overlap import Judgement
from duologue.turns.own_speech import OwnSpeech
from duologue.turns.stability import Stability
from duologue.turns.words import count_and_attention

from . import intents as it
from .inputs import (
    AgentAsks,
    AgentSpoke,
    ButtonPressed,
    ButtonReleased,
    EarsStopped,
    HeardLate,
    TextJudged,
    Typed,
    Woke,
)
from .questions import AskedQuestion, hear_late, hear_late_for_jobs, pose, pose_for_jobs
from .state import (
    EarlyEnd,
    HeardUtterance,
    HearingDraft,
    JudgedWords,
    heard_of_agent_ms,
    is_over_agent,
    newest_of,
    withholds_onsets,
)
from .words import handle, hear, store_typed

_EARLY_END_MS = 5_000  # an onset or a text that comes this long after an end has nothing to do with it

# -- Guards


def is_about_newest(d: HearingDraft, heard: SpeechEnded | Pause) -> bool:
    newest = newest_of(d)
    return newest is None or heard.utterance in (0, newest.number)


def has_begun_already(d: HearingDraft, heard: SpeechBegan) -> bool:
    """Is this a late onset of the newest utterance: did its text come first, or is its voice still heard? If not, the
    ears have begun to count again, and the number belongs to a new utterance. An onset without a number is that of the
    newest utterance if the text came just before."""
    newest = newest_of(d)
    if newest is None:
        return False
    if not heard.utterance:
        return d.speaking and not newest.has_onset and d.at <= newest.began_at + d.policy.text_late_ms
    return heard.utterance == newest.number and (d.speaking or not newest.has_onset)


def is_of_unknown_utterance(d: HearingDraft, heard: SpeechEnded) -> bool:
    """Is this the end of an utterance whose onset was not reported?"""
    newest = newest_of(d)
    return heard.utterance > (newest.number if newest is not None else 0)


def has_utterances(d: HearingDraft, heard: TurnOver) -> bool:
    return bool(d.known)


def has_final_text(d: HearingDraft, heard: Partial) -> bool:
    found = _known(d, heard)
    return found is not None and found.is_final


def is_text_of_nothing(d: HearingDraft, heard: Partial | Final) -> bool:
    return _known(d, heard) is None and not heard.text.strip()


def is_missed(d: HearingDraft, heard: Partial | Final) -> bool:
    newest = newest_of(d)
    return _known(d, heard) is None and newest is not None and 0 < heard.utterance < newest.number


def is_first_sign(d: HearingDraft, heard: Partial | Final) -> bool:
    return _known(d, heard) is None


def _known(d: HearingDraft, heard: Partial | Final) -> HeardUtterance | None:
    """The utterance that this text belongs to; None if that isn't known. Text without a number belongs to the newest
    utterance. Exception: if the ears don't report onsets, and the newest utterance already has its final text, the
    result is None."""
    for utterance in d.known:
        if utterance.number == heard.utterance:
            return utterance
    newest = newest_of(d)
    if not heard.utterance and newest is not None and (d.hears_onsets or not newest.is_final):
        return newest
    return None


# -- Onset and end


def ignore(d: HearingDraft, heard: object) -> None:
    """Change nothing."""


def note_onset(d: HearingDraft, heard: SpeechBegan) -> None:
    """The utterance has begun already. Only remember that these ears report onsets, and that they reported this one."""
    d.hears_onsets = True
    newest = newest_of(d)
    assert newest is not None
    d.put(newest._replace(has_onset=True))


def begin_speech(d: HearingDraft, heard: SpeechBegan) -> None:
    d.hears_onsets = True
    _begin(d, heard.utterance)
    if _has_ended_early(d, heard.utterance):
        _end_early(d)


def _begin(d: HearingDraft, number: int) -> HeardUtterance:
    previous = newest_of(d)
    over_ms = heard_of_agent_ms(d, d.at)
    new = _add(d, number or (previous.number if previous is not None else 0) + 1)._replace(over_ms=over_ms)
    d.newest = new.serial
    d.speaking = True
    d.began_at = d.at
    d.pause = None
    d.stability = Stability()
    return d.put(new) if d.button else begin_turn_of(d, new, is_withheld=withholds_onsets(d))


def begin_turn_of(d: HearingDraft, utterance: HeardUtterance, is_withheld: bool) -> HeardUtterance:
    """Put this utterance into the open turn, or into the turn that begins now, and tell the conversation machine that
    speech begins. With `is_withheld`, the conversation machine isn't told now, but later."""
    if not is_withheld:
        d.intents.append(it.BeginSpeech())
    onset = _onset_of_turn(d)
    turn = turn_of_onset(d.core)
    return d.put(utterance._replace(turn=turn, onset=onset, has_begun=not is_withheld, turn_ended_at=0))


def _onset_of_turn(d: HearingDraft) -> int:
    """The number of the onset for a sound that begins now. While the user is talking, the conversation machine ignores
    further onsets, so the result is the onset of the open turn. Otherwise the result is 0, because the conversation
    machine hasn't assigned a number yet."""
    return d.core.onset if d.core.user is User.TALKING else 0


def split(d: HearingDraft) -> HeardUtterance | None:
    """Divide the newest utterance between two turns: its words so far stay in the turn that has ended, and the words
    that follow belong to the next turn. Used if a turn ends while the user is still speaking. Returns the utterance;
    None if no voice is heard."""
    newest = newest_of(d)
    if newest is None or not d.speaking:
        return None
    so_far = d.words.piece(newest.turn, newest.serial).split()
    taken = (*newest.taken, (newest.turn, len(so_far))) if so_far else newest.taken
    changes: dict[str, Any] = {"onset": 0, "is_final": False, "over_ms": heard_of_agent_ms(d, d.at), "turn_ended_at": 0}
    return d.put(newest._replace(taken=taken, turn=turn_of_onset(d.core), **changes))


def _add(d: HearingDraft, number: int) -> HeardUtterance:
    """Add a new utterance to the draft and return it. It belongs to the turn that is open now."""
    d.serial += 1
    return d.put(HeardUtterance(number, d.serial, d.core.turn, d.core.onset, began_at=d.at))


def note_early_end(d: HearingDraft, heard: SpeechEnded) -> None:
    """Remember when this voice ended. Its onset is late or was lost, and its text may still come. But if a voice is
    heard, the ears have probably numbered its end wrongly: it ends, and nothing is remembered."""
    ended_at = d.at - heard.quiet_ms
    d.early_end = EarlyEnd() if d.speaking else EarlyEnd(heard.utterance, ended_at)
    end_voice(d, max(d.began_at, ended_at))


def _has_ended_early(d: HearingDraft, number: int) -> bool:
    """Was the end of this utterance, which begins now, reported a short time ago?"""
    return 0 < number == d.early_end.number and d.at < d.early_end.ended_at + _EARLY_END_MS


def _end_early(d: HearingDraft) -> HeardUtterance:
    """End the voice of the newest utterance, which has just begun: its end was reported before."""
    newest, ended_at = newest_of(d), d.early_end.ended_at
    assert newest is not None
    d.early_end = EarlyEnd()
    d.began_at = min(d.began_at, ended_at)
    late_ms = d.at - d.began_at
    over_ms = max(-1, newest.over_ms - late_ms)
    newest = d.put(newest._replace(began_at=d.began_at, over_ms=over_ms, is_late=True))
    end_voice(d, ended_at)
    return newest


def end_speech(d: HearingDraft, heard: SpeechEnded) -> None:
    newest, ended_at = newest_of(d), max(d.began_at, d.at - heard.quiet_ms)
    if newest is not None and newest.was_dismissed:
        d.put(newest._replace(was_dismissed=False))
        d.ended_at, d.end_reported_at = ended_at, d.at  # words that come later begin a turn that ended then
    end_voice(d, ended_at)


def end_voice(d: HearingDraft, ended_at: int) -> None:
    """Record that the user's voice ended at `ended_at`, because the user fell silent or because the ears stopped."""
    if not d.speaking:
        return
    d.speaking = False
    d.end_reported_at = d.at
    d.ended_at = ended_at
    newest = newest_of(d)
    if not d.button and (newest is None or newest.has_begun):
        d.intents.append(it.StopSpeech(max(0, d.at - d.ended_at)))


def forget_ears(d: HearingDraft, i: EarsStopped) -> None:
    """Forget all utterances. The ears have stopped, and when they start again, they count utterances from 1."""
    end_voice(d, d.at)
    d.known = ()
    d.newest = 0
    d.early_end = EarlyEnd()
    d.has_frames = d.reads_along = False


def end_turn_by_server(d: HearingDraft, heard: TurnOver) -> None:
    found = next((one for one in d.known if one.number == heard.utterance), None) or newest_of(d)
    assert found is not None
    d.intents.append(it.EndTurn(found.turn, found.onset or d.core.onset, ("by_server",), 1.0))


# -- Words


def hear_missed(d: HearingDraft, heard: Partial | Final) -> None:
    _hear(d, _add(d, heard.utterance), heard)


def hear_first(d: HearingDraft, heard: Partial | Final) -> None:
    utterance = d.put(_begin(d, heard.utterance)._replace(is_late=d.hears_onsets, has_onset=False))
    if _has_ended_early(d, heard.utterance):
        utterance = _end_early(d)
    _hear(d, utterance, heard)


def hear_text(d: HearingDraft, heard: Partial | Final) -> None:
    found = _known(d, heard)
    assert found is not None
    _hear(d, found, heard)


def _hear(d: HearingDraft, utterance: HeardUtterance, heard: Partial | Final) -> None:
    text, is_final = heard.text.strip(), isinstance(heard, Final)
    utterance = d.put(utterance._replace(is_final=utterance.is_final or is_final))
    if _is_own(d, utterance, text):
        utterance = _judge_words(d, utterance, text, heard, is_own_words=True)
        if not is_final:
            return
        text = ""  # the echo of the agent's own words isn't something that the user said
    else:
        text = without_own(text, follow_own_speech(d), utterance.began_at, _late_ms(d, utterance))
    _note_words(d, utterance.serial, text, heard)
    if utterance.taken:
        text = _without_taken(d, utterance, text, heard)
    begins_late = bool(text) and not utterance.has_begun
    if begins_late:
        _hear_again(d, utterance, is_final)
        changes: dict[str, Any] = {"was_dismissed": False, "over_ms": _over_ms(d, utterance)}
        utterance = begin_turn_of(d, utterance._replace(**changes), is_withheld=False)
    if utterance.has_begun and (text or not utterance.taken):
        _tell(d, utterance.turn, utterance, text, heard)
    if begins_late and not d.speaking:
        d.end_reported_at = d.at
        d.intents.append(it.StopSpeech(max(0, d.at - d.ended_at)))
    if is_final and utterance.serial == d.newest and d.speaking:
        end_voice(d, d.at)  # an utterance with final text is over, even if the ears reported no end


def _over_ms(d: HearingDraft, utterance: HeardUtterance) -> int:
    """How much of the agent's speech was heard when the words of this utterance began, which begin a turn only now. If
    its voice goes on, that is all that was heard up to now. If the voice has ended, it counts only over the speech in
    which it began."""
    if utterance.was_dismissed:
        return heard_of_agent_ms(d, d.at)
    is_same_speech = d.core.voice in SOUNDING and utterance.turn > max(d.core.floor_turn, d.core.said)
    return utterance.over_ms if is_same_speech else -1


def _hear_again(d: HearingDraft, utterance: HeardUtterance, is_final: bool) -> None:
    """If the user's voice was treated as noise, but goes on and now has words, let the user's speech begin now."""
    if utterance.was_dismissed and not is_final and utterance.serial == d.newest:
        d.speaking = True
        d.began_at = d.at


def _note_words(d: HearingDraft, serial: int, text: str, heard: Partial | Final) -> None:
    is_final = isinstance(heard, Final)
    d.is_read = d.pause is not None
    if isinstance(heard, Final) and text:
        heard = heard.for_verdicts
        text = heard.text.strip()
    d.stability = d.stability.heard(text, is_final)
    told = None if isinstance(heard, Final) else heard.stability
    if text != d.said.text or serial != d.said_by:  # the same words in another utterance are said again
        d.text_at = d.at
    d.said_by = serial
    d.said = Linguistic(text, heard.confidence, d.stability.score if told is None else told)
    d.last_confidence = heard.last_confidence if isinstance(heard, Final) else None
    d.reads_along = d.reads_along or bool(text and not is_final)


def _without_taken(d: HearingDraft, utterance: HeardUtterance, text: str, heard: Partial | Final) -> str:
    """The text of this utterance, without the words that belong to earlier turns. If a final text corrects those words,
    the earlier turns get the corrected words."""
    for turn, number in utterance.taken:
        corrected, text = " ".join(text.split()[:number]), new_words(text, number)
        if isinstance(heard, Final) and corrected not in ("", d.words.piece(turn, utterance.serial)):
            _tell(d, turn, utterance, corrected, heard)
    return text


def _tell(d: HearingDraft, turn: int, utterance: HeardUtterance, text: str, heard: Partial | Final) -> None:
    """Store the text as part of this turn, send the new words to the conversation machine, and judge whether they
    interrupt the agent."""
    if not turn:
        return  # there is no turn yet: the conversation has not started
    is_final = isinstance(heard, Final)
    d.words, content = hear(d.words, turn, utterance.serial, text, heard.confidence, is_final)
    whole = d.words.text_of(turn)
    said, is_call = count_and_attention(whole, d.policy.language, is_final)
    d.intents.append(
        it.HearWords(
            turn,
            said.words,
            said.substantial,
            is_final,
            len(whole),
            round(100 * heard.confidence),
            content,
            presence=is_call,
            gist=d.words.of(turn).gist,
        )
    )
    if turn < d.core.turn:
        return
    serials = [serial for serial, _ in d.words.of(turn).pieces if serial != utterance.serial]
    d.first_texts = tuple(one for one in d.first_texts if one[0] in serials)
    if isinstance(heard, Final) and heard.first_text and text == heard.text.strip():
        heard = heard.for_verdicts
        text = heard.text.strip()
        d.first_texts = (*d.first_texts, (utterance.serial, text))
    _judge_words(d, utterance, text, heard, is_own_words=False)


# -- Speech over the agent's speech


def _is_own(d: HearingDraft, utterance: HeardUtterance, text: str) -> bool:
    """Are these words an echo, that is, the agent's own words, picked up by the microphone?"""
    return bool(text) and is_own(text, follow_own_speech(d), utterance.began_at, _late_ms(d, utterance))


def _late_ms(d: HearingDraft, utterance: HeardUtterance) -> int:
    """How many milliseconds earlier than recorded the user may have begun to speak. 0 if the ears reported the onset.
    Otherwise the beginning was taken from the first text, which the ears report only some time after the speech."""
    return d.policy.text_late_ms if utterance.is_late or not d.hears_onsets else 0


def follow_own_speech(d: HearingDraft) -> OwnSpeech:
    """Update the record of the agent's words that could be heard up to now, and return it."""
    if is_sounding(d.core):
        d.own = d.own.saying(d.core.voice_id, d.agent_words, heard_of_agent_ms(d, d.at), d.at)
    return d.own


def _judge_words(
    d: HearingDraft, utterance: HeardUtterance, text: str, heard: Partial | Final, is_own_words: bool
) -> HeardUtterance:
    """Judge by the words of this utterance whether it interrupts the agent."""
    if not is_over_agent(d, utterance):
        return utterance
    is_final = isinstance(heard, Final)
    sound, judged = d.policy.overlap.heard(_sound_of(d, utterance), text, heard.confidence, is_final, is_own_words)
    return _judge(d, utterance._replace(sound=sound), judged)


def _sound_of(d: HearingDraft, utterance: HeardUtterance) -> Any:
    return utterance.sound if utterance.sound is not None else d.policy.overlap.begin(d.has_frames)


def _judge(d: HearingDraft, utterance: HeardUtterance, judged: Judgement) -> HeardUtterance:
    """Report whether a sound over the agent's speech is a bid for the floor (an attempt to interrupt). Nothing is
    reported while that is undecided. For an utterance that isn't the newest, only a bid is reported, because "no bid"
    would say nothing about the newest utterance."""
    if judged.bid is None or not (judged.bid or utterance.serial == d.newest):
        return d.put(utterance)
    d.intents.append(it.JudgeOverlap(judged.bid, utterance.onset, (judged.reason,), judged.confidence))
    return d.put(utterance._replace(sound=None))  # the sound that follows is judged by itself


def judge_duration(d: HearingDraft, i: Woke) -> None:
    """Judge the sound over the agent's speech again, because it has now lasted for the time `voiced_ms_min` of the
    overlap policy."""
    newest = newest_of(d)
    assert newest is not None
    text = d.words.text_of(d.core.turn)
    sound = _sound_of(d, newest)
    judged = d.policy.overlap.lasted(sound, d.at - d.began_at, text, _is_own(d, newest, text))
    _judge(d, newest._replace(sound=sound, was_timed=True), judged)


# -- Frames and pauses, from ears that report them


def follow_frame(d: HearingDraft, frame: VoiceFrame) -> None:
    d.has_frames = True
    if not frame.quiet_ms:
        d.pause = None
    newest = newest_of(d)
    if newest is not None and is_over_agent(d, newest):
        sound, judged = d.policy.overlap.frame(_sound_of(d, newest), frame.probability, frame.ms, frame.energy)
        _judge(d, newest._replace(sound=sound), judged)
    if d.policy.by_frames is not None:
        _decide_by_frame(d, frame)


def _decide_by_frame(d: HearingDraft, frame: VoiceFrame) -> None:
    """Pass a frame to an endpoint policy that decides frame by frame. If it decides SPEAK (the agent may speak now),
    the turn ends."""
    policy, core = d.policy.by_frames, d.core
    assert policy is not None
    if d.frames is None or d.frames_turn != core.turn:
        d.frames, d.frames_turn = policy.begin(), core.turn
    heard = Acoustic(d.at, frame.energy, frame.probability, frame.quiet_ms)
    d.frames, decision = policy.frame(d.frames, heard, replace(d.said, text=d.words.text_of(core.turn)))
    if decision.state is TurnState.SPEAK and core.user is User.SETTLING:
        d.intents.append(it.EndTurn(core.turn, core.onset, (decision.reason,), decision.confidence))


def note_pause(d: HearingDraft, pause: Pause) -> None:
    """Remember what the ears report about the newest pause."""
    if d.known:
        if d.pause is None:
            recent = d.stability.partials[-2:]
            d.is_read = len(recent) == 2 and recent[0] == recent[1] and bool(d.said.text)
        d.pause = pause.features


# -- The button, typed text, and the agent


def press(d: HearingDraft, i: ButtonPressed) -> None:
    """Process the press of the push-to-talk button. Until the button is released, it alone decides when the turn ends,
    not the user's voice."""
    d.button = True
    d.intents.append(it.PressButton())
    newest = newest_of(d)
    if d.speaking and newest is not None:
        if newest.turn != turn_of_onset(d.core):
            newest = split(d) or newest
        d.put(newest._replace(turn=turn_of_onset(d.core), onset=_onset_of_turn(d), has_begun=True, turn_ended_at=0))


def release(d: HearingDraft, i: ButtonReleased) -> None:
    """Process the release of the push-to-talk button. A sound that is still heard belongs to the turn that ends now. It
    doesn't begin a new turn."""
    d.speaking = False
    d.button = False
    d.intents.append(it.ReleaseButton())


def take_typed(d: HearingDraft, i: Typed) -> None:
    d.words, content = store_typed(d.words, i.text, i.is_blind)
    d.intents.append(it.TakeTyped(content))


def note_agent(d: HearingDraft, i: AgentSpoke) -> None:
    d.agent_words, d.question = i.words, i.question


def note_question(d: HearingDraft, i: AgentAsks) -> None:
    """Record that the agent asks a question in this reply. Until the question was heard or shown, the user's words
    aren't treated as an answer to it."""
    shown_ms, playing = d.policy.question_shown_ms, d.asked_question.playing
    if i.is_aside:
        d.aside_question = pose(AskedQuestion(playing=playing), i.reply, d.at, shown_ms)
        return
    d.aside_question = AskedQuestion()
    d.asked_question = pose(d.asked_question, i.reply, d.at, shown_ms)
    if i.calls:
        d.job_questions = pose_for_jobs(d.job_questions, i.calls, i.reply, d.at, shown_ms, playing)


def note_heard_late(d: HearingDraft, i: HeardLate) -> None:
    d.words = handle(d.words, i.reply)
    d.asked_question = hear_late(d.asked_question, i.reply, d.at)
    d.aside_question = hear_late(d.aside_question, i.reply, d.at)
    d.job_questions = hear_late_for_jobs(d.job_questions, i.reply, d.at)


def note_judgement(d: HearingDraft, i: TextJudged) -> None:
    d.judged = JudgedWords(i.turn, i.gist, i.completeness)


# -- Time


def end_turn_by_silence(d: HearingDraft, i: Woke) -> None:
    assert d.wait is not None
    d.ended_onset = d.core.onset
    d.intents.append(it.EndTurn(d.core.turn, d.core.onset, d.wait.reasons, d.wait.confidence))


def dismiss_sound(d: HearingDraft, i: Woke) -> None:
    """Treat the sound that is heard now as noise: it has lasted long enough for words, but the ears have found no word
    in it."""
    dismiss_voice(d)
    lasted = f"wordless_{d.at - d.began_at}ms"
    d.intents.append(it.DismissSound(d.core.turn, d.core.onset, (lasted,), 0.7))


def dismiss_voice(d: HearingDraft) -> None:
    """Treat the sound that is heard now as noise, although it sounds like a voice. If words are found in it later,
    these words begin a turn."""
    d.speaking = False
    d.ended_at = d.end_reported_at = d.at
    newest = newest_of(d)
    if newest is not None:
        d.put(newest._replace(has_begun=False, was_dismissed=True))


def end_unchanged(d: HearingDraft, i: Woke) -> None:
    end_voice(d, d.text_at)
