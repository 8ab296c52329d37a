"""When a person who waits in silence hears the next cue: a sound or phrase that shows that the agent is there.

`sign_at` in the state is the time from which the silence counts: when the last cue began, when the agent's speech was
last heard, or when the person's words ended. The next cue comes `cue_ms` later. `cues` counts the cues of this wait.
Rule: a sound without words that the person makes never puts a cue off.
"""

from __future__ import annotations

from .deadlines import cue_ms
from .draft import Draft
from .effects import PlayCue, StopCue
from .events import Event
from .leaves import TIMER_INDEX, UNHEARD, Cue, Link, Timer, User, Voice
from .state import State, is_kept_waiting, waits_in_silence

_CUE = TIMER_INDEX[Timer.CUE]
_WORDED = tuple(cue for cue in Cue if cue not in (Cue.SOUND, Cue.WORDS))
_USUAL_TURN_END_MS = 1_000  # from the end of the person's last sound until the turn is complete
_HEARD_SOUND_MS = 300  # a sound that was cut off sooner doesn't count as heard
_HEARD_WORDS_MS = 1_000  # words that were cut off sooner don't count as understood: the voice needs time to begin
_FIRST_REPORT_MS = 500  # from the start of playback until the line reports that some of it was heard


def update_cue(d: Draft, s: State) -> None:
    """Set the timer for the next cue, and stop a cue that may still be playing if the agent or the person begins to
    speak. Called at the end of every step; `s` is the state before the step."""
    if d.link is not s.link and s.link in UNHEARD and d.link not in UNHEARD:
        d.quiet_at = d.at  # a pause isn't a silence
        if d.sign_at:
            d.wait_since(d.at)
    if not is_kept_waiting(d):
        _end_wait(d)
        return
    if not d.sign_at:
        d.wait_since(_wait_began_at(d) if d.said > s.said else d.at)
    if d.link is not s.link and not (s.link is Link.UP and d.link is Link.FAULTED):
        _hurry(d, d.at)  # the line may be back only now
    elif s.user is not User.QUIET and d.user is User.QUIET and (d.voice is Voice.SILENT or d.cues):
        _hurry(d, _wait_began_at(d))
    if d.cues:
        _stop_if_someone_speaks(d, s)
    _arm(d, s)


def wait_anew(d: Draft) -> None:
    """The person has said something, so they wait for something new: the cues begin again."""
    d.cues = 0
    if d.sign_at:
        d.wait_since(max(d.sign_at, _wait_began_at(d)))


def note_speech_heard(d: Draft, more_ms: int) -> None:
    """Note that more of the agent's speech was heard. Normally, the silence counts from now on. But the report may be
    late, so the start of the silence moves forward by at most twice the length of the reported sound. If cues were
    given in this wait, the silence always counts from now on."""
    d.wait_since(d.at if d.cues else min(d.at, d.sign_at + 2 * more_ms))
    d.cues = 0
    if d.due[_CUE]:
        _arm_next(d)


def give_cue(d: Draft, e: Event) -> None:
    """Play a cue: a sound the first time, and words after that."""
    d.emit(PlayCue(Cue.WORDS if d.cues else Cue.SOUND))
    d.cues = min(d.cues + 1, len(d.settings.cue_ms) - 1)
    d.wait_since(e.at)
    d.arm(Timer.CUE, cue_ms(d))


def _wait_began_at(d: Draft) -> int:
    """When the person began to wait for the answer to their words. The time that the end of a turn usually takes isn't
    counted as waiting; if it took longer, the rest is."""
    return min(d.at, d.quiet_at + _USUAL_TURN_END_MS)


def _end_wait(d: Draft) -> None:
    if d.cues:
        d.cues = 0
        _stop(d)
    d.sign_at = 0
    d.due[_CUE] = 0


def _hurry(d: Draft, since: int) -> None:
    """Let the next cue come earlier, as if it were the first cue of a wait that began at `since`. If the next cue is
    due even earlier than that, nothing changes."""
    d.wait_since(min(d.sign_at, since + d.settings.cue_ms[0] - cue_ms(d)))


def _stop_if_someone_speaks(d: Draft, s: State) -> None:
    person_speaks = s.user is User.QUIET and d.user is not User.QUIET
    if person_speaks and d.at < d.sign_at + (_HEARD_WORDS_MS if d.cues > 1 else _HEARD_SOUND_MS):
        d.wait_since(d.sign_at - cue_ms(d))  # hardly anything of the cue was heard, so the next one is due at once
    if person_speaks or (d.voice is Voice.PLAYING and s.voice is Voice.SILENT):
        _stop(d)


def _stop(d: Draft) -> None:
    """Stop the cue that may be playing, unless this step has stopped it already or plays another one."""
    if not any(type(effect) in (StopCue, PlayCue) for effect in d.effects):
        d.emit(StopCue())


def _arm(d: Draft, s: State) -> None:
    if d.link in UNHEARD or not waits_in_silence(d):
        d.due[_CUE] = 0
    elif any(type(effect) is PlayCue and effect.cue in _WORDED for effect in d.effects):
        d.wait_since(d.at)  # the person was just told something
        d.arm(Timer.CUE, d.settings.cue_ms[-1])
    else:
        begins = d.voice is Voice.PLAYING and s.voice is not Voice.PLAYING
        if begins:
            d.wait_since(max(d.sign_at, d.at - cue_ms(d) + _FIRST_REPORT_MS))
        if begins or not d.due[_CUE] or d.link is not s.link:
            _arm_next(d)


def _arm_next(d: Draft) -> None:
    d.arm(Timer.CUE, max(d.settings.beat_ms, d.sign_at + cue_ms(d) - d.at))
