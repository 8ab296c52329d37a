"""A call for tests: both machines on a clock that the test moves."""

from __future__ import annotations

from typing import Any

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.settings import PROFILES, Settings
from duologue.core.state import State, initial
from duologue.hearing import inputs as inp
from duologue.hearing.intents import Intent
from duologue.hearing.policy import HearingPolicy
from duologue.hearing.state import HearingState
from duologue.hearing.words import Fate, fate_of
from duologue.lab.check.hearing.product import (
    HearingProduct,
    Posted,
    ProductState,
    ProductStep,
    Stimulus,
    TimePassed,
    begin_product,
)
from duologue.ports.ears import Final, Partial, SpeechBegan, SpeechEnded
from duologue.turns.overlap import OVERLAP_RULES
from duologue.turns.own_speech import SpokenWord


class HeardCall:
    """A call whose line is up. Every stimulus is processed at once; `wait` lets time pass."""

    def __init__(self, profile: str = "confirm", settings: Settings | None = None, **policy: Any) -> None:
        chosen = HearingPolicy(**{"overlap": OVERLAP_RULES[profile], **policy})
        self.product = HearingProduct(chosen)
        self.state: ProductState = begin_product(initial(settings or PROFILES[profile]))
        self.steps: list[ProductStep] = []
        self.post(ev.StartRequested)
        self.post(ev.SessionReady)

    def give(self, *stimuli: Stimulus) -> HeardCall:
        for stimulus in stimuli:
            step = self.product.take(self.state, stimulus)
            assert not step.failures
            self.steps.append(step)
            self.state = step.after
        return self

    def post(self, kind: type[ev.Event], **given: Any) -> HeardCall:
        return self.give(Posted(kind, tuple(given.items())))

    def wait(self, ms: int) -> HeardCall:
        """Let this much time pass. What becomes due is processed at its time."""
        until = self.state.at + ms
        for _ in range(1_000):
            due = self.product.next_due(self.state)
            if due is None or due > until:
                break
            self.give(TimePassed())
        else:
            raise AssertionError("a due time has passed again and again")
        if until > self.state.at:
            self.give(TimePassed(until - self.state.at))
        return self

    # -- What often happens

    def say(self, text: str, number: int = 1) -> HeardCall:
        """An utterance of half a second, with its final text at the end."""
        self.give(SpeechBegan(number)).wait(500)
        return self.give(SpeechEnded(number), Final(text, utterance=number))

    def begin(self, text: str = "", number: int = 1) -> HeardCall:
        """An utterance that goes on, with a partial text."""
        self.give(SpeechBegan(number))
        return self.give(Partial(text, utterance=number)) if text else self

    def speak(self, text: str = "the house is yours", question: tuple[int, int] | None = None) -> HeardCall:
        """The user types, and the agent answers aloud."""
        self.give(inp.Typed(0, "hello")).post(ev.AudioBuffered)
        words = tuple(SpokenWord(word, 200 * place, 200 * place + 200) for place, word in enumerate(text.split()))
        return self.give(inp.AgentSpoke(0, words, inp.QuestionSpan(*question) if question else None))

    # -- What is seen

    @property
    def core(self) -> State:
        return self.state.core

    @property
    def hearing(self) -> HearingState:
        return self.state.hearing

    @property
    def texts(self) -> dict[int, str]:
        """The text of each turn."""
        return {said.turn: said.text for said in self.hearing.words.turns if said.text}

    def fate(self, turn: int) -> Fate:
        return fate_of(self.hearing.words.of(turn), self.core)

    @property
    def asked(self) -> list[str]:
        """The words of each request, in order."""
        found = []
        for step in self.steps:
            for told in step.steps:
                for effect in told.record.effects:
                    if isinstance(effect, fx.StartReply):
                        given = step.after.hearing.words.turns
                        found.append(" ".join(said.given for said in given if said.given_in == effect.reply))
        return found

    def intents(self, kind: type[Any]) -> list[Any]:
        """What the hearing machine wanted told, of this kind."""
        found: list[Intent | None] = [told.intent for step in self.steps for told in step.steps]
        return [intent for intent in found if isinstance(intent, kind)]
