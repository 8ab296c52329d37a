"""Telephone calls in known situations, and a check that a call's sound agrees with its phone view."""

from __future__ import annotations

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.settings import profile
from duologue.lab.sim.stage import Stage
from duologue.replay.journal import StepRecord

DEAD_AIR_MS = 10_000


def ringing() -> Stage:
    """A call that is about to begin."""
    return Stage(profile("words"))


def greeted() -> Stage:
    """A call after its greeting; reply 1 and voice 1 are over."""
    stage = ringing()
    stage.start()
    stage.wait(1)
    stage.answer()
    return stage


def speaking() -> Stage:
    """The agent answers turn 1 and 600 ms of it were heard."""
    stage = greeted()
    stage.say()
    stage.think()
    stage.speak(600)
    return stage


def over_the_agent(stage: Stage, words: int = 1, substantial: int = 1) -> None:
    """A short utterance that begins and ends while the agent speaks, without a bid for the floor."""
    stage.begin_talking()
    stage.play(200)
    stage.happen(ev.WordsHeard, words=words, substantial=substantial, final=True)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)


def finish_thought(stage: Stage, words: int = 6) -> tuple[fx.Effect, ...]:
    """The interrupting person speaks to the end of the sentence."""
    stage.wait(800)
    stage.hear_words(words)
    stage.happen(ev.SpeechStopped)
    stage.wait(150)
    stage.hear_words(words, final=True)
    stage.wait(100)
    return stage.happen(ev.TurnEnded)


class Sound:
    """Follows the effects and events of playback, and checks the phone view against them."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.voice = 0  # the voice that plays, or 0
        self.wrong: list[str] = []
        stage.watch = self.see

    def see(self, record: StepRecord) -> None:
        event = record.event
        if isinstance(event, ev.PlaybackFinished) and event.voice == self.voice:
            self.voice = 0
        for effect in record.effects:
            if isinstance(effect, fx.StopPlayback) and effect.voice == self.voice:
                self.voice = 0
            elif isinstance(effect, fx.StartPlayback):
                self.voice = effect.voice
        is_speaking = self.stage.view("phone") == "agent_speaking"
        if is_speaking != (self.voice > 0):
            self.wrong.append(f"{event}: speaking is {is_speaking}, voice {self.voice} is on")
