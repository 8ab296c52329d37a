"""One conversation with a client of the Realtime protocol: passes inputs to the translation and performs its acts.

The conversation begins with the first event of a kind in `BEGINNING`, so that the client can configure it first.
Rule: this class decides nothing about the protocol. It passes events and facts to the translation, one after another,
and performs the acts that the translation returns.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from duologue.core.errors import DuologueError
from duologue.core.step_record import StepRecord
from duologue.lines.browser import BrowserLine
from duologue.observe import signals as sg
from duologue.ports.context import Context
from duologue.ports.ears import Frame
from duologue.ports.history import Item
from duologue.runtime.agent import OWN_TOOLS, Agent, Phrases
from duologue.runtime.conversation import Conversation

from ..caller_budget import Refused
from ..limited_caller import unanswered_of
from ..protocols.translated_call import TranslatedCall
from ..settings import Limits
from . import acts as do
from . import facts as fa
from .agent_config import changes_of
from .audio_format import OutputEncoder
from .client_events import ClientEvent, ItemTruncate, ResponseCreate
from .client_function import ClientCalls
from .client_player import ClientPlayer, TrackedPlayer
from .committed_audio import FRAME_MS, frames_of, transcribe
from .conversation_facts import facts_of
from .exchange import ExchangeState
from .fields import JsonObject
from .items import as_history
from .refusal import LIMITED, EventRefused
from .session_config import SessionConfig
from .translation import ExchangeInput, greet, step

LOG = logging.getLogger("duologue.realtime")
LOG.addHandler(logging.NullHandler())
EARLY_MS_MAX = 3_000
TOO_FAST = "rate_limit_exceeded"
MakePlayer: TypeAlias = Callable[
    [BrowserLine, Callable[[int, bytes], None], Callable[[int], None], Callable[[int], None]], TrackedPlayer
]


class RealtimeCall(TranslatedCall[ExchangeInput]):
    """One conversation. `send` is called with each event for the client, and with the number of the voice (the sound of
    one reply) whose sound the event contains; 0 if it contains no sound. `cut` is called with the number of a voice
    whose queued sound must not be sent any more. With WebRTC, `make_player` makes the player for the audio track, and
    `track_hz` is the sample rate of the client's sound."""

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
        super().__init__(context, limits, note_refused, address)
        self._agent = agent
        self._send = send
        self._journals = journals
        self._track_hz = track_hz
        self.line = BrowserLine(track_hz or config.input_format.rate_hz)
        self._player = make_player(self.line, self._note_sound, self._note_complete, cut)
        self._encoder = OutputEncoder(config.output_format)
        self._encoded_voice = 0
        self._calls = ClientCalls(self.post)
        self._kept: list[Frame] = []
        self._early: deque[fa.TrackHeard] = deque()  # sound of a client whose conversation doesn't run yet
        self._used: dict[str, Any] = {}  # what the agent was told last
        self.state = ExchangeState(
            f"sess_{self.id}",
            f"conv_{self.id}",
            config if agent.voice is not None else replace(config, output_modalities=("text",)),
            has_ears=agent.ears is not None,
            has_voice=agent.voice is not None,
            has_track=track_hz > 0,
            own_tools=(*OWN_TOOLS, *(worker.tool.name for worker in agent.workers)),
            voices=tuple(agent.voices),
            language=agent.language.partition("-")[0].lower(),
        )

    # -- Beginning and end

    def greet(self) -> None:
        """Send the events that a client gets first."""
        self.state, acts = greet(self.state)
        self._perform(acts)

    async def begin(self, watch: Callable[[Conversation], object], first: ClientEvent | None = None) -> None:
        """Start the conversation with the configuration that the client has set so far. Returns when the user can
        speak. `first` is the event with which the client begins it; if it asks for an answer to a text, the agent gives
        this answer and doesn't greet. Raises StartRefused."""
        config = self.state.config
        self._used = changes_of(self._agent, config, self._calls)
        agent = replace(self._agent, **self._used)
        if isinstance(first, ResponseCreate) and self.state.unanswered:
            agent = _without_greeting(agent)
        self.line.rate_hz = self._track_hz or config.input_format.rate_hz
        self.line.attach(self._player)
        self.state = self.state._replace(is_fixed=getattr(agent.brain, "renew", None) is not None)
        await self._open(agent, self.line, self._journals, watch)
        while self._early:
            self.post(self._early.popleft())

    def _listen(self, made: Conversation) -> None:
        engine = made.engine
        history = engine.requests.history
        engine.requests.history = lambda: self._with_items(history())
        engine.replies.on_shown = self._note_shown
        engine.speak(self.state.config.speaks)
        engine.watchers.append(self._follow)
        made.on(sg.Used, self._note_used)

    async def end(self, reason: str) -> None:
        """End the conversation, because the client has disconnected or the server is stopping."""
        self._player.close()
        await super().end(reason)

    # -- Inputs

    def _step(self, given: ExchangeInput) -> tuple[do.Act, ...]:
        if isinstance(given, ItemTruncate):
            voice = self._voice_of(given.item_id)
            played_ms, reported_ms = self._player.played_ms(voice), self._player.reported_ms(voice)
            given = replace(given, played_ms=played_ms, reported_ms=reported_ms)
        self.state, acts = step(self.state, given)
        return acts

    def _voice_of(self, item_id: str) -> int:
        open_items = self.state.response.output if self.state.response is not None else ()
        found = next((item for item in (*open_items, *self.state.items) if item.id == item_id), None)
        return found.voice if found is not None else 0

    def _follow(self, record: StepRecord) -> None:
        signals, self._signals[:] = tuple(self._signals), []
        for fact in facts_of(record, signals, self._heard_of):
            self.post(fact)

    def hear_track(self, pcm: bytes, ms: int) -> None:
        """Take sound from the client's microphone that came over WebRTC. Before the conversation runs, only the last
        seconds of sound are kept; they are heard when it starts."""
        heard = fa.TrackHeard(pcm, ms, self._track_hz)
        if self.is_over:
            return
        if self.has_begun:
            self.post(heard)
            return
        self._early.append(heard)
        while sum(one.ms for one in self._early) > EARLY_MS_MAX:
            self._early.popleft()

    def _note_used(self, used: sg.Used) -> None:
        if used.part == "llm":
            self.post(fa.TokensUsed(used.input_tokens, used.cached_tokens, used.output_tokens))

    def _note_shown(self) -> None:
        speech = self._talk.engine.replies.current
        if speech is not None:
            self.post(fa.ReplyWorded(speech.reply, speech.ledger.text, speech.ledger.shown))

    def _note_sound(self, voice: int, pcm: bytes) -> None:
        speech = self._talk.engine.playback.speech
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
        speech = self._talk.engine.playback.speech
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

    def _table(self) -> dict[type, Callable[[Any], object]]:
        return {
            do.Send: lambda act: self._send(act.event, act.voice),
            do.SendLimits: self._send_limits,
            do.UseConfig: lambda act: self._use(act.config),
            do.PassSound: self._hear,
            do.KeepSound: self._keep,
            do.DropSound: lambda _: self._kept.clear(),
            do.Transcribe: self._transcribe,
            do.SendTurn: lambda _: self._talk.send(),
            do.TypeText: self._type,
            do.SpeakNow: lambda _: self._speak_now(),
            do.GiveOutputs: self._give_outputs,
            do.Interrupt: lambda _: self._talk.interrupt("client"),
            do.StopPlayer: self._stop_player,
        }

    def _send_limits(self, act: do.SendLimits) -> None:
        """Tell the client how many responses it may still ask for. Tokens aren't limited here, so they aren't named."""
        left = self._caller.turns_left()
        requests = {
            "name": "requests",
            "limit": left.limit,
            "remaining": left.remaining,
            "reset_seconds": left.full_in_ms / 1000,
        }
        self._send({"type": "rate_limits.updated", "event_id": act.event_id, "rate_limits": [requests]}, 0)

    def _use(self, config: SessionConfig) -> None:
        """Let the agent use this configuration, beginning with the next request to the brain."""
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
        if not self._caller.hear(ms, self._tell_left_out):
            return
        if ms <= FRAME_MS:  # almost always
            self.line.hear(act.pcm)
            return
        for frame in frames_of(act.pcm, act.rate_hz):
            self.line.hear(frame.pcm)

    def _keep(self, act: do.KeepSound) -> None:
        ms = -(-len(act.pcm) * 500 // act.rate_hz)
        if self._caller.hear(ms, self._tell_left_out):
            self._kept += frames_of(act.pcm, act.rate_hz)

    def _tell_left_out(self, refused: Refused) -> None:
        self.post_error(EventRefused(TOO_FAST, refused.message, "audio", LIMITED))

    def post_error(self, refused: EventRefused) -> None:
        """Send the client an error that wasn't caused by one of its events."""
        self.post(refused)

    def _transcribe(self, act: do.Transcribe) -> None:
        frames, self._kept = self._kept, []
        ears = self._agent.ears
        assert ears is not None

        async def write() -> None:
            ms = sum(len(frame.pcm) * 500 // frame.rate_hz for frame in frames)
            self.post(fa.AudioWritten(act.item_id, await transcribe(ears, frames), ms))

        self._start(write())

    def _type(self, act: do.TypeText) -> None:
        if len(act.text) > self._limits.text_chars_max:
            most = self._limits.text_chars_max
            self.post(fa.AskRefused("string_above_max_length", f"At most {most} characters can be answered at once."))
            return
        refused = self._caller.type(len(act.text), unanswered_of(self._talk))
        if refused is not None:
            self.post(fa.AskRefused(TOO_FAST, refused.message))
            return
        try:
            self._talk.type(act.text)
        except (DuologueError, ValueError) as problem:
            self.post(fa.AskRefused("invalid_value", str(problem)))

    def _speak_now(self) -> None:
        """Let the agent speak next although the user has said nothing. This is done as a handover from the agent to
        itself, but without a greeting. It counts as a typed turn without characters."""
        refused = self._caller.type(0, unanswered_of(self._talk))
        if refused is not None:
            self.post(fa.AskRefused(TOO_FAST, refused.message))
            return
        changes = self._talk.engine.changes
        changes.hand_over(_without_greeting(changes.newest), "whole", "")

    def _give_outputs(self, act: do.GiveOutputs) -> None:
        for call, output in act.outputs:
            self._calls.give(call, output)

    def _stop_player(self, act: do.StopPlayer) -> None:
        if self._player.stop(act.voice, act.heard_ms):
            self._talk.interrupt("client")
            self._player.stop(act.voice, act.heard_ms)


def _without_greeting(agent: Agent) -> Agent:
    phrases: Phrases = replace(agent.phrases, greeting="")
    return replace(agent, phrases=phrases)


def _workers(used: dict[str, Any]) -> list[Any]:
    return [tool for tool in used["tools"] if hasattr(tool, "tool")]
