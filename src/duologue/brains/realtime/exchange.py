"""The requests and responses of one session: which response answers which request, and what the user said.

The exchange processes server events and sends the client events that follow from them. It waits for nothing except the
end of a response. Rule: a response belongs to the request that is named in its metadata, and an error belongs to the
client event that the error names. A response that was never requested is counted, cancelled and deleted, without any
effect on other responses.
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
from .failures import ACTIVE, EXPIRED, failure_of_code
from .mirror import Mirror
from .server_events import (
    Happened,
    ItemBegan,
    ItemEnded,
    LimitsUpdated,
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

TRIES_MAX = 3  # how often a request is sent if unrequested responses block it
REMEMBERED_MAX = 64
CAUSES_MAX = 256
_MS_BYTES = RATE_HZ // 1000 * 2


class Exchange:
    """The requests and responses of one session."""

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
        self.refused: ServiceError | None = None  # why the server refused the session's settings
        self._pending: dict[str, RealtimeAnswer] = {}  # by the request's name
        self._open: dict[str, RealtimeAnswer | None] = {}  # by the response's id; None: it was never requested
        self._unrequested: dict[str, list[str]] = {}  # the items of unrequested responses, by the response's id
        self._causes: dict[str, tuple[RealtimeAnswer | None, ClientEvent]] = {}  # by the client event's id
        self.lost_update = False  # the server refused the last instructions or tools
        self._ended: dict[str, None] = {}
        self._early: dict[str, list[OfResponse]] = {}
        self._response_ended = asyncio.Event()

    # -- What the model requests

    def request(self, answer: RealtimeAnswer, before: list[ClientEvent]) -> None:
        """Send the request for this answer, after the events in `before`, on which the request depends."""
        self._pending[answer.name] = answer
        self.send_all(before, answer)
        self._create(answer)

    def send_all(self, events: list[ClientEvent], answer: RealtimeAnswer | None = None) -> None:
        """Send these events. `answer` fails if the server refuses one of them that adds an item or changes settings."""
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

    def abandon(self, answer: RealtimeAnswer) -> None:
        """Cancel this answer, because its reader has gone away."""
        if answer.is_over or answer.is_abandoned:
            return
        answer.is_abandoned = True
        if answer.response:
            self._send(ce.cancel(answer.response))
        elif answer.is_waiting:
            self._pending.pop(answer.name, None)
        elif not answer.is_out_of_band:  # an out-of-band response is cancelled when its id is known
            self._send(ce.cancel())

    @property
    def is_busy(self) -> bool:
        """Is a response requested or in progress? Out-of-band responses are ignored."""
        pending = any(not answer.is_out_of_band for answer in self._pending.values())
        return pending or any(answer is None or not answer.is_out_of_band for answer in self._open.values())

    @property
    def has_answers(self) -> bool:
        return bool(self._pending)

    async def wait_until_free(self) -> None:
        """Wait until no response is in progress, but at most `free_ms_max`. Then forget responses that haven't ended.
        If one of them is in fact still running, the server refuses the next request, which is then sent again."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings.free_ms_max / 1000):
                while self.is_busy:
                    self._response_ended.clear()
                    await self._response_ended.wait()
            return
        self._counts["never_ended"] += 1
        for name in [name for name, answer in self._pending.items() if not answer.is_out_of_band]:
            del self._pending[name]
        for name in [name for name, answer in self._open.items() if answer is None or not answer.is_out_of_band]:
            self._note_ended(name)

    def forget(self, answer: RealtimeAnswer) -> None:
        """Treat this answer as ended, although the server never reported its end."""
        self._pending.pop(answer.name, None)
        self._note_ended(answer.response)

    async def wait_for_an_end(self) -> None:
        """Wait until the next response ends."""
        self._response_ended.clear()
        await self._response_ended.wait()

    def fail_all(self, failure: ServiceError) -> None:
        """Fail every pending request, because the session is lost."""
        for answer in [*self._pending.values()]:
            answer.fail(failure)
        self._pending.clear()
        self._open.clear()
        self._response_ended.set()

    # -- What the server sends

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
            case LimitsUpdated():
                self.limits = happened.limits
            case _:
                self._hear_user(happened)

    def _hear_user(self, happened: Happened) -> None:
        for heard in self._utterances.take(happened):
            if isinstance(heard, Final) and isinstance(happened, Transcribed | Untranscribed):
                self.mirror.hear(happened.item, heard.text)
            self._hear(heard)

    # -- Responses

    def _begin(self, began: ResponseBegan) -> None:
        answer = self._pending.get(began.request)
        if answer is None and not began.request and not self._settings.echoes_metadata:
            answer = next((one for one in self._pending.values() if not one.response), None)
        if answer is not None and answer.response:
            answer = None  # the request has a response already
        self._open[began.response] = answer
        if answer is None:
            self._counts["unrequested"] += 1
            self._unrequested[began.response] = []
            self._send(ce.cancel(began.response))
        else:
            answer.begin(began.response)
            if answer.is_abandoned:
                self._send(ce.cancel(began.response))
        for early in self._early.pop(began.response, []):
            self._take_of_response(early)

    def _take_of_response(self, happened: OfResponse) -> None:
        if happened.response not in self._open:
            if isinstance(happened, ResponseEnded) and any(answer.is_waiting for answer in self._pending.values()):
                self._note_ended(happened.response)  # this response no longer blocks the waiting request
            else:
                self._buffer_early(happened)
            return
        answer = self._open[happened.response]
        if answer is None:
            self._discard_unrequested(happened)
            return
        if not answer.is_out_of_band:
            self._reflect(answer.reply, happened)
        answer.take(happened)
        if isinstance(happened, ResponseEnded):
            self._pending.pop(answer.name, None)
            self._note_ended(happened.response)

    def _reflect(self, reply: int, happened: OfResponse) -> None:
        """Record in the mirror what this event has added to the server's copy of the conversation."""
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

    def _discard_unrequested(self, happened: OfResponse) -> None:
        """Process an event of a response that was never requested: only remember its items and, when the response ends,
        delete them on the server."""
        if isinstance(happened, ItemBegan):
            self._unrequested[happened.response].append(happened.item)
        elif isinstance(happened, ResponseEnded):
            for item in self._unrequested.pop(happened.response):
                self._send(ce.delete_item(item))
            self._note_ended(happened.response)

    def _buffer_early(self, happened: OfResponse) -> None:
        """Store an event that arrived before its response began. Only count it as late if the response has already
        ended, or if no request waits for a response."""
        waiting = any(not answer.response for answer in self._pending.values())
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
        for answer in list(self._pending.values()):
            if answer.is_waiting:
                self._create(answer)
        self._response_ended.set()

    # -- Errors

    def _refuse(self, refused: RequestRefused) -> None:
        self._counts["refused"] += 1
        if refused.code == EXPIRED:
            self._expire(failure_of_code(EXPIRED))
            return
        answer, event = self._causes.pop(refused.event, (None, None))
        if event is not None and event["type"] == "conversation.item.create":
            self.mirror.refuse(event)
        elif event is not None and event["type"] == "session.update":
            self.lost_update = True
        if answer is None:
            if refused.event and not self.changed.is_set():
                self.refused = failure_of_code(refused.code)
                self.changed.set()
            return  # no answer depends on the refused event
        if answer.is_over or answer.response:
            return
        if refused.code == ACTIVE and answer.tries < TRIES_MAX and not answer.is_abandoned:
            self._retry_when_free(answer)
            return
        self._pending.pop(answer.name, None)
        answer.fail(failure_of_code(refused.code))
        self._response_ended.set()

    def _retry_when_free(self, answer: RealtimeAnswer) -> None:
        """Send the request again as soon as the response that blocks it has ended. That response was never requested,
        and is cancelled now unless it was already cancelled when it began."""
        answer.is_waiting = True
        unrequested = [response for response, owner in self._open.items() if owner is None]
        if not unrequested:  # unrequested responses that we know of were cancelled when they began
            self._send(ce.cancel())
