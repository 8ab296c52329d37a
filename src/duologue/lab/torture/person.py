"""A simulated user who types, listens and reconnects: a client that behaves as the page does.

A typed message is sent again until the server confirms that it is saved. Sound is rendered in real time and reported.
After a reconnect, the client tells the server what was heard. Rule: a person types the next message only when the
answer is over. The only exceptions are some of the agent's stories, which the next message interrupts.
"""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from duologue.client import ConnectionFailed, ProtocolSocket, VoiceChunk
from duologue.runtime.receipts import RECEIPTS_MAX

from .person_notes import ConversationNotes, Recovery, TypedTurn
from .rendered_audio import AudioRenderer
from .tortured_agent import ANSWER_MS_MAX, CHAR_MS, RECONNECT_MS_MAX, story_of

TICK_S = 0.05
REPORT_MS_MIN = 90  # playback between two progress reports
CONNECT_S_MAX = 4.0
SILENCE_S_MAX = 3.0  # the socket is given up after this long without a message of the server
PING_S = 1.0
RESEND_S = 2.0  # a message that isn't confirmed by then is sent again
BACKOFF_S = (0.05, 0.2, 0.5, 1.0)
REST_S = 0.3  # the answer is over once the floor has been open for this long
BROKEN_OFF_REST_S = 2.0  # a person who has heard half a sentence waits for the rest
STUCK_S = (ANSWER_MS_MAX + RECONNECT_MS_MAX) / 1000 + 3.0  # stuck after this long on one socket without an answer
STUCK_ANYWHERE_S = 2 * STUCK_S  # stuck after this long without an answer, however often the socket was lost
STORY_S = 1.0
CUT_SHORT = 0.3  # the share of stories that are cut short
RETRY = "Say retry"
OPEN_STATES = ("listening", "user_speaking", "thinking", "working", "speaking", "interrupted")


async def connect_to(place: int) -> ProtocolSocket:
    """A connection to the server behind this port."""
    return await ProtocolSocket.open(f"ws://127.0.0.1:{place}/ws", CONNECT_S_MAX, max_size=None)


class TypingPerson:
    """A simulated user. `places` are the ports to connect to. `process_at` returns the name of the server process
    behind a port. `is_store_well` returns whether the store has no fault now. `connect_to` opens a connection."""

    def __init__(
        self,
        number: int,
        places: list[int],
        process_at: Callable[[int], str],
        dice: random.Random,
        is_store_well: Callable[[], bool] = lambda: True,
        connect_to: Callable[[int], Awaitable[ProtocolSocket]] = connect_to,
    ) -> None:
        self.number = number
        self.places = places
        self._process_at = process_at
        self._dice = dice
        self._is_store_well = is_store_well
        self._connect_to = connect_to
        self._audio = AudioRenderer()
        self.talks: list[ConversationNotes] = []
        self.recoveries: list[Recovery] = []
        self.reconnects = 0
        self.is_settling = False  # the faults are over: one more exchange, then `settled`
        self.is_stopping = False  # the person hangs up and starts no new conversation
        self.settled = asyncio.Event()
        self._script: Iterator[tuple[str, str]] = self._lines()
        self._ws: ProtocolSocket | None = None
        self._out: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()
        self._process = ""
        self._key = ""
        self._receipts: dict[int, str] = {}  # by voice
        self._state = ""
        self._open_since_s = 0.0
        self._socket_since_s = 0.0
        self._heard_from_s = 0.0
        self._in_touch_s = 0.0  # the newest message of the server while the person was in the conversation
        self._hello_s = 0.0
        self._was_store_well = True
        self._awaits = ""  # after hello: which message shows that the floor is open
        self._turn: TypedTurn | None = None
        self._first_voice = 0  # the index of the first voice of this turn
        self._sent_s = 0.0

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    @property
    def talk(self) -> ConversationNotes | None:
        return self.talks[-1] if self.talks and not self.talks[-1].ended else None

    # -- What is typed

    def _lines(self) -> Iterator[tuple[str, str]]:
        item = self.number * 1_000
        while True:
            item += 1
            if self.number % 2:
                yield f"{self._dice.choice(('pay', 'look', 'tell', 'pay'))} {item}", str(item)
            else:
                yield f"{self._dice.choice(('order', 'reserve'))} {item}", str(item)
                yield "yes", str(item)

    def say_next(self, texts: list[str]) -> None:
        """Let the person type these messages before all other messages."""
        self._script = itertools.chain(((text, text.split()[-1]) for text in texts), self._script)

    def is_listening_to(self, text: str) -> bool:
        """Is a voice (utterance of the agent) playing now, and has the person already heard this text in it?"""
        voice = self._audio.current
        return voice is not None and not voice.is_over and text in voice.heard

    async def run(self) -> None:
        """Talk until the faults are over (`is_settling`) and one more message was answered. After that, only stay
        connected. Ends only when it is cancelled, or if an exception is raised."""
        both = [asyncio.ensure_future(self._stay()), asyncio.ensure_future(self._speak_until_settled())]
        try:
            await asyncio.gather(*both)
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)
            self._close_turn()

    async def _speak_until_settled(self) -> None:
        while not self.settled.is_set():
            is_calm = self.is_settling
            if await self._speak() and is_calm:
                self.settled.set()

    async def _speak(self) -> bool:
        """Type one message and wait for its answer. Returns whether it was answered."""
        await self._until(self._is_my_turn)
        await asyncio.sleep(self._dice.uniform(0.1, 1.2))
        talk = self.talk
        if talk is None or not self._is_my_turn():
            return False
        text, item = self._next_line(talk)
        self._type(talk, text, item)
        turn = self._turn
        assert turn is not None
        is_short = text.startswith("tell") and self._dice.random() < CUT_SHORT and not self.is_settling
        done = self._is_cut_short if is_short else self._is_answered
        await self._until(lambda: done(talk, turn), turn)
        turn.is_cut_short = is_short and not self._is_answered(talk, turn)
        turn.took_s = self._now() - turn.typed_s
        self._close_turn()
        return not (turn.is_stuck or turn.is_reported_lost or talk.ended)

    def _next_line(self, talk: ConversationNotes) -> tuple[str, str]:
        """Choose the next message, and return it with its item (the number that the answer must contain). This is the
        next message of the script, with three exceptions. If the agent has just offered to retry, the message is
        "cancel". If the last message was a "yes" that came too early, so that the agent asked again, the "yes" is
        repeated. A "yes" that the agent hasn't asked for is skipped."""
        last = talk.turns[-1] if talk.turns else None
        if last is not None and any(RETRY in heard for heard in last.heard):
            return "cancel", last.item
        if last is not None and last.text == "yes" and any(f"{last.item}?" in heard for heard in last.heard):
            return "yes", last.item  # it came too early, so the agent has asked again
        text, item = next(self._script)
        if text == "yes" and (last is None or last.item != item or last.text == "cancel"):
            text, item = next(self._script)
        return text, item

    def _type(self, talk: ConversationNotes, text: str, item: str) -> None:
        self._turn = TypedTurn(f"{self.number}.{len(talk.turns)}.{talk.id[:6]}", text, item, self._now())
        self._turn.is_typed_unsaved = talk.is_unsaved
        talk.turns.append(self._turn)
        self._first_voice = len(self._audio.voices)
        talk.note(self._now(), "typed", f"{self._turn.id} {text}")
        self._send_turn()

    def _send_turn(self) -> None:
        if self._turn is not None and not self._turn.is_safe:
            self._sent_s = self._now()
            self._send("type", text=self._turn.text, id=self._turn.id)

    def _close_turn(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.heard = [voice.heard for voice in self._audio.voices[self._first_voice :]]
            turn.is_closed = True

    # -- Waiting

    def _is_my_turn(self) -> bool:
        return self.talk is not None and self._ws is not None and self._state == "listening" and self._audio.is_quiet

    def _has_heard(self) -> bool:
        """Have at least four characters of the answer been heard?"""
        return any(voice.ms >= 4 * CHAR_MS for voice in self._audio.voices[self._first_voice :])

    def _has_heard_end(self, turn: TypedTurn) -> bool:
        """Was the newest voice (utterance of the agent) heard to the end of a sentence? If the answer is a story, its
        last sentence must have been heard."""
        voice = self._audio.current
        if turn.text.startswith("tell") and not any(story_of(turn.item)[-1] in one.heard for one in self._audio.voices):
            return False
        return voice is not None and voice.heard.rstrip().endswith((".", "?"))

    def _is_answered(self, talk: ConversationNotes, turn: TypedTurn) -> bool:
        if talk.ended or turn.is_reported_lost:
            return True
        rest_s = REST_S if self._has_heard_end(turn) else BROKEN_OFF_REST_S
        has_rested = self._is_my_turn() and self._now() - self._open_since_s > rest_s
        return self._has_heard() and turn.is_safe and has_rested

    def _is_cut_short(self, talk: ConversationNotes, turn: TypedTurn) -> bool:
        heard_ms = sum(voice.ms for voice in self._audio.voices[self._first_voice :])
        is_on = turn.is_safe and self._state == "speaking" and self._ws is not None
        return (is_on and heard_ms > STORY_S * 1000) or self._is_answered(talk, turn)

    async def _until(self, is_so: Callable[[], bool], turn: TypedTurn | None = None) -> None:
        """Wait until `is_so` returns true. Stop waiting after STUCK_S seconds on the same socket, or after
        STUCK_ANYWHERE_S seconds in all, even if the socket was replaced meanwhile. In this case, record that `turn` is
        stuck; if `turn` isn't given, record that the conversation is stuck."""
        began_s = self._now()
        while not is_so():
            await asyncio.sleep(TICK_S)
            talk = self.talk
            here_s = self._now() - max(began_s, self._socket_since_s) if self._ws is not None else 0.0
            if talk is not None and (here_s > STUCK_S or self._now() - began_s > STUCK_ANYWHERE_S):
                talk.note(self._now(), "stuck", self._state)
                if turn is not None:
                    turn.is_stuck = True
                else:
                    talk.stuck = f"the floor stays {self._state or 'unknown'}"
                break

    # -- The socket

    async def _stay(self) -> None:
        attempt = 0
        while True:
            place = self._dice.choice(self.places)
            self._heard_from_s = self._now()
            try:
                ws = await self._connect_to(place)
            except ConnectionFailed:
                attempt += 1
                await asyncio.sleep(BACKOFF_S[min(attempt, len(BACKOFF_S) - 1)] * self._dice.uniform(0.7, 1.3))
                continue
            has_come_far = await self._visit(ws, self._process_at(place))
            attempt = 0 if has_come_far else attempt + 1
            self.reconnects += 1
            await asyncio.sleep(BACKOFF_S[min(attempt, len(BACKOFF_S) - 1)])

    async def _visit(self, ws: ProtocolSocket, process: str) -> bool:
        """Use one socket until it ends. Returns whether the server opened or resumed a conversation on it."""
        self._ws, before, self._process = ws, self._process, process
        self._state, self._socket_since_s = "", self._now()
        self._out = asyncio.Queue()
        going = [asyncio.ensure_future(self._beat(ws)), asyncio.ensure_future(self._write(ws, self._out))]
        has_come_far = False
        try:
            self._say_hello(before)
            async for received in ws:
                self._heard_from_s = self._now()
                if isinstance(received, VoiceChunk):
                    self._audio.receive(received, process, self._now())
                else:
                    has_come_far = has_come_far or received.kind == "conversation"
                    self._take(received.kind, received.payload)
        finally:
            for task in going:
                task.cancel()
            self._ws = None
            self._state = ""
            if self.talk is not None:
                self.talk.note(self._now(), "socket lost", f"{process} {ws.close_code} {ws.close_reason}")
            ws.abort()
        return has_come_far

    def cut(self) -> None:
        """Abort the socket without a close handshake."""
        if self._ws is not None:
            self._ws.abort()

    def _say_hello(self, before: str) -> None:
        hello: dict[str, Any] = {"version": 1, "seat": f"person-{self.number}", "take_over": True}
        talk = self.talk
        if talk is not None:
            hello |= {"conversation": talk.id, "key": self._key}
            self._audio.hold(self._now())
            if self._audio.position is not None:
                hello["played"] = {**self._audio.position, "held": True}
            if self._receipts:
                hello["receipts"] = list(self._receipts.values())[-RECEIPTS_MAX:]
            talk.note(self._now(), "hello", f"{self._process} {hello.get('played')}")
            self._hello_s = self._now()
            self._was_store_well = self._is_store_well()
            self._awaits = "restored" if before != self._process else "state"
        self._send("hello", **hello)

    def _send(self, kind: str, **payload: Any) -> None:
        if self._ws is not None:
            self._out.put_nowait((kind, payload))

    @staticmethod
    async def _write(ws: ProtocolSocket, out: asyncio.Queue[tuple[str, dict[str, Any]]]) -> None:
        is_open = True
        while is_open:
            kind, payload = await out.get()
            is_open = await ws.send(kind, **payload)

    async def _beat(self, ws: ProtocolSocket) -> None:
        """Advance playback and report it, send pings, and send an unconfirmed message again. If the server is silent
        for too long, abort the socket."""
        pinged_s, reported_ms, finished = self._now(), -1, 0
        while True:
            await asyncio.sleep(TICK_S)
            now_s = self._now()
            self._audio.advance(now_s)
            voice = self._audio.current
            if voice is not None and not voice.is_over and abs(voice.ms - reported_ms) >= REPORT_MS_MIN:
                reported_ms = voice.ms
                self._send("played", voice=voice.number, ms=voice.ms)
            elif voice is not None and voice.is_over and voice.is_complete and finished != voice.number:
                finished = voice.number
                self._send("finished", voice=voice.number, ms=voice.ms)
            if now_s - pinged_s > PING_S:
                pinged_s = now_s
                self._send("ping", t=int(now_s * 1000))
                if self._state == "error":
                    self._send("retry")
            if now_s - self._heard_from_s > SILENCE_S_MAX:
                ws.abort()
                return
            if now_s - self._sent_s > RESEND_S and self.talk is not None and self._state:
                self._send_turn()

    # -- Messages of the server

    def _take(self, kind: str, payload: dict[str, Any]) -> None:
        talk = self.talk
        if talk is not None and self._state:
            self._in_touch_s = self._now()
        match kind:
            case "ready" if talk is None and not self.is_stopping:
                self._send("start")
            case "conversation":
                self._enter(payload)
            case "key":
                self._key = payload["key"]
                self._send("key", key=self._key)
            case "receipt":
                self._receipts.pop(payload["voice"], None)
                self._receipts[payload["voice"]] = payload["receipt"]
            case "history" if self._turn is not None:
                self._note_lost(payload["items"])
                self._note_shown(payload["items"])
            case "state":
                self._move(payload["phase"])
            case "typed":
                self._note_safe(payload["id"])
            case "play":
                answer = self._audio.command(payload["action"], payload["voice"], self._now())
                if answer is not None:
                    self._send(answer[0], voice=answer[1], ms=answer[2])
            case "notification":
                self._note_notification(payload)
            case "ended":
                self._end(payload["reason"])
            case "error" if talk is not None:
                talk.note(self._now(), "error", f"{payload['code']} {payload['message']}")
            case "caption" if talk is not None and payload["final"]:
                talk.note(self._now(), payload["role"], f"{payload['text']} | {payload['unheard']}")
                self._note_shown([payload])

    def _enter(self, payload: dict[str, Any]) -> None:
        if self.talk is None or self.talk.id != payload["conversation"]:
            self._end("replaced")
            self.talks.append(ConversationNotes(self.number, payload["conversation"]))
            self._audio = AudioRenderer()
            self._receipts = {}
            self._awaits = ""
        assert self.talk is not None
        self._key = payload["key"]
        self.talk.is_unsaved = False  # if nothing is saved here either, the notice is sent again
        self._in_touch_s = self._now()
        self.talk.note(self._now(), "conversation", f"{self._process} resumed {payload['resumed']}")
        self._send_turn()

    def _move(self, state: str) -> None:
        if state == "listening" and self._state != "listening":
            self._open_since_s = self._now()
        self._state = state
        if self.talk is not None:
            self.talk.note(self._now(), "state", state)
        if self._awaits == "state" and state in OPEN_STATES:
            self._note_recovery(is_elsewhere=False)

    def _note_recovery(self, is_elsewhere: bool) -> None:
        self._awaits = ""
        is_fair = self._was_store_well and self._is_store_well()
        self.recoveries.append(Recovery(round((self._now() - self._hello_s) * 1000), is_elsewhere, is_fair))

    def _note_safe(self, id_: str) -> None:
        for turn in self.talks[-1].turns if self.talks else ():
            if turn.id == id_ and not turn.is_safe:
                turn.is_safe = True
                self.talks[-1].note(self._now(), "safe", id_)

    def _note_lost(self, items: list[dict[str, Any]]) -> None:
        """After a reconnect, record whether the current message is lost. It is lost if the history says that it got no
        answer, and if no answer was heard."""
        said = [item for item in items if item["role"] == "user"]
        if self._turn is not None and said and said[-1]["lost"] and said[-1]["text"] == self._turn.text:
            self._turn.is_reported_lost = not self._has_heard()

    def _note_shown(self, items: list[dict[str, Any]]) -> None:
        """Record the answers that the page shows below the current message, including the part that was not heard."""
        at = max((at for at, item in enumerate(items) if item["role"] == "user"), default=-1)
        if self._turn is None or (at >= 0 and items[at]["text"] != self._turn.text):
            return
        self._turn.shown += [f"{item['text']} {item['unheard']}".strip() for item in items[at + 1 :]]

    def _note_notification(self, payload: dict[str, Any]) -> None:
        talk = self.talks[-1] if self.talks else None
        if talk is None:
            return
        talk.note(self._now(), f"notification {payload['code']}", payload["message"])
        match payload["code"]:
            case "restored" if self._awaits == "restored":
                self._note_recovery(is_elsewhere=True)
            case "lost":
                for turn in talk.turns:
                    if turn.text in payload["message"] and not turn.heard and turn in (talk.turns[-1], self._turn):
                        turn.is_reported_lost = True
            case "unsaved" | "saved_again":
                talk.is_unsaved = payload["code"] == "unsaved"
            case "gone":
                self._end("gone")

    def _end(self, reason: str) -> None:
        talk = self.talk
        if talk is None:
            return
        talk.ended = reason
        talk.away_s = self._now() - self._in_touch_s
        talk.note(self._now(), "ended", reason)
        self._audio.advance(self._now())
        self._note_sound_of(talk)
        turn = self._turn
        if turn is not None and not turn.is_safe:
            turn.is_reported_lost = True  # the page shows that the message was never sent
        self._awaits = ""
        if not self.is_stopping:
            self._send("start")

    def _note_sound_of(self, talk: ConversationNotes) -> None:
        talk.heard = [(voice.number, voice.heard) for voice in self._audio.voices]
        talk.stretches = [stretch for voice in self._audio.voices for stretch in voice.stretches]

    async def hang_up(self) -> bool:
        """End the conversation. Returns whether the server confirmed the end."""
        talk = self.talk
        if talk is None:
            return True
        self.is_stopping = True
        self._send("end")
        await self._until(lambda: bool(talk.ended))
        return bool(talk.ended)

    def note_sound(self) -> None:
        """If there is a conversation, record how much of its sound was heard so far."""
        if self.talk is not None:
            self._note_sound_of(self.talk)
