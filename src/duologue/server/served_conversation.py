"""One conversation on the server, and the client that is connected to it, if there is one.

The conversation outlives its sockets: a client may disconnect and reconnect, and the line reports that to the state
machine. Rule: each command from the client is performed by one method call. If it fails, the client gets an error of
one line.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from duologue.core.errors import DuologueError
from duologue.core.leaves import SOUNDING, Link, Reply, User, Voice
from duologue.core.step_record import StepRecord
from duologue.lines.browser import BrowserLine
from duologue.lines.playback.inputs import Position
from duologue.observe import notices
from duologue.observe import signals as sg
from duologue.observe.diagnostics import correlation_id
from duologue.observe.hearing_fact import Microphone
from duologue.observe.recorder import new_journal_path
from duologue.ports.context import Context
from duologue.ports.line import Played
from duologue.ports.store import Fenced, StoreFailed
from duologue.runtime.agent import Agent
from duologue.runtime.checkpoint_writer import CheckpointWriter
from duologue.runtime.conversation import Conversation
from duologue.runtime.receipts import AnswerReceipt, read_receipts, seal

from . import server_messages
from .caller_budget import Refused
from .client_messages import ClientMessage
from .client_outbox import ClientOutbox
from .client_sound import ClientSound
from .close_codes import TAKEN_OVER, CloseCode
from .conversation_keys import ConversationKeys, hash_key, new_key
from .lease_calls import CLIENT_PART
from .leases import Leases
from .limited_caller import LimitedCaller, now_ms, unanswered_of
from .missed_messages import MissedMessages
from .restored_conversation import RestoredConversation
from .screen import Screen
from .server_messages import message
from .settings import Limits, WebRtcSettings
from .task_results import TaskResults
from .typed_ids import TypedIds

LOG = logging.getLogger("duologue.server")
TYPED_TURNS_MAX = 20
EARLY_MAX = 100  # commands that wait until a restored conversation has resumed
_END_S_MAX = 0.5


def new_id() -> str:
    """The id of a new conversation."""
    return uuid.uuid4().hex


class ServedConversation:
    """One conversation on this server. `on_end` is called when the conversation doesn't run here any more, with one
    argument: False if it has ended, True if it has moved to another node."""

    def __init__(
        self,
        agent: Agent,
        seat: str,
        *,
        language: str,
        rate_hz: int,
        limits: Limits,
        on_end: Callable[[ServedConversation, bool], None],
        user: str = "",
        journals: Path | None = None,
        leases: Leases | None = None,
        earlier: RestoredConversation | None = None,
        context: Context[Any] | None = None,
        address: str = "",
        note_refused: Callable[[str], None] = lambda limit: None,  # noqa: ARG005
        webrtc: WebRtcSettings | None = None,
    ) -> None:
        self.address = address  # towards whose limits this conversation counts
        named = context.info.conversation if context is not None else ""
        self.id = earlier.id if earlier is not None else named or new_id()
        self._key = new_key()  # for the client that starts it
        self.key_hash = earlier.key_hash if earlier is not None else hash_key(self._key, user)
        self.keys = earlier.keys if earlier is not None else ConversationKeys((self.key_hash,))
        self.seat = seat  # the client's own name for itself; empty until the client of a restored conversation enters
        self.user = user
        self.began = earlier.began if earlier is not None else datetime.now(UTC)
        self.line = BrowserLine(rate_hz)
        self._is_saved = not agent.private and (journals is not None or leases is not None)
        self._journals = journals
        is_new = earlier is None  # the journal of a restored conversation begins when it runs here
        journal = new_journal_path(journals, correlation_id(self.id)) if journals is not None and is_new else None
        saved = earlier.saved if earlier is not None and earlier.is_started else None
        self.conversation = Conversation(
            agent, self.line, conversation_id=self.id, journal=journal, checkpoint=saved, context=context
        )
        self.screen = self._new_screen(earlier)
        self._earlier = earlier
        self._leases = leases
        self._writer: CheckpointWriter | None = None
        self._typed = TypedIds(earlier.typed if earlier is not None else (), now_ms())
        self._typed_turns: dict[int, str] = {}  # ids of the newest typed messages, by turn
        self._secret = (earlier.secret if earlier is not None else "") or new_key()  # of its receipts
        self._receipt: server_messages.ServerMessage | None = None  # the newest
        self._caller = LimitedCaller(limits, note_refused)
        webrtc = webrtc or WebRtcSettings(enabled=False)
        self.line.note_dry = lambda voice: self.client.complete_soon(voice) if self.client is not None else None
        self.sound = ClientSound(self.line, self._caller, webrtc, self._tell_left_out)
        self._alarms: list[asyncio.TimerHandle] = []  # after which a conversation without a word ends
        # Commands that wait until a restored conversation has resumed; None if commands don't have to wait.
        self._early: list[ClientMessage] | None = [] if earlier is not None else None
        self._arrival: asyncio.Future[Position | None] = asyncio.get_running_loop().create_future()
        self._arrived: tuple[Played, tuple[AnswerReceipt, ...]] | None = None  # of a client that came early
        self.client: ClientOutbox | None = None
        self._is_introduced = leases is None or earlier is not None  # the client may know of the conversation
        self.is_over = False
        self._limits = limits
        self._on_end = on_end
        self._language = language
        self._notices = notices.NoticeHistory()
        self._task: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._confirming: asyncio.Task[None] | None = None
        self._offering: asyncio.Task[None] | None = None
        self.conversation.on(sg.Lost, lambda _: self._mark_client_part())
        self.conversation.engine.watchers.append(self._follow)
        self.conversation.engine.unsaved_answers.on_receipt = self._send_receipt

    def _new_screen(self, earlier: RestoredConversation | None) -> Screen:
        if earlier is None:
            return Screen(self.conversation, self.began, on_result=self._mark_client_part)
        missed, results = MissedMessages(earlier.lost, earlier.lost_turns), TaskResults(earlier.results)
        return Screen(self.conversation, self.began, earlier.events, missed, results, self._mark_client_part)

    # -- Starting and ending

    def start(self) -> None:
        """Run the conversation in its own task, until it ends."""
        if self._earlier is not None and self._journals is not None:
            self._record(self._journals)
        if self._leases is not None and self._earlier is None:
            self._leases.begin(self)
        self._task = asyncio.get_running_loop().create_task(self._run(), name="served conversation")
        self._end_if_unspoken(self._limits.unspoken_s_max, lambda: True)

    def _record(self, folder: Path) -> None:
        """Write a journal of this conversation, which was taken over. If that fails, the conversation continues without
        a journal."""
        try:
            self.conversation.engine.record(new_journal_path(folder, correlation_id(self.id)), seed=0)
        except OSError as failure:
            self.conversation.engine.report_failure("journal", failure)

    async def _run(self) -> None:
        reason = "it could not start"
        try:
            if self._earlier is not None:
                await self._resume(self._earlier)
            else:
                if self._leases is not None:
                    await self._wait_until_stored(self._leases)
                    self._introduce()
                await self.conversation.start()
            reason = await self.conversation.wait()
        except DuologueError as problem:
            self.send_message(message("error", code="start_refused", message=str(problem)))
        except Exception as failure:  # noqa: BLE001 - a tool's server may fail in its own way
            LOG.error("%s: can't start: %s", correlation_id(self.id), type(failure).__name__)
            self.send_message(message("error", code="start_refused", message=self._text("start_refused")))
        finally:
            self.is_over = True
            self.sound.leave()
            for alarm in self._alarms:
                alarm.cancel()
            has_moved = self.is_elsewhere
            if not has_moved:
                # Needed even if the conversation never resumed: it reports lost turns and tells watchers.
                await self.conversation.end(reason)
                if self._leases is not None:
                    await self._leases.end(self)
                self.send_message(message("ended", reason=reason, canRestart=True))
            self._on_end(self, has_moved)

    async def _wait_until_stored(self, leases: Leases) -> None:
        """Wait until the first checkpoint of a new conversation is saved, or can't be saved. The client is told of the
        conversation only after that. So if this process is killed earlier, the client starts another conversation."""
        await leases.wait_until_claimed(self)
        if self._writer is not None:
            try:
                await self._writer.wait_until_saved()
            except StoreFailed as problem:
                self._writer.note_failing(problem)
            except Fenced:
                pass

    def _introduce(self) -> None:
        """Tell the client that its new conversation has begun."""
        self._is_introduced = True
        if self.client is not None:
            self._send_state(self.client, resumed=False)

    async def _resume(self, earlier: RestoredConversation) -> None:
        """Resume a restored conversation. If the agent was speaking, only the client knows how much of that was heard,
        and without this knowledge the agent might repeat what was heard. So first wait until the client reconnects, but
        at most `reconnect_ms_max`."""
        if not earlier.is_started:
            await self.conversation.start()
            return
        played, receipts = earlier.played, earlier.receipts
        if played is None and earlier.saved.state.voice in SOUNDING:
            over: asyncio.Future[Any] = asyncio.ensure_future(self.conversation.wait())
            patience_s = earlier.saved.state.settings.reconnect_ms_max / 1000
            waited: set[asyncio.Future[Any]] = {self._arrival, over}
            await asyncio.wait(waited, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
            position = self._arrival.result() if self._arrival.done() else None
            played = Played(position.voice, position.ms) if position is not None else None
            receipts = self._arrived[1] if self._arrived is not None else receipts
            if over.done():
                return
            over.cancel()
        self._note_typed(receipts)
        await self.conversation.restore(played, receipts)

    async def end(self, reason: str) -> None:
        """End the conversation. If its task hasn't finished after `_END_S_MAX` seconds, for example because a tool is
        still opening, cancel the task. A task that is saving the end of the conversation isn't cancelled: otherwise the
        client would never be told that it has ended."""
        await self.conversation.end(reason)
        is_done = self._task is None or bool((await asyncio.wait([self._task], timeout=_END_S_MAX))[0])
        if self._task is not None and not is_done and not self.is_over:
            self._task.cancel()

    @property
    def has_spoken(self) -> bool:
        """Has the user said or typed anything, or begun to speak?"""
        state = self.conversation.machine_state
        return state.said > 0 or state.user is not User.QUIET

    def _end_if_unspoken(self, after_s: float, is_due: Callable[[], bool]) -> None:
        """Start a timer of `after_s` seconds, and return at once. When the timer fires, the conversation is ended if
        the user has said nothing so far and `is_due` returns True."""

        def end() -> None:
            if is_due() and not self.has_spoken and not self.is_over and not self.is_elsewhere:
                self.give_way(f"nothing was said within {after_s:.0f} s")

        if not self.has_spoken and not self.is_over:
            self._alarms.append(asyncio.get_running_loop().call_later(after_s, end))

    def give_way(self, reason: str) -> None:
        """End the conversation soon, and tell the client this reason."""
        self._ending = asyncio.get_running_loop().create_task(self.end(reason), name="giving way")

    # -- Saving and moving to another node

    def save_to(self, writer: CheckpointWriter) -> None:
        self._writer = writer
        self.conversation.engine.save_with(writer)
        writer.mark("machine", "words", CLIENT_PART)

    def dump(self) -> dict[str, Any]:
        """The data about this conversation's client and screen that another node needs to take over. The conversation's
        own state is saved separately."""
        return {
            "keys": self.keys.dump(),
            "language": self._language,
            "began": self.began.isoformat(),
            "typed": self._typed.dump(),
            "lost": self.screen.missed.dump(),
            "lost_turns": list(self.screen.missed.lost_turns),
            "results": self.screen.results.dump(),
            "secret": self._secret,
        }

    @property
    def is_elsewhere(self) -> bool:
        """Does another node have this conversation, or is the conversation about to move to another node?"""
        return self._leases is not None and self._leases.is_away(self)

    async def hand_over(self) -> None:
        """Let another node take over this conversation: save everything, release the lease, then disconnect the client,
        so that it reconnects."""
        if self._leases is not None and not self.is_over:
            await self._leases.hand_over(self)

    def abandon(self, close_code: CloseCode) -> asyncio.Task[None]:
        """Another node continues this conversation: stop the sound immediately, and disconnect the client, so that it
        reconnects."""
        self._ending = asyncio.get_running_loop().create_task(self._abandon(close_code), name="abandoning")
        return self._ending

    async def _abandon(self, close_code: CloseCode) -> None:
        if self.client is not None:
            self.client.drop_sound(self.conversation.machine_state.voice_id)
            self.client.disconnect(close_code)
        await self.conversation.abandon("another node has it")

    @property
    def is_resting(self) -> bool:
        """Is the user quiet, and is the agent neither speaking nor preparing a reply?"""
        s = self.conversation.machine_state
        return s.voice is Voice.SILENT and s.user is User.QUIET and s.reply is Reply.NONE

    def tell_unsaved(self) -> None:
        """Tell the client that saving fails. A private conversation is never saved, so its client isn't told."""
        if not self.conversation.agent.private and self._is_introduced:
            self.tell("unsaved")

    def tell_saved(self) -> None:
        """Tell the client that saving works again."""
        if not self.conversation.agent.private and self._is_introduced:
            self.tell("saved")

    def _text(self, code: str) -> str:
        return self.conversation.agent.phrases.notice(self._language, code)

    def tell(self, fact: str) -> None:
        """Show the client a notice about an event outside of the conversation. Example: the server is stopping."""
        self._notices, shown = notices.step(self._notices, notices.Outside(fact))
        for notice in shown:
            self.send_message(server_messages.written(notice, self._language, self.conversation.agent.phrases))

    # -- The client connects and disconnects

    def is_key(self, key: str, user: str = "") -> bool:
        """May this user enter the conversation with this key?"""
        return self.keys.opens(key, user)

    def _offer_key(self) -> None:
        """Offer a new key to the client that has entered. It is sent only when it is saved, because other nodes must
        know it."""
        key = new_key()
        self.keys = self.keys.offer(key, self.user)
        self._mark_client_part()
        offering = self._send_key(self.client, key)
        self._offering = asyncio.get_running_loop().create_task(offering, name="offering a key")

    async def _send_key(self, client: ClientOutbox | None, key: str) -> None:
        """Send a new key to this client when the key is saved, unless another client has replaced this one."""
        if await self._is_saved_soon() and client is not None and self.client is client:
            client.send_message(message("key", key=key))

    def _acknowledge_key(self, key: str) -> None:
        """Record that the client has this key: older keys become invalid."""
        if not self.is_key(key, self.user):
            raise ValueError("this isn't a key of the conversation")
        self.keys = self.keys.acknowledge(key, self.user)
        self._mark_client_part()

    def enter(
        self,
        client: ClientOutbox,
        *,
        language: str,
        rate_hz: int,
        position: Position | None,
        resumed: bool,
        key: str = "",
        user: str = "",
        receipts: Sequence[str] = (),
    ) -> None:
        """Connect this client. If another client is connected, disconnect that one. `resumed` means that this client
        was in the conversation before: it has presented `key` and `receipts`, and is offered a new key."""
        if resumed:
            self._key, self.user = key, user
            self.keys = self.keys.enter(key, user)
        if position is not None:
            self._arrived = Played(position.voice, position.ms), read_receipts(receipts, self._secret)
        if not self._arrival.done():
            self._arrival.set_result(position)
        if self.client is not None and self.client is not client:
            former, self.client = self.client, None
            self.screen.leave(former)
            self.sound.leave()
            former.disconnect(TAKEN_OVER)
        self.client = client
        self._language = language
        self.line.rate_hz = rate_hz
        if self._is_introduced:
            self._send_state(client, resumed)
        if self._early is None:
            self._note_arrival()
        if self._receipt is not None:
            self.send_message(self._receipt)
        self.line.attach(client, position)
        if resumed:
            self._offer_key()

    def _note_arrival(self) -> None:
        """Tell the conversation how much the client that has reconnected has played. That may be more than was
        saved."""
        arrived, self._arrived = self._arrived, None
        if arrived is not None:
            self._note_typed(arrived[1])
            self.conversation.engine.note_arrival(*arrived)

    def _note_typed(self, receipts: tuple[AnswerReceipt, ...]) -> None:
        """Mark the typed messages in these receipts as known to the conversation, so that they are ignored if the
        client repeats them."""
        for id_ in (said.typed for receipt in receipts for said in receipt.turns if said.typed):
            if id_ not in self._typed:
                self._typed.add(id_, now_ms())
                self._mark_client_part()

    def _send_receipt(self, receipt: AnswerReceipt) -> None:
        """Give the client a receipt for an answer that isn't saved yet. A node that takes over the conversation learns
        from the receipt what was said."""
        turns = tuple(said._replace(typed=self._typed_turns.get(said.turn, "")) for said in receipt.turns)
        sealed = seal(replace(receipt, turns=turns), self._secret)
        if sealed:
            self._receipt = message("receipt", voice=receipt.voice, receipt=sealed)
            self.send_message(self._receipt)

    def leave(self, client: ClientOutbox) -> None:
        """Remove this client, because its socket is gone. Does nothing if another client has taken its place."""
        if self.client is client:
            self.client = None
            self.screen.leave(client)
            if self.conversation.attention:
                self.conversation.notify_attention(here=False)
            self.sound.leave()
            self.line.detach(client)
            self._end_if_unspoken(self._limits.unspoken_away_s_max, lambda: self.client is None)

    def _send_state(self, client: ClientOutbox, resumed: bool) -> None:
        """Send everything that a client needs to show the conversation."""
        since = server_messages.iso(self.began)
        self.send_message(
            message(
                "conversation", conversation=self.id, key=self._key, resumed=resumed, since=since, saved=self._is_saved
            )
        )
        self.screen.enter(client, self._language)
        if not resumed:
            self.screen.tell_status(client)
        else:
            self.screen.show(client)
            self._mark_client_part()  # the messages about lost turns have been sent
        if self._leases is not None and self._leases.is_unsaved(self):
            self.tell_unsaved()

    def send_message(self, outgoing: server_messages.ServerMessage) -> None:
        """Send this message to the client. Without a connected client, the message is dropped."""
        if self.client is not None:
            self.client.send_message(outgoing)

    # -- What the client does

    def do(self, incoming: ClientMessage) -> None:
        """Perform a command from the client, or tell the client why it is refused. As long as a restored conversation
        hasn't resumed, all commands except `end` are queued."""
        if self.is_elsewhere:
            return  # the client repeats the command on the node that continues the conversation
        if self._early is not None and incoming.type != "end" and len(self._early) < EARLY_MAX:
            self._early.append(incoming)
            return
        try:
            if self._early is not None and incoming.type != "end":
                raise ValueError("too many commands before the conversation has resumed: send this one again later")
            if incoming.type not in _UNLIMITED:
                self._caller.command()
            _COMMANDS[incoming.type](self, incoming.payload)
        except (DuologueError, ValueError) as problem:
            self._refuse(incoming, str(problem))

    def _refuse(self, incoming: ClientMessage, why: str, **more: Any) -> None:
        """Tell the client why a command is refused. For a typed message, the error contains the message's id, so that
        the client doesn't repeat it."""
        named = {"id": incoming.payload["id"]} if incoming.type == "type" and "id" in incoming.payload else {}
        self.send_message(message("error", code="refused", message=f"{incoming.type}: {why}", **named, **more))

    def _tell_left_out(self, refused: Refused) -> None:
        self.send_message(message("error", code="sound_left_out", message=refused.message))

    def _refuse_start(self, _: dict[str, Any]) -> None:
        raise ValueError("this client is in a conversation already")

    def _type(self, given: dict[str, Any]) -> None:
        """Pass a typed message on to the conversation, unless the client only repeats it because it got no
        confirmation."""
        id_ = given.get("id", "")
        if not id_ or id_ not in self._typed:
            self.conversation.type(self._admitted(given["text"]))
            self._typed_turns[self.conversation.machine_state.turn] = id_
            while len(self._typed_turns) > TYPED_TURNS_MAX:
                del self._typed_turns[next(iter(self._typed_turns))]
        else:
            self._caller.command()
        if id_:
            self._typed.add(id_, now_ms())
            self._mark_client_part()  # now: the id must be saved together with the turn
            self._confirming = asyncio.get_running_loop().create_task(self._confirm(id_), name="confirming")

    async def _confirm(self, id_: str) -> None:
        """Confirm a typed message when it is saved. Without a confirmation, the client sends it again."""
        if await self._is_saved_soon():
            self._typed.confirm(id_, now_ms())
            self.send_message(message("typed", id=id_))

    async def _is_saved_soon(self) -> bool:
        """Wait until all marked changes are saved. Returns whether that worked; False if they can't be saved on this
        node any more."""
        if self._writer is not None:
            while not await self._is_saved_now(self._writer):
                if self._writer.is_fenced or self.is_over or self.is_elsewhere:
                    return False
        return True

    @staticmethod
    async def _is_saved_now(writer: CheckpointWriter) -> bool:
        try:
            await writer.wait_until_saved()
        except (Fenced, StoreFailed):
            return False
        return True

    def _admitted(self, text: str) -> str:
        """Check that the text isn't too long and that the client may type it now, and return it. Otherwise raises a
        ValueError that says what to do."""
        if len(text) > self._limits.text_chars_max:
            raise ValueError(f"the text has {len(text)} characters; at most {self._limits.text_chars_max} are allowed")
        refused = self._caller.type(len(text), unanswered_of(self.conversation))
        if refused is not None:
            raise ValueError(refused.message)
        return text

    def _hang_up(self, _: dict[str, Any]) -> None:
        """Hang up the line. A line that isn't open yet can't report the hang-up; then end the conversation directly."""
        if self.conversation.machine_state.link is Link.IDLE or self._early is not None:
            self._ending = asyncio.get_running_loop().create_task(self.end("hung up"), name="hanging up")
        else:
            self.line.hang_up()

    def _debug(self, is_on: bool) -> None:
        if self.client is not None:
            self.screen.debug(self.client, is_on)

    # -- What the conversation does

    def _mark_client_part(self) -> None:
        """Save the data about the client that another node needs, because it has changed."""
        if self._writer is not None:
            self._writer.mark(CLIENT_PART)

    def _follow(self, record: StepRecord) -> None:
        if self._early is not None and record.after is not record.before:
            asyncio.get_running_loop().call_soon(self._do_early)

    def _do_early(self) -> None:
        early, self._early = self._early or [], None
        self._note_arrival()
        for incoming in early:
            self.do(incoming)


def _plain(name: str) -> _Command:
    """The handler of a command without a payload: it calls this method of the conversation."""
    return lambda served, _: getattr(served.conversation, name)()


_Command: TypeAlias = Callable[[ServedConversation, dict[str, Any]], object]
_COMMANDS: dict[str, _Command] = {
    **{
        name: _plain(name)
        for name in ("press", "release", "send", "suspend", "resume", "retry", "dismiss", "reconnect")
    },
    "start": ServedConversation._refuse_start,
    "interrupt": lambda served, _: served.conversation.interrupt("button"),
    "end": ServedConversation._hang_up,
    "type": ServedConversation._type,
    "cancel": lambda served, given: served.conversation.cancel(given["call"]),
    "answer": lambda served, given: served.conversation.answer(given["call"], served._admitted(given["text"])),
    "played": lambda served, given: served.line.note_played(given["voice"], given["ms"]),
    "finished": lambda served, given: served.line.note_finished(given["voice"], given["ms"]),
    "stopped": lambda served, given: served.line.note_stopped(given["voice"], given["ms"]),
    "unplayable": lambda served, given: served.line.note_unplayable(given["voice"]),
    "webrtc": lambda served, given: served.sound.offer(served.client, given),
    "heard": lambda served, given: served.sound.note_heard(given),
    "carrier": lambda served, given: served.sound.use_socket(given),
    "debug": lambda served, given: served._debug(given["on"]),
    "microphone": lambda served, given: served.conversation.notify_microphone(Microphone(given["state"])),
    "attention": lambda served, given: served.conversation.notify_attention(given["here"]),
    "key": lambda served, given: served._acknowledge_key(given["key"]),
}
# Reports, which come by themselves and often; words, which have limits of their own; and the end, which always counts.
_UNLIMITED = frozenset({"played", "finished", "stopped", "unplayable", "heard", "type", "answer", "end"})
