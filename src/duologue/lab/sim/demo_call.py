"""The demo: one scripted call that shows what the conversation machine does, scene by scene.

A user talks to an agent, and many things go wrong. The agent has the profile `confirm`, changed so that it also checks
in and hangs up. Rule: each scene says in words what it shows and checks each claim, so a demo that is no longer true
fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias, TypeVar

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.errors import DuologueError
from duologue.core.leaves import Ask, ErrorClass, Link, Outcome, Timer, User, Voice
from duologue.core.machine import MACHINE, Machine
from duologue.core.settings import profile
from duologue.core.state import floor_is_free
from duologue.replay.journal import StepRecord

from .stage import Stage

FX = TypeVar("FX", bound=fx.Effect)


Script: TypeAlias = "Callable[[Take, Stage], None]"


class DemoIsUntrue(DuologueError, AssertionError):
    """A claim of the demo did not hold, or a scene could not be played."""


class Scene(NamedTuple):
    """A scene that was played: its steps and the claims that held."""

    title: str
    caption: str
    records: tuple[StepRecord, ...]
    claims: tuple[str, ...]  # each was checked while the scene was played


class Take:
    """A scene while it is played. `records` has only the steps since the scene began."""

    def __init__(self, stage: Stage) -> None:
        self.claims: list[str] = []
        self._stage = stage
        self._first = len(stage.records)

    @property
    def records(self) -> tuple[StepRecord, ...]:
        return tuple(self._stage.records[self._first :])

    def effects(self, kind: type[FX]) -> list[FX]:
        return [effect for record in self.records for effect in record.effects if type(effect) is kind]

    def count(self, kind: type[fx.Effect]) -> int:
        return len(self.effects(kind))

    def claim(self, what: str, holds: bool) -> None:
        """Add a claim to the scene. Raises DemoIsUntrue if the claim doesn't hold now."""
        if not holds:
            raise DemoIsUntrue(f"the demo claims at {self._stage.at} ms that {what}, but that does not hold")
        self.claims.append(what)


def stage_for_demo(machine: Machine = MACHINE) -> Stage:
    """A new stage with the settings of the demo."""
    return Stage(profile("confirm", dead_air_ms=20_000, check_ins_max=2, hangs_up=True), machine)


def play_demo(stage: Stage) -> Iterator[Scene]:
    """Play the whole call on a new `stage_for_demo`. Yields each scene after it was played."""
    for title, caption, script in SCRIPTS:
        take = Take(stage)
        _play(title, script, take, stage)
        if script is not give_up and not floor_is_free(stage.state):
            raise DemoIsUntrue(f"the scene {title!r} does not end with a free floor")
        yield Scene(title, caption, take.records, tuple(take.claims))
        stage.wait(1_500)  # a pause between two scenes


def _play(title: str, script: Script, take: Take, stage: Stage) -> None:
    try:
        script(take, stage)
    except DemoIsUntrue:
        raise
    except AssertionError as error:  # the stage could not continue
        raise DemoIsUntrue(f"the scene {title!r} can't be played: {error}") from error


# -- What happens in more than one scene


def _ask(stage: Stage, words: int, for_ms: int) -> None:
    """The user asks something, and the brain produces its first token."""
    stage.say(words, for_ms)
    stage.wait(90)
    stage.think(for_ms=260)


def _end_turn(stage: Stage, words: int, substantial: int) -> tuple[fx.Effect, ...]:
    """The user falls silent, the final text comes, and turn-taking ends the turn."""
    stage.happen(ev.SpeechStopped)
    stage.wait(160)
    stage.hear_words(words, final=True, substantial=substantial)
    stage.wait(110)
    return stage.happen(ev.TurnEnded)


def _answer(stage: Stage, for_ms: int) -> None:
    """The brain produces its first token, then the answer is spoken and heard to its end."""
    stage.wait(90)
    stage.think(for_ms=260)
    _say_it(stage, for_ms)


def _say_it(stage: Stage, for_ms: int) -> None:
    stage.wait(170)
    stage.speak(for_ms)
    stage.wait(100)
    stage.finish()


def _has(effects: tuple[fx.Effect, ...], *kinds: type[fx.Effect]) -> bool:
    """Is there at least one effect of each of these kinds?"""
    return {type(effect) for effect in effects} >= set(kinds)


# -- The scenes


def pick_up(take: Take, stage: Stage) -> None:
    start = stage.happen(ev.StartRequested)
    take.claim("a session is opened", _has(start, fx.OpenSession))
    stage.wait(380)
    stage.happen(ev.SessionReady)
    take.claim("the floor is open as soon as the session is ready", floor_is_free(stage.state))


def question(take: Take, stage: Stage) -> None:
    _ask(stage, words=7, for_ms=1_700)
    _say_it(stage, 2_600)
    take.claim("one turn leads to one request", take.count(fx.StartReply) == 1)
    take.claim("the turn counts as answered once the answer was heard", stage.state.answered == stage.state.said > 0)


def cough(take: Take, stage: Stage) -> None:
    _ask(stage, words=5, for_ms=1_200)
    stage.begin_talking()
    stage.wait(150)
    stage.happen(ev.AudioBuffered)
    take.claim("a ready answer waits rather than talk over the user", stage.state.voice is Voice.SILENT)
    stage.wait(130)
    stage.happen(ev.SpeechStopped)
    over = stage.wait_for(Timer.SETTLE)
    take.claim("the answer starts in the step in which the noise ends", _has(over, fx.DiscardAudio, fx.StartPlayback))
    stage.play(1_800)
    stage.finish()
    take.claim(
        "there is one request, and it is not cancelled",
        (take.count(fx.StartReply), take.count(fx.CancelReply)) == (1, 0),
    )


def barge_in(take: Take, stage: Stage) -> None:
    _ask(stage, words=6, for_ms=1_500)
    stage.wait(170)
    stage.speak(2_200)
    stage.wait(140)
    onset = stage.happen(ev.SpeechStarted)
    take.claim("playback is held in the step of the first sound", _has(onset, fx.HoldPlayback))
    stage.wait(220)
    stage.hear_words(3)
    verdict = stage.happen(ev.OverlapJudged, bid=True)
    take.claim("real words stop playback and cancel the reply", _has(verdict, fx.StopPlayback, fx.CancelReply))
    stage.wait(20)
    stage.happen(ev.PlaybackStopped, heard_ms=2_340)
    stage.wait(900)
    heard = [cut.heard_ms for cut in take.effects(fx.TruncateReply)]
    take.claim("the history has the 2,340 ms that were heard, and no more", heard == [2_340])
    _end_turn(stage, words=8, substantial=8)
    _answer(stage, 1_600)
    take.claim("each of the two turns leads to one request", take.count(fx.StartReply) == 2)


def uh_huh(take: Take, stage: Stage) -> None:
    _ask(stage, words=6, for_ms=1_400)
    stage.wait(170)
    stage.speak(1_400)
    stage.happen(ev.SpeechStarted)
    stage.wait(240)
    stage.hear_words(1, substantial=0)
    verdict = stage.happen(ev.OverlapJudged, bid=False)
    take.claim("playback continues where it was held", _has(verdict, fx.ResumePlayback))
    _end_turn(stage, words=1, substantial=0)
    stage.play(1_600)
    stage.finish()
    take.claim("nothing was stopped or asked again", (take.count(fx.StopPlayback), take.count(fx.StartReply)) == (0, 1))
    take.claim("the word is recorded as overheard", take.count(fx.RecordOverheard) == 1)


def tool(take: Take, stage: Stage) -> None:
    _ask(stage, words=8, for_ms=1_900)
    stage.call_tool()
    stage.wait(40)
    stage.happen(ev.ReplyFinished)
    stage.wait(1_150)
    done = stage.happen(ev.JobFinished)
    take.claim("the brain gets the result and continues in one step", _has(done, fx.PostOutput, fx.StartReply))
    _answer(stage, 2_200)
    outcomes = [output.outcome for output in take.effects(fx.PostOutput)]
    take.claim("the call got exactly one output", outcomes == [Outcome.DONE])


def delegate(take: Take, stage: Stage) -> None:
    _ask(stage, words=10, for_ms=2_300)
    call = stage.call_tool()
    stage.wait(60)
    stage.happen(ev.CallDelegated)
    stage.wait(30)
    stage.happen(ev.ReplyFinished)
    stage.wait(6_400)
    stage.happen(ev.JobProgressed)
    stage.wait(2_500)
    shown = (take.count(fx.ShowWait), take.count(fx.ShowProgress)) == (1, 1)
    take.claim("the user sees the wait and the progress", shown)
    queued = stage.say(words=5, for_ms=1_300)
    take.claim("what the user says meanwhile is queued, not sent to the brain", not _has(queued, fx.StartReply))
    stage.wait(5_200)
    done = stage.happen(ev.JobFinished)
    asked = take.effects(fx.StartReply)[-1]
    answers_it = _has(done, fx.StartReply) and asked.last == stage.state.said
    take.claim("one request reports the result and answers the queued turn", answers_it)
    _answer(stage, 2_800)
    take.claim("the job was never cancelled", fx.CancelWork(call) not in take.effects(fx.CancelWork))


def dispatch(take: Take, stage: Stage) -> None:
    _ask(stage, words=7, for_ms=1_600)
    call = stage.call_tool()
    stage.wait(60)
    stage.happen(ev.CallDispatched)
    started = take.effects(fx.PostOutput) == [fx.PostOutput(call, Outcome.STARTED)]
    take.claim("the brain learns immediately that the job has started", started)
    stage.wait(30)
    stage.happen(ev.ReplyFinished)
    stage.wait_for(Timer.BEAT)
    _answer(stage, 1_200)
    stage.wait(1_800)
    _ask(stage, words=6, for_ms=1_300)
    stage.wait(170)
    stage.speak(1_000)
    ready = stage.happen(ev.JobFinished, call=call)
    take.claim("the result does not interrupt the agent", ready == (fx.PostNews(call, Outcome.DONE),))
    stage.play(1_200)
    stage.finish()
    before = take.count(fx.StartReply)
    reported = stage.wait_for(Timer.BEAT)
    take.claim("the result is reported as soon as the floor is free", _has(reported, fx.StartReply))
    _answer(stage, 1_600)
    take.claim("the result is reported once", take.count(fx.StartReply) == before + 1 and not stage.state.news)


def wobble(take: Take, stage: Stage) -> None:
    _ask(stage, words=6, for_ms=1_500)
    stage.wait(170)
    stage.speak(1_400)
    voice = stage.state.voice_id
    gone = stage.happen(ev.LinkWobbled)
    take.claim("the sentence is held, not stopped", _has(gone, fx.HoldPlayback) and not _has(gone, fx.StopPlayback))
    stage.wait(1_100)
    back = stage.happen(ev.LinkHealed)
    take.claim("playback continues from the same sample", back == (fx.ResumePlayback(voice),))
    stage.play(1_400)
    stage.finish()
    take.claim(
        "there is one request and no new session", (take.count(fx.StartReply), take.count(fx.OpenSession)) == (1, 0)
    )


def lose_line(take: Take, stage: Stage) -> None:
    stage.say(words=7, for_ms=1_600)
    stage.wait(90)
    stage.happen(ev.ReplyAccepted)
    stage.wait(400)
    lost_at, lost = stage.at, stage.happen(ev.LinkClosed)
    take.claim("the context is saved before anything else", type(lost[0]) is fx.SaveContext)
    attempt = stage.wait_for(Timer.BACKOFF)
    take.claim("a new session is tried after a second", _has(attempt, fx.OpenSession) and stage.at - lost_at == 1_000)
    stage.wait(650)
    back = stage.happen(ev.SessionReady)
    take.claim("the new session gets the context back", _has(back, fx.RestoreContext))
    stage.wait_for(Timer.BEAT)
    _answer(stage, 2_000)
    first, *again = [(request.first, request.last) for request in take.effects(fx.StartReply)]
    take.claim("the unanswered turn is sent to the brain again exactly once", again == [first])


def fault(take: Take, stage: Stage) -> None:
    stage.say(words=6, for_ms=1_400)
    stage.wait(90)
    stage.happen(ev.ReplyAccepted)
    stage.wait(500)
    stage.fail_reply(ErrorClass.SERVER_ERROR)
    stage.wait_for(Timer.RETRY)
    quietly = (take.count(fx.StartReply), take.count(fx.ShowFault)) == (2, 0)
    take.claim("the first failure is retried without a message to the user", quietly)
    stage.wait(600)
    again = stage.fail_reply(ErrorClass.SERVER_ERROR)
    take.claim("the second failure is shown to the user", _has(again, fx.ShowFault))
    stage.wait(2_400)
    retried = stage.happen(ev.RetryRequested)
    take.claim(
        "the retry button clears the fault and opens a new session", _has(retried, fx.ClearFault, fx.OpenSession)
    )
    stage.wait(420)
    stage.happen(ev.SessionReady)
    stage.wait_for(Timer.BEAT)
    _answer(stage, 1_800)
    lost = take.count(fx.ReportLost)
    take.claim("the turn gets its answer after all", lost == 0 and stage.state.answered == stage.state.said)


def give_up(take: Take, stage: Stage) -> None:
    for _ in range(stage.settings.check_ins_max):
        stage.wait_for(Timer.DEAD_AIR)
        _answer(stage, 1_000)
    stage.wait_for(Timer.DEAD_AIR)
    asks = [request.ask for request in take.effects(fx.StartReply)]
    take.claim("after two check-ins comes a goodbye", asks == [Ask.CHECK_IN, Ask.CHECK_IN, Ask.GOODBYE])
    _answer(stage, 1_400)
    take.claim("the session closes once the goodbye was heard", take.count(fx.CloseSession) == 1)
    stage.wait(120)
    stage.happen(ev.SessionClosed)
    s = stage.state
    nothing_left = s.link is Link.IDLE and s.user is User.QUIET and not s.jobs and not any(s.due)
    take.claim("nothing is left running, not even a timer", nothing_left)


SCRIPTS: tuple[tuple[str, str, Script], ...] = (
    ("Picking up", "The call starts.", pick_up),
    ("Question and answer", "The user asks something, the agent answers.", question),
    ("A cough", "The user coughs while the answer is on its way. The cough only delays it.", cough),
    ("Barge-in", "The user cuts in with a new question. The agent falls silent and answers it.", barge_in),
    ("Uh-huh", 'The user murmurs "uh-huh". The agent pauses for a moment and carries on.', uh_huh),
    ("A tool", "The answer needs a lookup that takes a second.", tool),
    ("A long job", "A job takes a while. What the user adds meanwhile is answered after it.", delegate),
    (
        "A background job",
        "Another job runs in the background. Its result is reported when the floor is free.",
        dispatch,
    ),
    ("A wobbly line", "The line drops out in mid-sentence and comes back by itself.", wobble),
    ("A lost line", "The line is lost before the answer comes. A new session takes over.", lose_line),
    ("A failing service", "The brain fails, fails again, and the user presses retry.", fault),
    ("Dead air", "The user has walked away. The agent asks twice, says goodbye and hangs up.", give_up),
)
