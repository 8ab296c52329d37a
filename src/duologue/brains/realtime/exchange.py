"""What is going on in one session: who is heard, which response answers which request.

Takes what happened and sends what follows; waits for nothing but a free floor. Rule: a response belongs to
the request that its metadata names, an error to the event that it names, and what belongs to nobody is
counted, cancelled if it makes sound, and ends nothing.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from duologue.ports.ears import Final, Heard
from duologue.ports.failure import ServiceError

from . import client_events as ce
from .answer import RealtimeAnswer
from .failures import ACTIVE, EXPIRED, told
from .mirror import Mirror
from .server_events import (
    Happened,
    ItemBegan,
    ItemEnded,
    LimitsTold,
    OfResponse,
    RequestRefused,
    ResponseBegan,
    ResponseEnded,
    SessionBegan,
    SessionChanged,
    SoundCame,
    TextCame,
    Transcribed,
    Untranscribed,
    WordsCame,
)
from .settings import RATE_HZ, RealtimeSettings
from .utterances import Utterances

if TYPE_CHECKING:
    from .client_events import ClientEvent

TRIES_MAX = 3  # of a request that meets responses nobody asked for
REMEMBERED_MAX = 64
CAUSES_MAX = 256
_MS_BYTES = RATE_HZ // 1000 * 2


class Exchange:
    """One session of the model."""

    def __init__(
        self,
        settings: RealtimeSettings,
        mirror: Mirror,
        utterances: Utterances,
        counts: Counter[str],
        send: Callable[[ClientEvent], str],
        hear: Callable[[Heard], None],
        expire: Callable[[ServiceError], None],
    ) -> None:
        self._settings = settings
        self.mirror = mirror
        self._utterances = utterances
        self._counts = counts
        self._send = send
        self._hear = hear
        self._expire = expire
        self.expires_at_s = 0
        self.limits: tuple[tuple[str, int, float], ...] = ()
        self.began = asyncio.Event()
        self.changed = asyncio.Event()
        self.refused: ServiceError | None = None  # the settings that it was opened with
        self._asked: dict[str, RealtimeAnswer] = {}  # by the request's name
        self._open: dict[str, RealtimeAnswer | None] = {}  # by the response's id; None: nobody asked for it
        self._unasked: dict[str, list[str]] = {}  # the items of those
        self._causes: dict[str, tuple[RealtimeAnswer | None, ClientEvent]] = {}  # by the id of a client event
        self.lost_update = False  # instructions or tools were refused
        self._ended: dict[str, None] = {}
        self._early: dict[str, list[OfResponse]] = {}
        self._moved = asyncio.Event()

    # -- What the model wants

    def ask(self, answer: RealtimeAnswer, before: list[ClientEvent]) -> None:
        """Send a request, and what has to be known for it."""
        self._asked[answer.name] = answer
        self.tell(before, answer)
        self._create(answer)

    def tell(self, events: list[ClientEvent], answer: RealtimeAnswer | None = None) -> None:
        """Send these. If one is refused that the answer can't do without, it fails."""
        for event in events:
            cause = self._send(event)
            if event["type"] in ("session.update", "conversation.item.create"):
                self._remember_cause(cause, answer, event)

    def _create(self, answer: RealtimeAnswer) -> None:
        answer.tries += 1
        answer.is_waiting = False
        self._remember_cause(self._send(answer.create), answer, answer.create)

    def _remember_cause(self, cause: str, answer: RealtimeAnswer | None, event: ClientEvent) -> None:
        self._causes[cause] = (answer, event)
        if len(self._causes) > CAUSES_MAX:
            del self._causes[next(iter(self._causes))]

    def leave(self, answer: RealtimeAnswer) -> None:
        """Nobody wants this answer any more."""
        if answer.is_over or answer.is_left:
            return
        answer.is_left = True
        if answer.response:
            self._send(ce.cancel(answer.response))
        elif answer.is_waiting:
            self._asked.pop(answer.name, None)
        elif not answer.is_aside:  # what was just asked for; one beside it is cancelled when its id is known
            self._send(ce.cancel())

    @property
    def is_busy(self) -> bool:
        """Is anything being made for the conversation?"""
        asked = any(not answer.is_aside for answer in self._asked.values())
        return asked or any(answer is None or not answer.is_aside for answer in self._open.values())

    @property
    def has_answers(self) -> bool:
        return bool(self._asked)

    async def free(self) -> None:
        """Until nothing is being made any more. What doesn't end in time is forgotten: if it still goes on,
        the next request is refused, and asked again."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings.free_ms_max / 1000):
                while self.is_busy:
                    self._moved.clear()
                    await self._moved.wait()
            return
        self._counts["never_ended"] += 1
        for name in [name for name, answer in self._asked.items() if not answer.is_aside]:
            del self._asked[name]
        for name in [name for name, answer in self._open.items() if answer is None or not answer.is_aside]:
            self._note_ended(name)

    def forget(self, answer: RealtimeAnswer) -> None:
        """It is over for us, though the server never said so."""
        self._asked.pop(answer.name, None)
        self._note_ended(answer.response)

    async def moved(self) -> None:
        """Until something has ended."""
        self._moved.clear()
        await self._moved.wait()

    def lose(self, failure: ServiceError) -> None:
        """The session is gone, and every request with it."""
        for answer in [*self._asked.values()]:
            answer.fail(failure)
        self._asked.clear()
        self._open.clear()
        self._moved.set()

    # -- What happened

    def take(self, happened: Happened) -> None:
        match happened:
            case SoundCame() | WordsCame() | TextCame() | ItemBegan() | ItemEnded() | ResponseEnded():
                self._take_of_response(happened)
            case ResponseBegan():
                self._begin(happened)
            case RequestRefused():
                self._refuse(happened)
            case SessionBegan():
                self.expires_at_s = happened.expires_at_s
                self.began.set()
            case SessionChanged():
                self.changed.set()
            case LimitsTold():
                self.limits = happened.limits
            case _:
                self._hear_person(happened)

    def _hear_person(self, happened: Happened) -> None:
        for heard in self._utterances.take(happened):
            if isinstance(heard, Final) and isinstance(happened, Transcribed | Untranscribed):
                self.mirror.hear(happened.item, heard.text)
            self._hear(heard)

    # -- Responses

    def _begin(self, began: ResponseBegan) -> None:
        answer = self._asked.get(began.request)
        if answer is None and not began.request and not self._settings.echoes_metadata:
            answer = next((one for one in self._asked.values() if not one.response), None)
        if answer is not None and answer.response:
            answer = None  # it has one already
        self._open[began.response] = answer
        if answer is None:
            self._counts["unasked"] += 1
            self._unasked[began.response] = []
            self._send(ce.cancel(began.response))
        else:
            answer.begin(began.response)
            if answer.is_left:
                self._send(ce.cancel(began.response))
        for early in self._early.pop(began.response, []):
            self._take_of_response(early)

    def _take_of_response(self, happened: OfResponse) -> None:
        if happened.response not in self._open:
            if isinstance(happened, ResponseEnded) and any(answer.is_waiting for answer in self._asked.values()):
                self._note_ended(happened.response)  # whatever it was, it is no longer in the way
            else:
                self._keep_early(happened)
            return
        answer = self._open[happened.response]
        if answer is None:
            self._take_unasked(happened)
            return
        if not answer.is_aside:
            self._reflect(answer.reply, happened)
        answer.take(happened)
        if isinstance(happened, ResponseEnded):
            self._asked.pop(answer.name, None)
            self._note_ended(happened.response)

    def _reflect(self, reply: int, happened: OfResponse) -> None:
        """The server's conversation has grown."""
        match happened:
            case ItemBegan():
                self.mirror.begin_item(reply, happened.item, happened.is_message)
            case SoundCame():
                self.mirror.add_sound(reply, happened.item, len(happened.pcm) // _MS_BYTES)
            case ItemEnded() if happened.call is not None:
                self.mirror.add_call(reply, happened.item, happened.call.id)
            case ResponseEnded():
                for item, call in happened.calls:
                    self.mirror.add_call(reply, item, call.id)

    def _take_unasked(self, happened: OfResponse) -> None:
        """Nobody asked for it, nobody hears it, and the conversation forgets it."""
        if isinstance(happened, ItemBegan):
            self._unasked[happened.response].append(happened.item)
        elif isinstance(happened, ResponseEnded):
            for item in self._unasked.pop(happened.response):
                self._send(ce.delete_item(item))
            self._note_ended(happened.response)

    def _keep_early(self, happened: OfResponse) -> None:
        """Of a response that is over, or of one whose beginning is still to come."""
        waiting = any(not answer.response for answer in self._asked.values())
        if happened.response in self._ended or not waiting:
            self._counts["late"] += 1
            return
        early = self._early.setdefault(happened.response, [])
        if len(early) < REMEMBERED_MAX:
            early.append(happened)

    def _note_ended(self, response: str) -> None:
        self._open.pop(response, None)
        self._early.pop(response, None)
        self._ended[response] = None
        if len(self._ended) > REMEMBERED_MAX:
            del self._ended[next(iter(self._ended))]
        for answer in list(self._asked.values()):
            if answer.is_waiting:
                self._create(answer)
        self._moved.set()

    # -- Errors

    def _refuse(self, refused: RequestRefused) -> None:
        self._counts["refused"] += 1
        if refused.code == EXPIRED:
            self._expire(told(EXPIRED))
            return
        answer, event = self._causes.pop(refused.event, (None, None))
        if event is not None and event["type"] == "conversation.item.create":
            self.mirror.refuse(event)
        elif event is not None and event["type"] == "session.update":
            self.lost_update = True
        if answer is None:
            if refused.event and not self.changed.is_set():
                self.refused = told(refused.code)
                self.changed.set()
            return  # a race that was lost, or nothing of ours
        if answer.is_over or answer.response:
            return
        if refused.code == ACTIVE and answer.tries < TRIES_MAX and not answer.is_left:
            self._wait_for_floor(answer)
            return
        self._asked.pop(answer.name, None)
        answer.fail(told(refused.code))
        self._moved.set()

    def _wait_for_floor(self, answer: RealtimeAnswer) -> None:
        """Something that nobody asked for is in the way: it is cancelled, and the request is made again."""
        answer.is_waiting = True
        unasked = [response for response, owner in self._open.items() if owner is None]
        if not unasked:
            self._send(ce.cancel())
        # Those that are known were cancelled when they began; their end makes the request again.
