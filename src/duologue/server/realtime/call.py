"""One conversation with a client of the Realtime protocol: feeds the translation and does what it says.

The conversation begins with the first event that isn't `session.update`, so that the client can configure it before.
Rule: this class decides nothing about the protocol. It passes on events and facts, one after another, and performs
acts.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from duologue.core.errors import DuologueError
from duologue.core.leaves import User
from duologue.core.step_record import StepRecord
from duologue.lines.browser import BrowserLine
from duologue.observe import signals as sg
from duologue.observe.diagnostics import correlation_id
from duologue.observe.recorder import new_journal_path
from duologue.ports.context import Context
from duologue.ports.ears import Frame
from duologue.ports.history import Item
from duologue.runtime.agent import Agent, Phrases
from duologue.runtime.conversation import Conversation

from ..caller_budget import Refused, Unanswered
from ..limited_caller import LimitedCaller
from ..settings import Limits
from . import acts as do
from . import facts as fa
from .agent_config import changes_of
from .audio_format import OutputEncoder
from .client_events import ItemTruncate
from .client_function import ClientCalls
from .client_player import ClientPlayer, TrackedPlayer
from .committed_audio import frames_of, transcribe
from .conversation_facts import facts_of
from .exchange import ExchangeState
from .fields import JsonObject
from .items import as_history
from .refusal import LIMITED, EventRefused
from .session_config import SessionConfig
from .translation import ExchangeInput, greet, step

LOG = logging.getLogger("duologue.realtime")
LOG.addHandler(logging.NullHandler())
END_S_MAX = 2.0
TOO_FAST = "rate_limit_exceeded"
MakePlayer: TypeAlias = Callable[
    [BrowserLine, Callable[[int, bytes], None], Callable[[int], None], Callable[[int], None]], TrackedPlayer
]


class RealtimeCall:
    """One conversation. `send` gets each event for the client and the voice that it is the sound of, and `cut` gets a
    voice whose queued sound must not be sent any more. With WebRTC, `make_player` makes the player of the track, and
    `track_hz` is the rate of the client's sound."""

    def __init__(
        self,
        agent: Agent,
        context: Context[Any],
        limits: Limits,
        send: Callable[[JsonObject, int], None],
        cut: Callable[[int], None],
        *,
        config: SessionConfig,
        journals: Path | None = None,
        address: str = "",
        make_player: MakePlayer = ClientPlayer,
        track_hz: int = 0,
        note_refused: Callable[[str], None] = lambda limit: None,  # noqa: ARG005
    ) -> None:
        self.id = context.info.conversation
        self.address = address
        self.began = datetime.now(UTC)
        self._agent = agent
        self._limits = limits
        self._send = send
        self._context = context
        self._journals = journals
        self._caller = LimitedCaller(limits, note_refused)
        self._track_hz = track_hz
        self.line = BrowserLine(track_hz or config.input_format.rate_hz)
        self._player = make_player(self.line, self._note_sound, self._note_complete, cut)
        self._encoder = OutputEncoder(config.output_format)
        self._encoded_voice = 0
        self._calls = ClientCalls(self.post)
        self._kept: list[Frame] = []
        self.conversation: Conversation | None = None
        self._running: asyncio.Task[str] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._alarm: asyncio.TimerHandle | None = None
        self._inputs: deque[ExchangeInput] = deque()
        self._is_stepping = False
        self._signals: list[sg.Signal] = []
        self._used: dict[str, Any] = {}  # what the agent was told last
        self.state = ExchangeState(
            f"sess_{self.id}",
            f"conv_{self.id}",
            config if agent.voice is not None else replace(config, output_modalities=("text",)),
            has_ears=agent.ears is not None,
            has_voice=agent.voice is not None,
            has_track=track_hz > 0,
            own_tools=tuple(worker.tool.name for worker in agent.workers),
        )
        self._performers = self._table()

    # -- Beginning and end

    def greet(self) -> None:
        """Send what a client gets first."""
        self.state, acts = greet(self.state)
        self._perform(acts)

    async def begin(self, watch: Callable[[Conversation], object]) -> None:
        """Start the conversation, with the configuration so far. Returns when the user can speak. Raises
        StartRefused."""
        config = self.state.config
        self._used = changes_of(self._agent, config, self._calls)
        agent = replace(self._agent, **self._used)
        self.line.rate_hz = self._track_hz or config.input_format.rate_hz
        journal = new_journal_path(self._journals, correlation_id(self.id)) if self._journals is not None else None
        self.conversation = made = Conversation(
            agent, self.line, conversation_id=self.id, journal=journal, context=self._context
        )
        engine = made.engine
        history = engine.requests.history
        engine.requests.history = lambda: self._with_items(history())
        engine.replies.on_shown = self._note_shown
        engine.speak(config.speaks)
        engine.watchers.append(self._follow)
        for kind in (sg.TurnCompleted, sg.TurnDropped):
            made.on(kind, self._signals.append)
        made.on(sg.Used, self._note_used)
        self.state = replace(self.state, is_fixed=getattr(agent.brain, "renew", None) is not None)
        watch(made)
        self.line.attach(self._player)
        await made.start()
        self._running = asyncio.ensure_future(made.wait())
        wait_s = self._limits.unspoken_s_max
        self._alarm = asyncio.get_running_loop().call_later(wait_s, self._end_if_unspoken, wait_s)

    def _end_if_unspoken(self, after_s: float) -> None:
        if not self.has_spoken and not self.is_over:
            self.give_way(f"nothing was said within {after_s:.0f} s")

    @property
    def over(self) -> asyncio.Task[str] | None:
        """Done when the conversation is over. None before it has begun."""
        return self._running

    async def end(self, reason: str) -> None:
        """End the conversation, because the client is gone or the server stops."""
        self._player.close()
        if self._alarm is not None:
            self._alarm.cancel()
        for task in tuple(self._tasks):
            if task is not asyncio.current_task():
                task.cancel()
        made = self.conversation
        if made is not None:
            ending = asyncio.ensure_future(made.end(reason))
            await asyncio.wait([ending], timeout=END_S_MAX)

    @property
    def is_over(self) -> bool:
        return self._running is not None and self._running.done()

    @property
    def has_spoken(self) -> bool:
        """Has the user said or typed anything, or is the user about to?"""
        made = self.conversation
        return made is not None and (made.machine_state.said > 0 or made.machine_state.user is not User.QUIET)

    def give_way(self, reason: str) -> None:
        """End the conversation soon."""
        self._start(self.end(reason))

    # -- Inputs

    def post(self, given: ExchangeInput) -> None:
        """Pass on an event or a fact. One that comes while another is processed waits for its end."""
        self._inputs.append(given)
        if self._is_stepping:
            return
        self._is_stepping = True
        try:
            while self._inputs:
                one = self._inputs.popleft()
                if isinstance(one, ItemTruncate):
                    voice = self._voice_of(one.item_id)
                    played_ms, reported_ms = self._player.played_ms(voice), self._player.reported_ms(voice)
                    one = replace(one, played_ms=played_ms, reported_ms=reported_ms)
                self.state, acts = step(self.state, one)
                self._perform(acts)
        finally:
            self._is_stepping = False

    def _voice_of(self, item_id: str) -> int:
        open_items = self.state.response.output if self.state.response is not None else ()
        found = next((item for item in (*open_items, *self.state.items) if item.id == item_id), None)
        return found.voice if found is not None else 0

    def _follow(self, record: StepRecord) -> None:
        signals, self._signals[:] = tuple(self._signals), []
        for fact in facts_of(record, signals, self._heard_of):
            self.post(fact)

    def _heard_of(self, voice: int) -> str:
        assert self.conversation is not None
        cut = self.conversation.engine.playback.cut
        return cut.ledger.split().heard if cut is not None and cut.voice == voice else ""

    def hear_track(self, pcm: bytes, ms: int) -> None:
        """Sound of the client's microphone, over WebRTC. What comes before the conversation begins is dropped."""
        if self.conversation is not None and not self.is_over:
            self.post(fa.TrackHeard(pcm, ms, self._track_hz))

    def _note_used(self, used: sg.Used) -> None:
        if used.part == "llm":
            self.post(fa.TokensUsed(used.input_tokens, used.cached_tokens, used.output_tokens))

    def _note_shown(self) -> None:
        assert self.conversation is not None
        speech = self.conversation.engine.replies.current
        if speech is not None:
            self.post(fa.ReplyWorded(speech.reply, speech.ledger.text, speech.ledger.shown))

    def _note_sound(self, voice: int, pcm: bytes) -> None:
        assert self.conversation is not None
        speech = self.conversation.engine.playback.speech
        if speech is None or speech.voice != voice:
            return
        if voice != self._encoded_voice:
            self._encoder, self._encoded_voice = OutputEncoder(self.state.config.output_format), voice
        self.post(fa.ReplyWorded(speech.reply, speech.ledger.text, speech.ledger.shown))
        ms = len(pcm) // 48
        data = b"" if self.state.has_track else self._encoder.encode(pcm)
        self.post(fa.SoundSent(speech.reply, voice, data, ms))

    def _note_complete(self, voice: int) -> None:
        self._note_sound_end(voice)
        self.post(fa.SoundComplete(voice))

    def _note_sound_end(self, voice: int) -> None:
        assert self.conversation is not None
        speech = self.conversation.engine.playback.speech
        if speech is not None and speech.voice == voice == self._encoded_voice:
            self.post(fa.ReplyWorded(speech.reply, speech.ledger.text, speech.ledger.shown))
            if rest := self._encoder.finish():
                self.post(fa.SoundSent(speech.reply, voice, rest, 0))

    def _with_items(self, history: tuple[Item, ...]) -> tuple[Item, ...]:
        s = self.state
        if not s.deleted and not any(item.is_created for item in s.items):
            return history
        return as_history(history, s.items, s.deleted, s.typing)

    # -- Acts

    def _perform(self, acts: tuple[do.Act, ...]) -> None:
        for act in acts:
            self._performers[type(act)](act)

    def _table(self) -> dict[type, Callable[[Any], object]]:
        return {
            do.Send: lambda act: self._send(act.event, act.voice),
            do.UseConfig: lambda act: self._use(act.config),
            do.PassSound: self._hear,
            do.KeepSound: self._keep,
            do.DropSound: lambda _: self._kept.clear(),
            do.Transcribe: self._transcribe,
            do.SendTurn: lambda _: self._running_conversation.send(),
            do.TypeText: self._type,
            do.SpeakNow: lambda _: self._speak_now(),
            do.GiveOutputs: self._give_outputs,
            do.Interrupt: lambda _: self._running_conversation.interrupt("client"),
            do.StopPlayer: self._stop_player,
        }

    @property
    def _running_conversation(self) -> Conversation:
        assert self.conversation is not None
        return self.conversation

    def _use(self, config: SessionConfig) -> None:
        """Let the agent answer as this configuration says, from the next request on."""
        if self.conversation is None or self.is_over:
            return
        engine = self.conversation.engine
        wanted = changes_of(self._agent, config, self._calls)
        changed = {name: value for name, value in wanted.items() if name != "tools" and value != self._used[name]}
        if [one.tool for one in _workers(wanted)] != [one.tool for one in _workers(self._used)]:
            changed["tools"] = wanted["tools"]
        self.line.rate_hz = self._track_hz or config.input_format.rate_hz
        engine.speak(config.speaks)
        if changed:
            self._used |= changed
            engine.changes.update(changed)

    def _hear(self, act: do.PassSound) -> None:
        ms = -(-len(act.pcm) * 500 // act.rate_hz)
        if self._caller.hear(ms, self._tell_left_out):
            for frame in frames_of(act.pcm, act.rate_hz):
                self.line.hear(frame.pcm)

    def _keep(self, act: do.KeepSound) -> None:
        ms = -(-len(act.pcm) * 500 // act.rate_hz)
        if self._caller.hear(ms, self._tell_left_out):
            self._kept += frames_of(act.pcm, act.rate_hz)

    def _tell_left_out(self, refused: Refused) -> None:
        self.post_error(EventRefused(TOO_FAST, refused.message, "audio", LIMITED))

    def post_error(self, refused: EventRefused) -> None:
        """Tell the client of something that isn't about one of its events."""
        self.post(refused)

    def _transcribe(self, act: do.Transcribe) -> None:
        frames, self._kept = self._kept, []
        ears = self._agent.ears
        assert ears is not None

        async def write() -> None:
            self.post(fa.AudioWritten(act.item_id, await transcribe(ears, frames)))

        self._start(write())

    def _type(self, act: do.TypeText) -> None:
        made = self._running_conversation
        state = made.machine_state
        turns = made.engine.transcript.turns(state.answered + 1, state.turn)
        unanswered = Unanswered(len(turns), sum(len(said.text) for said in turns))
        if len(act.text) > self._limits.text_chars_max:
            most = self._limits.text_chars_max
            self.post(fa.AskRefused("string_above_max_length", f"At most {most} characters can be answered at once."))
            return
        refused = self._caller.type(len(act.text), unanswered)
        if refused is not None:
            self.post(fa.AskRefused(TOO_FAST, refused.message))
            return
        try:
            made.type(act.text)
        except (DuologueError, ValueError) as problem:
            self.post(fa.AskRefused("invalid_value", str(problem)))

    def _speak_now(self) -> None:
        """Let the agent speak next, as one that takes a conversation over does, without its greeting."""
        engine = self._running_conversation.engine
        phrases: Phrases = replace(engine.agent.phrases, greeting="")
        engine.changes.hand_over(replace(engine.changes.newest, phrases=phrases), "whole", "")

    def _give_outputs(self, act: do.GiveOutputs) -> None:
        for call, output in act.outputs:
            self._calls.give(call, output)

    def _stop_player(self, act: do.StopPlayer) -> None:
        if self._player.stop(act.voice, act.heard_ms):
            self._running_conversation.interrupt("client")
            self._player.stop(act.voice, act.heard_ms)

    def _start(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work, name="realtime")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _workers(used: dict[str, Any]) -> list[Any]:
    return [tool for tool in used["tools"] if hasattr(tool, "tool")]
