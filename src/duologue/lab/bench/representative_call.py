"""One representative call, as the events that a driver would send to the machine.

A support call with the profile `confirm`: plain turns, a cough, a barge-in, a tool, a delegated job, a pause, a link
that drops out briefly, and the late, repeated and meaningless events that real services send. Rule: every scene
except the first and the last starts and ends while neither side speaks.
"""

from __future__ import annotations

from collections.abc import Callable

from duologue.core.events import (
    AudioBuffered,
    CallDelegated,
    EndRequested,
    JobFinished,
    JobProgressed,
    LinkHealed,
    LinkWobbled,
    OverlapJudged,
    PlaybackFinished,
    PlaybackProgressed,
    PlaybackStopped,
    ReplyAccepted,
    ReplyFinished,
    ResumeRequested,
    SessionClosed,
    SessionReady,
    SpeechStarted,
    SpeechStopped,
    StartRequested,
    SuspendRequested,
    TimerFired,
    TokenArrived,
    ToolCalled,
    TurnEnded,
    WordsHeard,
)
from duologue.core.leaves import TIMER_INDEX, Timer

from .call_player import CallPlayer, PlayedCall

# -- Parts of scenes


def talk(p: CallPlayer, words: int = 6) -> None:
    """The user speaks. Partial texts arrive meanwhile, one of them twice."""
    p.change(SpeechStarted)
    _speak_words(p, words)


def _speak_words(p: CallPlayer, words: int) -> None:
    for heard in range(2, words, 2):
        p.wait(400)
        p.change(WordsHeard, words=heard, substantial=heard - 1, chars=5 * heard)
    p.stale(WordsHeard, words=words - 1, substantial=1)
    p.wait(300)
    p.change(SpeechStopped)


def end_turn(p: CallPlayer, words: int = 6) -> None:
    """The final text arrives, then turn-taking ends the turn. The machine requests a reply immediately."""
    p.wait(150)
    p.change(WordsHeard, words=words, substantial=words - 1, final=True, chars=5 * words)
    p.wait(100)
    p.change(TurnEnded)
    p.meaningless(SpeechStopped)


def think(p: CallPlayer) -> None:
    p.wait(80)
    p.change(ReplyAccepted)
    p.wait(300)
    p.change(TokenArrived)
    p.meaningless(TokenArrived)  # a brain may also report the first token of a second part


def speak(p: CallPlayer, chunks: int = 6) -> None:
    """Playback begins and goes on for this many chunks. Its progress is reported every half second."""
    p.wait(250)
    p.change(AudioBuffered)
    hear(p, chunks)


def hear(p: CallPlayer, chunks: int, heard_ms: int = 0) -> None:
    for chunk in range(1, chunks + 1):
        p.wait(500)
        p.change(PlaybackProgressed, heard_ms=heard_ms + 500 * chunk)


def fall_silent(p: CallPlayer, heard_ms: int) -> None:
    """Playback ends. Reports about it that arrive afterwards are stale."""
    reply, voice = p.state.reply_id, p.state.voice_id
    p.meaningless(PlaybackProgressed, heard_ms=heard_ms)  # no more was heard than before
    p.wait(200)
    p.change(PlaybackFinished, heard_ms=heard_ms + 200)
    p.stale(ReplyFinished, reply=reply)
    p.stale(PlaybackProgressed, voice=voice, heard_ms=heard_ms + 200)
    p.meaningless(SpeechStopped)


# -- The scenes


def begin(p: CallPlayer) -> None:
    p.meaningless(SpeechStopped)
    p.change(StartRequested)
    p.stale(SessionReady, session=0)
    p.wait(700)
    p.change(SessionReady)
    p.meaningless(SessionReady)
    p.wait(900)


def ask_plainly(p: CallPlayer) -> None:
    talk(p)
    end_turn(p)
    think(p)
    speak(p)
    fall_silent(p, heard_ms=3_000)
    p.wait(800)


def cough_while_waiting(p: CallPlayer) -> None:
    """The turn is ended by a timer, and its text comes late. Then the user coughs while the agent thinks."""
    talk(p)
    p.fire(Timer.SETTLE)
    p.wait(400)
    p.change(WordsHeard, words=6, substantial=5, final=True)
    think(p)
    p.change(SpeechStarted)
    p.wait(120)
    p.change(SpeechStopped)
    p.meaningless(OverlapJudged, bid=False)
    p.change(AudioBuffered)  # the reply is ready, but the cough holds it back
    p.fire(Timer.SETTLE)  # the cough counts as noise, so the answer is played
    hear(p, 6)
    fall_silent(p, heard_ms=3_000)
    p.wait(600)


def agree_while_it_speaks(p: CallPlayer) -> None:
    """The user says "uh-huh" while the agent speaks. Playback is held until turn-taking has judged this "uh-huh". Later
    the user makes another sound, which turn-taking never judges: playback is held until a timer fires."""
    talk(p)
    end_turn(p)
    think(p)
    speak(p, 3)
    p.change(SpeechStarted)
    p.wait(200)
    p.change(WordsHeard, words=1, substantial=0)
    p.change(OverlapJudged, bid=False)
    p.change(SpeechStopped)
    p.change(WordsHeard, words=1, substantial=0, final=True)
    p.change(TurnEnded)
    hear(p, 2, heard_ms=1_500)
    p.change(SpeechStarted)
    p.wait(150)
    p.change(SpeechStopped)
    p.fire(Timer.LULL)
    p.fire(Timer.SETTLE)
    hear(p, 3, heard_ms=2_500)
    fall_silent(p, heard_ms=4_000)
    p.wait(500)


def barge_in(p: CallPlayer) -> None:
    talk(p)
    end_turn(p)
    think(p)
    speak(p, 4)
    reply, voice = p.state.reply_id, p.state.voice_id
    p.change(SpeechStarted)
    p.wait(250)
    p.change(WordsHeard, words=2, substantial=2)
    p.change(OverlapJudged, bid=True)
    p.stale(OverlapJudged, bid=True)
    p.stale(AudioBuffered, reply=reply)
    p.wait(30)
    p.change(PlaybackStopped, heard_ms=2_100)
    p.fire(Timer.BREATH)
    p.stale(PlaybackFinished, voice=voice, heard_ms=2_100)
    _speak_words(p, 8)
    end_turn(p, 8)
    p.stale(TokenArrived, reply=reply)
    think(p)
    speak(p)
    fall_silent(p, heard_ms=3_000)
    p.wait(700)


def use_a_tool(p: CallPlayer) -> None:
    talk(p)
    end_turn(p)
    think(p)
    p.wait(60)
    p.change(ToolCalled, call=p.state.call_id + 1)
    p.stale(ToolCalled)
    p.change(ReplyFinished)
    p.wait(1_200)
    p.change(JobFinished)
    p.meaningless(JobFinished)
    think(p)
    speak(p)
    fall_silent(p, heard_ms=3_000)
    p.wait(900)


def delegate(p: CallPlayer) -> None:
    """A long job: progress reports, two feedback messages to the user, a result."""
    talk(p, 10)
    end_turn(p, 10)
    think(p)
    p.change(ToolCalled, call=p.state.call_id + 1, cancellable=True)
    p.wait(90)
    p.change(CallDelegated)
    p.meaningless(CallDelegated)
    p.change(ReplyFinished)
    for _ in range(3):
        p.wait(1_500)
        p.change(JobProgressed)
    p.stale(JobProgressed)
    p.fire(Timer.FEEDBACK)
    p.wait(4_000)
    p.change(JobProgressed)
    p.fire(Timer.FEEDBACK)
    p.wait(2_000)
    p.change(JobFinished)
    p.meaningless(JobProgressed)
    think(p)
    speak(p, 10)
    fall_silent(p, heard_ms=5_000)
    p.wait(600)


def pause(p: CallPlayer) -> None:
    """The user pauses the agent in mid-sentence."""
    talk(p)
    end_turn(p)
    think(p)
    speak(p, 3)
    due = p.state.due[TIMER_INDEX[Timer.STALL]]
    p.change(SuspendRequested)
    p.wait(4_000)
    p.stale(TimerFired, timer=Timer.STALL, due=due)  # set before the pause
    p.meaningless(SuspendRequested)
    p.wait(2_000)
    p.change(ResumeRequested)
    hear(p, 4, heard_ms=1_500)
    fall_silent(p, heard_ms=3_500)
    p.wait(500)


def wobble(p: CallPlayer) -> None:
    """The link drops out briefly while the brain thinks, and recovers by itself."""
    talk(p)
    end_turn(p)
    p.change(ReplyAccepted)
    p.stale(LinkWobbled, session=0)
    p.change(LinkWobbled)
    p.wait(600)
    p.meaningless(LinkWobbled)
    p.change(LinkHealed)
    p.meaningless(LinkHealed)
    p.wait(200)
    p.change(TokenArrived)
    speak(p)
    fall_silent(p, heard_ms=3_000)
    p.wait(1_200)


def end(p: CallPlayer) -> None:
    """The user hangs up while the agent speaks."""
    talk(p)
    end_turn(p)
    think(p)
    speak(p, 3)
    voice = p.state.voice_id
    p.change(EndRequested)
    p.meaningless(SpeechStarted)
    p.stale(PlaybackStopped, voice=voice, heard_ms=1_700)
    p.wait(300)
    p.change(SessionClosed)
    p.meaningless(SpeechStopped)
    p.meaningless(SessionClosed)


SCENES: tuple[Callable[[CallPlayer], None], ...] = (
    begin,
    ask_plainly,
    cough_while_waiting,
    agree_while_it_speaks,
    use_a_tool,
    barge_in,
    pause,
    delegate,
    wobble,
    end,
)

# The states of the lifecycle view that the call visits. The other two need a fault or a lost link.
LIFECYCLE_STATES = ("idle", "listening", "processing", "speaking", "tool_executing", "waiting_amplifier")


def build_call() -> PlayedCall:
    """Drive the machine through every scene and return the recorded call."""
    player = CallPlayer()
    for scene in SCENES:
        scene(player)
    return PlayedCall(tuple(player.moments))
