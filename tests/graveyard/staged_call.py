"""A call that a test controls to the millisecond, on a line that records what was heard.

The driver, the transcript and the machine are the real ones; only clock, person and services are
scripted. Rule: `ends_well` closes every story. It says one more ordinary thing, waits for dead air to be
broken, and then compares the history with what really came out of the line, word by word.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from duologue.brains.scripted import ScriptedBrain
from duologue.core import effects as fx
from duologue.core.leaves import TIMER_INDEX, Ask, Timer
from duologue.core.settings import profile as settings_of
from duologue.core.state import is_at_rest
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.ports import AgentSaid, CallOutput, News, Sound, UserSaid
from duologue.ports.line import Finished, LineEvent, Stopped
from duologue.ports.worker import Worker
from duologue.runtime.agent import Agent, Phrases
from duologue.runtime.seats import SEATS
from duologue.testing import Call, SpeakingPace

PROFILES = ("confirm", "immediate", "words")
CHECK_INS, GOODBYE = ("Are you still there?",), "Goodbye!"
LAST_WORDS = "and what about tomorrow"
CHECKS_IN: dict[str, Any] = {"check_ins_max": 2, "hangs_up": True}  # in every profile, so that dead air can be broken


class TruthfulLine(ScriptedLine):
    """Notes for each voice which words really sounded. `stop_ms`: how long it takes to confirm that it
    is silent, None for never."""

    def __init__(self, ack_ms: int = 100, open_ms: int = 0, stop_ms: int | None = 0) -> None:
        super().__init__(ack_ms, open_ms)
        self.stop_ms = stop_ms
        self.given_ms: Counter[int] = Counter()
        self.sounded_ms: dict[int, int] = {}
        self.words_given: dict[int, list[tuple[int, str]]] = {}

    def play(self, voice: int, chunk: int, sound: Sound) -> None:
        start_ms = self.given_ms[voice]
        self.words_given.setdefault(voice, []).extend((start_ms + word.end_ms, word.text) for word in sound.words)
        self.given_ms[voice] += sound.ms
        super().play(voice, chunk, sound)

    def tell(self, event: LineEvent) -> None:
        if isinstance(event, Finished | Stopped):
            self.sounded_ms.setdefault(event.voice, event.heard_ms)
        if not isinstance(event, Stopped) or self.stop_ms == 0:
            super().tell(event)
        elif self.stop_ms is not None:
            asyncio.get_running_loop().call_later(self.stop_ms / 1000, super().tell, event)

    def heard_of(self, voice: int) -> str:
        """The words of this voice whose sound came out to its end."""
        heard_ms = self.sounded_ms.get(voice, 0)
        return " ".join(text for end_ms, text in self.words_given.get(voice, []) if end_ms <= heard_ms)

    @property
    def heard(self) -> list[str]:
        return [text for voice in self.words_given if (text := self.heard_of(voice))]


class Staged(Call):
    """A call with every act of the ears at hand. `settings` changes those of the profile; the agent's set
    phrases greet, check in and say goodbye, so that the brain's requests are all about what was said."""

    def __init__(
        self,
        brain: ScriptedBrain,
        *tools: Worker,
        profile: str = "confirm",
        line: TruthfulLine | None = None,
        settings: dict[str, Any] | None = None,
        pace: SpeakingPace | None = None,
        **agent: Any,
    ) -> None:
        self.brain = brain
        self.settings = settings_of(profile, **{**CHECKS_IN, **(settings or {})})
        greeting = "Hello there!" if profile == "words" else ""
        agent.setdefault("phrases", Phrases(greeting, CHECK_INS, GOODBYE))
        agent.setdefault("spoken_forms", False)  # the line knows the words of the voice
        self.truth = line or TruthfulLine()
        super().__init__(
            Agent(brain, tools=tools, profile=self.settings, **agent), line=self.truth, pace=pace, own_voice=True
        )
        if self.settings.greets:
            self.waits(1).settles()

    # -- Time

    def plays(self, heard_ms: int) -> Staged:
        """Wait until exactly so much of the current voice has sounded."""
        self.until(lambda: self.line.is_sounding)
        self.until(lambda: self.line.heard_ms >= heard_ms)
        return self

    # -- What happened

    def when(self, kind: type[fx.Effect]) -> list[int]:
        """When effects of this kind left."""
        return [record.event.at for record in self.records for effect in record.effects if type(effect) is kind]

    def effects(self, kind: type[Any]) -> list[Any]:
        return [effect for record in self.records for effect in record.effects if type(effect) is kind]

    def told(self, kind: type[Any]) -> list[Any]:
        """The signals of this kind."""
        return [signal for signal in self.signals if type(signal) is kind]

    @property
    def asked(self) -> list[str]:
        """What the brain was asked, request by request."""
        return [request.text for request in self.brain.requests]

    @property
    def outputs(self) -> list[tuple[int, str]]:
        return [(item.call, item.output) for item in self.history if isinstance(item, CallOutput)]

    def acts(self, *names: str) -> list[tuple[int, str]]:
        """What the line was told, with its time."""
        return [(act.at_ms, act.what) for act in self.line.log if not names or act.what in names]

    def due(self, timer: Timer) -> int:
        return self.conversation.machine_state.due[TIMER_INDEX[timer]]

    # -- How a story ends

    def ends_well(self, heard_exactly: bool = True) -> None:
        """One more ordinary turn, dead air broken in time, an honest history, a clean end."""
        self.person.pace = SpeakingPace()
        self.settles()
        self.answers_once_more()
        self.breaks_dead_air()
        self.kept_the_truth(heard_exactly)
        self.ends_cleanly()

    def answers_once_more(self) -> None:
        asked, sounds = len(self.brain.requests), len(self.when(fx.StartPlayback))
        self.says(LAST_WORDS)
        self.settles()
        requests = self.brain.requests[asked:]
        assert [request.text for request in requests] == [LAST_WORDS]
        assert len(self.when(fx.StartPlayback)) == sounds + 1
        last = [item for item in self.history if isinstance(item, AgentSaid)][-1]
        assert last.text
        assert not last.interrupted

    def breaks_dead_air(self) -> None:
        s = self.conversation.machine_state
        assert is_at_rest(s), s
        assert self.due(Timer.DEAD_AIR) == self.now_ms + self.settings.dead_air_ms
        quiet_at = self.now_ms
        self.waits(self.settings.dead_air_ms).settles()
        asks = [(step.event.at, e.ask) for step in self.records for e in step.effects if type(e) is fx.StartReply]
        assert asks[-1] == (quiet_at + self.settings.dead_air_ms, Ask.CHECK_IN)
        assert self.due(Timer.DEAD_AIR) == self.now_ms + self.settings.dead_air_ms

    def kept_the_truth(self, heard_exactly: bool) -> None:
        """The history holds what was heard, each thing once."""
        if heard_exactly:
            assert self.heard == self.truth.heard
        replies = [item.reply for item in self.history if isinstance(item, AgentSaid)]
        turns = [item.turn for item in self.history if isinstance(item, UserSaid)]
        made = [number for item in self.history if isinstance(item, AgentSaid) for number, _ in item.calls]
        outputs = [item.call for item in self.history if isinstance(item, CallOutput)]
        ended = [item.call for item in self.history if isinstance(item, News) and item.outcome.value != "needs_input"]
        assert len(set(replies)) == len(replies)
        assert len(set(turns)) == len(turns)
        assert sorted(outputs) == sorted(made), "each call has exactly one output"
        assert len(set(ended)) == len(ended), "each job has exactly one end"
        check_line(self)

    def ends_cleanly(self) -> None:
        self.hangs_up()
        self.waits(2_000)
        assert len(self.conversation.engine.tasks) == 0
        assert [signal.reason for signal in self.told(sg.Ended)] == ["hung up"]
        assert len(SEATS) == 0
        broken = [signal for signal in self.told(sg.Problem) if signal.where in _EFFECT_NAMES]
        assert broken == [], "an effect could not be performed"


def check_line(call: Call) -> None:
    """The line was told sane things: chunks in order, nothing after the end, nothing while it is held."""
    held: set[int] = set()
    over: set[int] = set()
    chunks: Counter[int] = Counter()
    newest = 0
    for act in call.line.log:
        if act.what in _BESIDE_THE_VOICES:
            continue
        assert act.voice not in over, f"{act} after that voice was cleared"
        assert act.voice >= newest, f"{act} of an old voice"
        newest = act.voice
        if act.what == "play":
            chunks[act.voice] += 1
            assert act.chunk == chunks[act.voice], act
        if act.what in ("play", "finish"):
            assert act.voice not in held, f"{act} while held"
        if act.what == "hold":
            held.add(act.voice)
        elif act.what == "resume":
            held.discard(act.voice)
        elif act.what == "clear":
            over.add(act.voice)


_BESIDE_THE_VOICES = ("close", "play_cue", "stop_cue", "set_ambient")
_EFFECT_NAMES = {kind.__name__ for kind in fx.EFFECTS}
