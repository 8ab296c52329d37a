"""Somebody who types, listens and does not give up: a client that behaves as the page does.

What was typed is sent again until the server says that it is safe. Sound is rendered by the clock and acknowledged;
after a lost socket the next server is told what was heard. Rule: a person waits for an answer before saying the next
thing, but for stories, which may be cut short.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from .person_notes import Recovery, Talked, TypedTurn
from .rendered_audio import Ear
from .tortured_agent import ANSWER_MS_MAX, CHAR_MS, RECONNECT_MS_MAX

TICK_S = 0.05
TELL_MS = 90  # how much more was played, before it is told
CONNECT_S_MAX = 4.0
SILENCE_S_MAX = 3.0  # of a server that should have answered a ping
PING_S = 1.0
AGAIN_S = 2.0  # what is not safe by then is sent again
BACKOFF_S = (0.05, 0.2, 0.5, 1.0)
REST_S = 0.3  # an open floor for this long: the answer is over
STUCK_S = (ANSWER_MS_MAX + RECONNECT_MS_MAX) / 1000 + 3.0  # on one socket, without an answer and without an end
STORY_S = 1.0
CUT_SHORT = 0.3  # of the stories
RETRY = "Say retry"
OPEN_STATES = ("listening", "user_speaking", "thinking", "working", "speaking", "interrupted")


class TypingPerson:
    """`places` are the ports to knock at; `process_at` says which process is behind one now."""

    def __init__(
        self,
        number: int,
        places: list[int],
        process_at: Callable[[int], str],
        dice: random.Random,
        is_store_well: Callable[[], bool] = lambda: True,
    ) -> None:
        self.number = number
        self.places = places
        self._process_at = process_at
        self._dice = dice
        self._is_store_well = is_store_well
        self._ear = Ear()
        self.talks: list[Talked] = []
        self.recoveries: list[Recovery] = []
        self.reconnects = 0
        self.is_settling = False  # all is well again: one exchange from now on is enough
        self.is_stopping = False  # hangs up, and begins nothing new
        self.settled = asyncio.Event()
        self._script: Iterator[tuple[str, str]] = self._lines()
        self._ws: ClientConnection | None = None
        self._out: asyncio.Queue[str] = asyncio.Queue()
        self._process = ""
        self._key = ""
        self._state = ""
        self._open_since_s = 0.0
        self._socket_since_s = 0.0
        self._heard_from_s = 0.0
        self._hello_s = 0.0
        self._was_store_well = True
        self._awaits = ""  # after hello: what will show that the floor is open
        self._turn: TypedTurn | None = None
        self._first_voice = 0  # of this turn
        self._sent_s = 0.0

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    @property
    def talk(self) -> Talked | None:
        return self.talks[-1] if self.talks and not self.talks[-1].ended else None

    # -- What is said

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
        """Say these first."""
        self._script = itertools.chain(((text, text.split()[-1]) for text in texts), self._script)

    def is_listening_to(self, text: str) -> bool:
        """Is this just being heard?"""
        voice = self._ear.current
        return voice is not None and not voice.is_over and text in voice.heard

    async def run(self) -> None:
        """Until it is cancelled; after `settled` it only stays on the line."""
        staying = asyncio.ensure_future(self._stay())
        try:
            while not self.settled.is_set():
                is_calm = self.is_settling
                if await self._speak() and is_calm:
                    self.settled.set()
            await asyncio.Event().wait()
        finally:
            staying.cancel()
            await asyncio.gather(staying, return_exceptions=True)
            self._close_turn()

    async def _speak(self) -> bool:
        """One thing, and its answer. Returns whether it was answered."""
        await self._until(self._is_my_turn)
        await asyncio.sleep(self._dice.uniform(0.1, 1.2))
        talk = self.talk
        if talk is None or not self._is_my_turn():
            return False
        text, item = self._next_line(talk)
        self._type(talk, text, item)
        turn = self._turn
        assert turn is not None
        is_short = text.startswith("tell") and self._dice.random() < CUT_SHORT
        done = self._is_cut_short if is_short else self._is_answered
        await self._until(lambda: done(talk, turn), turn)
        turn.took_s = self._now() - turn.typed_s
        self._close_turn()
        return not (turn.is_stuck or turn.is_told_lost or talk.ended)

    def _next_line(self, talk: Talked) -> tuple[str, str]:
        """Whoever is asked whether to try again doesn't want to. A new conversation knows nothing of a question."""
        last = talk.turns[-1] if talk.turns else None
        if last is not None and any(RETRY in heard for heard in last.heard):
            return "cancel", last.item
        text, item = next(self._script)
        if text == "yes" and (last is None or last.item != item or last.text == "cancel"):
            text, item = next(self._script)
        return text, item

    def _type(self, talk: Talked, text: str, item: str) -> None:
        self._turn = TypedTurn(f"{self.number}.{len(talk.turns)}.{talk.id[:6]}", text, item, self._now())
        talk.turns.append(self._turn)
        self._first_voice = len(self._ear.voices)
        talk.note(self._now(), "typed", f"{self._turn.id} {text}")
        self._send_turn()

    def _send_turn(self) -> None:
        if self._turn is not None and not self._turn.is_safe:
            self._sent_s = self._now()
            self._send("type", text=self._turn.text, id=self._turn.id)

    def _close_turn(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.heard = [voice.heard for voice in self._ear.voices[self._first_voice :]]
            turn.is_closed = True

    # -- What is waited for

    def _is_my_turn(self) -> bool:
        return self.talk is not None and self._ws is not None and self._state == "listening" and self._ear.is_quiet

    def _has_heard(self) -> bool:
        """At least a word of it."""
        return any(voice.ms >= 4 * CHAR_MS for voice in self._ear.voices[self._first_voice :])

    def _is_answered(self, talk: Talked, turn: TypedTurn) -> bool:
        if talk.ended or turn.is_told_lost:
            return True
        has_rested = self._is_my_turn() and self._now() - self._open_since_s > REST_S
        return self._has_heard() and turn.is_safe and has_rested

    def _is_cut_short(self, talk: Talked, turn: TypedTurn) -> bool:
        told = sum(voice.ms for voice in self._ear.voices[self._first_voice :])
        is_on = turn.is_safe and self._state == "speaking" and self._ws is not None
        return (is_on and told > STORY_S * 1000) or self._is_answered(talk, turn)

    async def _until(self, is_so: Callable[[], bool], turn: TypedTurn | None = None) -> None:
        """On one socket, something has to come within the machine's own limits."""
        began_s = self._now()
        while not is_so():
            await asyncio.sleep(TICK_S)
            talk = self.talk
            since_s = max(began_s, self._socket_since_s)
            if talk is not None and self._ws is not None and self._now() - since_s > STUCK_S:
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
                async with asyncio.timeout(CONNECT_S_MAX):
                    ws = await connect(
                        f"ws://127.0.0.1:{place}/ws", compression=None, ping_interval=None, proxy=None, max_size=None
                    )
            except (OSError, TimeoutError, WebSocketException):
                attempt += 1
                await asyncio.sleep(BACKOFF_S[min(attempt, len(BACKOFF_S) - 1)] * self._dice.uniform(0.7, 1.3))
                continue
            has_come_far = await self._visit(ws, self._process_at(place))
            attempt = 0 if has_come_far else attempt + 1
            self.reconnects += 1
            await asyncio.sleep(BACKOFF_S[min(attempt, len(BACKOFF_S) - 1)])

    async def _visit(self, ws: ClientConnection, process: str) -> bool:
        """One socket, from hello to its end. Returns whether anything was said on it."""
        self._ws, before, self._process = ws, self._process, process
        self._state, self._socket_since_s = "", self._now()
        self._out = asyncio.Queue()
        going = [asyncio.ensure_future(self._beat(ws)), asyncio.ensure_future(self._write(ws, self._out))]
        has_come_far = False
        try:
            self._say_hello(before)
            async for data in ws:
                self._heard_from_s = self._now()
                if isinstance(data, bytes):
                    self._ear.receive(data, process, self._now())
                else:
                    told = json.loads(data)
                    kind = told["type"].removeprefix("duologue.")
                    has_come_far = has_come_far or kind == "conversation"
                    self._take(kind, told["payload"])
        except (OSError, WebSocketException):
            pass
        finally:
            for task in going:
                task.cancel()
            self._ws = None
            self._state = ""
            if self.talk is not None:
                self.talk.note(self._now(), "socket lost", f"{process} {ws.close_code} {ws.close_reason or ''}")
            ws.transport.abort()
        return has_come_far

    def cut(self) -> None:
        """The socket breaks, without a goodbye."""
        if self._ws is not None:
            self._ws.transport.abort()

    def _say_hello(self, before: str) -> None:
        hello: dict[str, Any] = {"version": 1, "seat": f"person-{self.number}", "take_over": True}
        talk = self.talk
        if talk is not None:
            hello |= {"conversation": talk.id, "key": self._key}
            self._ear.advance(self._now())
            if self._ear.position is not None:
                hello["played"] = self._ear.position
            talk.note(self._now(), "hello", f"{self._process} {hello.get('played')}")
            self._hello_s = self._now()
            self._was_store_well = self._is_store_well()
            self._awaits = "restored" if before != self._process else "state"
        self._send("hello", **hello)

    def _send(self, kind: str, **payload: Any) -> None:
        if self._ws is not None:
            self._out.put_nowait(json.dumps({"type": kind, "payload": payload}))

    @staticmethod
    async def _write(ws: ClientConnection, out: asyncio.Queue[str]) -> None:
        with contextlib.suppress(OSError, WebSocketException):
            while True:
                await ws.send(await out.get())

    async def _beat(self, ws: ClientConnection) -> None:
        """The loudspeaker's clock, signs of life, and what is not safe yet."""
        pinged_s, told_ms, finished = self._now(), -1, 0
        while True:
            await asyncio.sleep(TICK_S)
            now_s = self._now()
            self._ear.advance(now_s)
            voice = self._ear.current
            if voice is not None and not voice.is_over and abs(voice.ms - told_ms) >= TELL_MS:
                told_ms = voice.ms
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
                ws.transport.abort()
                return
            if now_s - self._sent_s > AGAIN_S and self.talk is not None and self._state:
                self._send_turn()

    # -- What the server says

    def _take(self, kind: str, told: dict[str, Any]) -> None:
        talk = self.talk
        match kind:
            case "ready" if talk is None and not self.is_stopping:
                self._send("start")
            case "conversation":
                self._enter(told)
            case "history" if self._turn is not None:
                self._note_lost(told["items"])
            case "state":
                self._move(told["phase"])
            case "typed":
                self._note_safe(told["id"])
            case "play":
                answer = self._ear.command(told["action"], told["voice"], self._now())
                if answer is not None:
                    self._send(answer[0], voice=answer[1], ms=answer[2])
            case "notification":
                self._note_told(told)
            case "ended":
                self._end(told["reason"])
            case "error" if talk is not None:
                talk.note(self._now(), "error", f"{told['code']} {told['message']}")
            case "caption" if talk is not None and told["final"]:
                talk.note(self._now(), told["role"], f"{told['text']} | {told['unheard']}")

    def _enter(self, told: dict[str, Any]) -> None:
        if self.talk is None or self.talk.id != told["conversation"]:
            self._end("another one")
            self.talks.append(Talked(self.number, told["conversation"]))
            self._ear = Ear()
            self._awaits = ""
        assert self.talk is not None
        self._key = told["key"]
        self.talk.note(self._now(), "conversation", f"{self._process} resumed {told['resumed']}")
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
        """Whoever comes back is shown what got no answer."""
        said = [item for item in items if item["role"] == "user"]
        if self._turn is not None and said and said[-1]["lost"] and said[-1]["text"] == self._turn.text:
            self._turn.is_told_lost = not self._has_heard()

    def _note_told(self, told: dict[str, Any]) -> None:
        talk = self.talks[-1] if self.talks else None
        if talk is None:
            return
        talk.note(self._now(), f"notification {told['code']}", told["message"])
        match told["code"]:
            case "restored" if self._awaits == "restored":
                self._note_recovery(is_elsewhere=True)
            case "lost":
                for turn in talk.turns:
                    if turn.text in told["message"] and not turn.heard and turn in (talk.turns[-1], self._turn):
                        turn.is_told_lost = True
            case "unsaved" | "saved_again":
                talk.is_unsaved = told["code"] == "unsaved"
            case "gone":
                self._end("gone")

    def _end(self, reason: str) -> None:
        talk = self.talk
        if talk is None:
            return
        talk.ended = reason
        talk.note(self._now(), "ended", reason)
        self._ear.advance(self._now())
        self._keep_sound(talk)
        turn = self._turn
        if turn is not None and not turn.is_safe:
            turn.is_told_lost = True  # the person sees that it never left
        self._awaits = ""
        if not self.is_stopping:
            self._send("start")

    def _keep_sound(self, talk: Talked) -> None:
        talk.heard = [(voice.number, voice.heard) for voice in self._ear.voices]
        talk.stretches = [stretch for voice in self._ear.voices for stretch in voice.stretches]

    async def hang_up(self) -> bool:
        """End it. Was it ended?"""
        talk = self.talk
        if talk is None:
            return True
        self.is_stopping = True
        self._send("end")
        await self._until(lambda: bool(talk.ended))
        return bool(talk.ended)

    def put_down(self) -> None:
        """What was heard of a conversation that goes on."""
        if self.talk is not None:
            self._keep_sound(self.talk)
