"""Turns the steps of the state machine into signals, which tell screens, logs and programs about a conversation.

This module reads each step after the step's effects were performed, and changes nothing. Rule: every signal is derived
from the step and the transcript, and no decision depends on this module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from duologue.core import effects as fx
from duologue.core.events import InterruptRequested, PlaybackFinished, ReplyFinished, TextTyped, TimerFired
from duologue.core.leaves import AWAY, CLOSED, LIVE, SOUNDING, Link, User
from duologue.core.state import State
from duologue.core.step_record import StepRecord
from duologue.core.views import CONVERSATION, LIFECYCLE, PHASE
from duologue.observe import signals as sg
from duologue.observe.bus import Bus
from duologue.observe.metrics import Meter
from duologue.observe.notices import Notice, NoticeHistory, step
from duologue.observe.view_history import ViewHistory
from duologue.phrases.overrides import Phrases

from .speech import Speech
from .transcript import Transcript

_PAUSES = {Link.RENEWING: "session renewal", Link.HEALING: "unstable connection"}  # pauses that no program asked for


class Announcer:
    """Sends signals about each step to the bus, which passes them to all subscribers."""

    def __init__(
        self,
        bus: Bus,
        s: State,
        transcript: Transcript,
        context: Callable[[], dict[str, object]],
        language: str,
        phrases: Phrases | None = None,
    ) -> None:
        self._bus = bus
        self._transcript = transcript
        self._language, self._phrases = language, phrases or Phrases()
        self.lifecycle = ViewHistory(LIFECYCLE, s, context, language, phrases, bus.wants)
        self.conversation = ViewHistory(CONVERSATION, s, context, language, phrases, bus.wants)
        self.phase = ViewHistory(PHASE, s, context, language, phrases, bus.wants)
        self._notices = NoticeHistory()
        self.views = {history.view.name: history for history in (self.conversation, self.lifecycle, self.phase)}
        self.meter = Meter()
        self._user = sg.TurnContext(0, "user", 0)
        self._audio_from = (0, 0)  # a turn of the user, and the start of its audio that isn't committed yet
        self._open_turn = 0  # the turn of the user that has begun and has no end yet; 0: none
        self._agent = sg.TurnContext(0, "assistant", 0)
        self._captioned = ("", "", False, 0)
        self._placed: tuple[int, bool, tuple[int, ...]] | None = None  # where the newest caption ended
        self._commanded_by = ""  # the source of the newest command to interrupt the agent
        self._stopped_by = ""  # who or what has stopped the newest sound
        self._paused_for = ""  # the reason that the program gave for the newest pause
        self.last_error: str | None = None

    def use_language(self, language: str, phrases: Phrases) -> None:
        """Write notices in this language from now on."""
        self._language, self._phrases = language, phrases

    def note_command(self, at: int, command: str, why: str) -> None:
        """Send a signal that the program has given this command. Call this before the command takes effect."""
        if command == "interrupt":
            self._commanded_by = why
        else:
            self._paused_for = why
        self._bus.send(sg.Commanded(at, command, why))

    def audio_started_at(self, reply: int) -> int | None:
        """When the sound of this reply began. None if this isn't the agent's newest reply, or if its sound began in
        another process."""
        return self._agent.started_at if self._agent.reply == reply else None

    def reason_in(self, s: State) -> str | None:
        """Why the conversation is paused or in a fault, such as "session renewal". None if it is neither paused nor in
        a fault, or if the program paused it without a reason."""
        if s.link is Link.SUSPENDED:
            return self._paused_for or None
        if s.fault is not None:
            return s.fault.error.value
        return _PAUSES.get(s.link)

    def follow(self, record: StepRecord) -> None:
        event, after = record.event, record.after
        self._notices, notices = step(self._notices, record)
        if after is record.before:
            return
        send = self._bus.send
        if not record.is_only_progress:
            self._tell_step(record, notices)
        for notice in notices:
            code, level, text, actions, fatal, part, _ = notice
            if code != "lost":  # its signal is Lost
                send(sg.Noticed(event.at, code, level, text, actions, fatal, part))

    def _tell_step(self, record: StepRecord, notices: tuple[Notice, ...]) -> None:
        event, after, send = record.event, record.after, self._bus.send
        self.meter.add(record)
        if type(event) is TimerFired:
            send(sg.TimedOut(event.at, event.timer.value, event.call))
        if record.before.link in AWAY and after.link is Link.FAULTED:
            send(sg.Recovered(event.at, "session", success=False))
        for signal in [
            signal for view in self.views.values() for signal in view.follow(event, after)
        ]:  # a list, so that every view has moved before the first signal is sent
            send(signal)
        self._tell_turns(record)
        for effect in record.effects:
            self._tell_effect(event.at, effect, notices)

    def _hint(self, part: str, notices: tuple[Notice, ...]) -> str:
        """The text that tells the person what went wrong in this step, made from the notices with level "error". Empty
        if there are no such notices."""
        texts = [notice.text for notice in notices if notice.level == "error"]
        return " ".join(self._phrases.notice(self._language, text, part=part) for text in texts)

    def _tell_effect(self, at: int, effect: fx.Effect, notices: tuple[Notice, ...]) -> None:
        send = self._bus.send
        match effect:
            case fx.CommitAudio():
                turn, since = self._audio_from
                self._audio_from = (effect.turn, at)
                send(sg.TurnAudioCommitted(at, effect.turn, at - since if turn == effect.turn else 0))
            case fx.ShowFault():
                told = self._hint(effect.part.value, notices)
                self.last_error = effect.error.value
                send(sg.Failed(at, effect.part, effect.error, effect.fatal, told))
            case fx.ClearFault():
                send(sg.Recovered(at, "fault"))
            case fx.RestoreContext() if effect.session > 1:
                send(sg.Recovered(at, "session"))
            case fx.ReportLost():
                texts = tuple(said.text for said in self._transcript.turns(effect.first, effect.last))
                if texts:  # without texts, only noise or overheard speech was lost
                    send(sg.Lost(at, effect.first, effect.last, texts))
            case fx.WarnSilentJob():
                send(sg.WorkSilent(at, effect.call))
            case fx.WarnLongTalk():
                send(sg.TurnLimited(at, effect.turn))

    # -- Turns

    def _tell_turns(self, record: StepRecord) -> None:
        event, before, after = record.event, record.before, record.after
        ends = _ends_of(record)
        if ends:
            self._end_turns(event.at, {turn: why for turn, why in ends.items() if turn <= before.turn})
        if (
            self._open_turn
            and (after.user is User.QUIET or after.turn > self._open_turn)
            and self._open_turn not in ends
        ):
            text = self._transcript.text_of(self._open_turn)
            self._end_turns(event.at, {self._open_turn: "lost" if text and after.link in CLOSED else "noise"})
        if after.turn > before.turn:
            self._user = sg.TurnContext(after.turn, "user", event.at)
            self._open_turn = after.turn
            self._audio_from = (after.turn, event.at)
            self._bus.send(sg.TurnStarted(event.at, self._user))
            self._end_turns(event.at, {turn: why for turn, why in ends.items() if turn > before.turn})
        for effect in record.effects:
            match effect:
                case fx.StartPlayback():
                    self._agent = sg.TurnContext(after.asked, "assistant", event.at, reply=effect.reply)
                    self._bus.send(sg.TurnStarted(event.at, self._agent))
                case fx.StopPlayback():
                    self._stopped_by = self._who_stops(record)
                case fx.TruncateReply():
                    heard = self._transcript.heard_of(self._agent.reply)
                    self._agent = replace(self._agent, interruptions=1, duration_ms=effect.heard_ms, transcript=heard)
                    self._bus.send(sg.TurnInterrupted(event.at, self._agent, self._stopped_by))
        if type(event) is PlaybackFinished and before.voice in SOUNDING:
            heard = self._transcript.heard_of(self._agent.reply)
            self._agent = replace(self._agent, duration_ms=event.at - self._agent.started_at, transcript=heard)
            self._bus.send(sg.TurnCompleted(event.at, self._agent))
        if type(event) is ReplyFinished and after is not before and self._agent.reply != event.reply:
            self._complete_shown(event.at, event.reply, after.asked)

    def _complete_shown(self, at: int, reply: int, turn: int) -> None:
        """Handle the end of a reply that made no sound. If its text was shown, send signals that the agent's turn has
        started and is complete."""
        shown = self._transcript.heard_of(reply)
        if shown:
            self._agent = sg.TurnContext(turn, "assistant", at, shown, reply=reply)
            self._bus.send(sg.TurnStarted(at, self._agent))
            self._bus.send(sg.TurnCompleted(at, self._agent))

    def _who_stops(self, record: StepRecord) -> str:
        """Who or what stops the agent's sound in this step, such as "user" or "line". The result is the field `by` of
        the signal TurnInterrupted."""
        if type(record.event) is InterruptRequested:
            return self._commanded_by or "program"
        link = record.after.link
        if link in LIVE:
            return "user"
        return "fault" if link is Link.FAULTED else "end" if link in CLOSED else "line"

    def _end_turns(self, at: int, ends: dict[int, str]) -> None:
        """Send signals that these turns of the user have ended. For each turn number, `ends` has the reason why the
        turn was dropped, such as "noise"; an empty reason means that the turn is complete."""
        for turn, why in ends.items():
            if turn == self._open_turn:
                self._open_turn = 0
            if not why:
                self._complete_user(at, turn)
                continue
            self._drop_user(at, turn, why)
            if why == "overheard":
                self._caption_user(at, turn)

    def _complete_user(self, at: int, turn: int) -> None:
        text, confidence = self._transcript.text_of(turn), self._transcript.confidence_of(turn)
        began = self._user.started_at if self._user.turn == turn else at
        done = sg.TurnContext(turn, "user", began, text, confidence, duration_ms=at - began)
        self._bus.send(sg.TurnCompleted(at, done))
        self._caption_user(at, turn)

    def _drop_user(self, at: int, turn: int, why: str) -> None:
        began = self._user.started_at if self._user.turn == turn else at
        dropped = sg.TurnContext(turn, "user", began, self._transcript.text_of(turn), duration_ms=at - began)
        self._bus.send(sg.TurnDropped(at, dropped, why))

    def _caption_user(self, at: int, turn: int) -> None:
        self._bus.send(sg.Caption(at, "user", self._transcript.text_of(turn), final=True, turn=turn))

    # -- Captions during a turn

    def caption_user(self, at: int, turn: int, text: str) -> None:
        if self._bus.wants(sg.Caption):
            self._bus.send(sg.Caption(at, "user", text, turn=turn))

    def caption_agent(self, at: int, speech: Speech, final: bool) -> None:
        if self._bus.wants(sg.Caption) and (place := (speech.reply, final, speech.ledger.place())) != self._placed:
            self._placed = place
            heard, unheard = speech.ledger.known()
            caption = sg.Caption(at, "assistant", heard, unheard, final, reply=speech.reply, voice=speech.voice)
            is_news = (heard, unheard, final, speech.reply) != self._captioned
            self._captioned = (heard, unheard, final, speech.reply)
            if is_news and (heard or unheard):
                self._bus.send(caption)


def _ends_of(record: StepRecord) -> dict[int, str]:
    """The turns of the user that this step has ended. For each turn number, the result has the reason why the turn was
    dropped, such as "noise"; an empty reason means that the turn is complete."""
    ends: dict[int, str] = {}
    if record.after.said > record.before.said and record.after.link not in CLOSED:
        ends[record.after.said] = ""
    elif type(record.event) is TextTyped:
        ends[record.after.turn] = ""
    for effect in record.effects:
        match effect:
            case fx.RecordOverheard():
                ends.setdefault(effect.turn, "overheard")
            case fx.DiscardAudio():
                ends.setdefault(effect.turn, "noise")
    return ends
