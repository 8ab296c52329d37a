"""The list of running conversations (here: calls) on all lines, and the operators who watch the list or one call.

A call is identified by the hash of its id. The hash alone gives no access to the call. Rule: a call is listed from its
start to its end, and watching a call doesn't change it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from duologue.observe import signals as sg

from . import server_messages
from .client_messages import ClientMessage
from .client_outbox import ClientOutbox
from .screen import Screen
from .server_messages import ServerMessage, message
from .siblings import ALONE, Siblings

LOG = logging.getLogger("duologue.server")
LIST_S_MIN = 0.25  # the shortest time between two lists
_PLAYBACK_REPORTS = ("played", "finished", "stopped", "unplayable")


class Switchboard:
    """All running calls, and the operators' clients that have subscribed to the list. The list also has the calls of
    the server's other processes."""

    def __init__(self, siblings: Siblings = ALONE) -> None:
        self._siblings = siblings
        self._screens: dict[str, Screen] = {}
        self._clients: dict[ClientOutbox, None] = {}
        self._alarm: asyncio.TimerHandle | None = None
        self._elsewhere: dict[int, list[dict[str, Any]]] = {}  # by process: its calls
        self._is_shared = False  # another process wants to know the calls of this one

    def add(self, screen: Screen) -> None:
        """List this call as soon as it starts. A call that never starts is never listed."""
        talk = screen.conversation
        talk.on(sg.StateEntered, lambda entered: self._note(screen, entered))
        talk.on(sg.Ended, lambda _: self.remove(screen))
        if talk.phase != "idle":  # the call started on another node
            self._screens[screen.id] = screen

    def find(self, id_: str) -> Screen | None:
        """The running call with this hash; None if no such call is running."""
        return self._screens.get(id_)

    def process_of(self, id_: str | None) -> int | None:
        """The number of the other process that has the call with this hash; None if no other process has it."""
        return next((at for at, calls in self._elsewhere.items() if any(call["id"] == id_ for call in calls)), None)

    def _note(self, screen: Screen, entered: sg.StateEntered) -> None:
        if entered.view == "conversation":
            if entered.state != "idle":
                self._screens.setdefault(screen.id, screen)
            self._note_change()

    def remove(self, screen: Screen) -> None:
        if self._screens.get(screen.id) is screen:
            del self._screens[screen.id]
            self._note_change()

    # -- The list

    def subscribe(self, client: ClientOutbox) -> None:
        """Send this client the list now and after each change."""
        if not self._clients:
            self._siblings.want_calls(True)
        self._clients[client] = None
        client.send_message(self._list(client))

    def unsubscribe(self, client: ClientOutbox) -> None:
        if client in self._clients:
            del self._clients[client]
            if not self._clients:
                self._siblings.want_calls(False)

    def is_subscribed(self, client: ClientOutbox) -> bool:
        return client in self._clients

    def _note_change(self) -> None:
        """Send the list soon. Changes that come close together are sent as one list."""
        if (self._clients or self._is_shared) and self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(LIST_S_MIN, self._send_lists)

    def _send_lists(self) -> None:
        self._alarm = None
        for client in tuple(self._clients):
            client.send_message(self._list(client))
        if self._is_shared:
            self._siblings.share_calls([_entry(screen, None) for screen in self._screens.values()])

    def _list(self, client: ClientOutbox) -> ServerMessage:
        """The message for this client with all calls, oldest first. In it, `own` marks the client's own
        conversation."""
        here = [_entry(screen, client) for screen in self._screens.values()]
        elsewhere = [call for calls in self._elsewhere.values() for call in calls]
        return message("calls", calls=sorted(here + elsewhere, key=lambda call: call["since"]) if elsewhere else here)

    # -- Other processes

    def share(self, is_shared: bool) -> None:
        """Start or stop telling the other processes which calls run in this process. The other processes start and stop
        sharing their lists at the same time. So when sharing stops, this process forgets their calls."""
        self._is_shared = is_shared
        if not is_shared:
            self._elsewhere.clear()
        self._note_change()

    def note_elsewhere(self, process: int, calls: Sequence[dict[str, Any]]) -> None:
        """Note the list of calls that run in another process of this server."""
        if self._elsewhere.get(process, []) != list(calls):
            self._elsewhere[process] = list(calls)
            for client in tuple(self._clients):
                client.send_message(self._list(client))


def _entry(screen: Screen, client: ClientOutbox | None) -> dict[str, Any]:
    agent = screen.conversation.agent
    return {
        "id": screen.id,
        "line": screen.line,
        "agent": agent.name,
        "phase": screen.conversation.phase,
        "since": server_messages.iso(screen.began),
        "private": agent.private,
        "own": client is not None and screen.is_of(client),
    }


class Operator:
    """One socket that may subscribe to the list and watch one call."""

    def __init__(self, switchboard: Switchboard, client: ClientOutbox, may_watch: bool = False) -> None:
        self._switchboard = switchboard
        self._client = client
        self.may_watch = may_watch  # set by the hello
        self._screen: Screen | None = None

    @property
    def is_watching(self) -> bool:
        return self._screen is not None

    @property
    def is_busy(self) -> bool:
        """Does this socket watch a call, or the list of calls?"""
        return self.is_watching or self._switchboard.is_subscribed(self._client)

    def do(self, incoming: ClientMessage, language: str, is_busy: bool) -> None:
        """Perform an operator's command, or tell the client why it is refused. `is_busy` says whether this client is in
        its own conversation now."""
        kind, given = incoming.type, incoming.payload
        if kind in ("calls", "watch") and not self.may_watch:
            self._refuse(kind, "you may not watch calls on this server")
        elif kind == "calls":
            act = self._switchboard.subscribe if given.get("on", True) else self._switchboard.unsubscribe
            act(self._client)
        elif kind == "watch":
            self._watch(given["id"], language, is_busy)
        elif kind == "debug" and self._screen is not None:
            self._screen.debug(self._client, given["on"])
        elif kind not in _PLAYBACK_REPORTS:
            self._refuse(kind, "a watcher can't send commands to the call")

    def _watch(self, id_: str | None, language: str, is_busy: bool) -> None:
        screen = self._switchboard.find(id_) if id_ is not None else None
        if id_ is not None and is_busy:
            self._refuse("watch", "end your own conversation first")
        elif id_ is not None and screen is None:
            self._client.send_message(
                message("error", code="no_call", message="watch: this call doesn't exist or has ended")
            )
        else:
            self._stop()
            if screen is not None:
                LOG.info("%s: an operator is watching", screen.id)
                self._screen = screen
                screen.enter(self._client, language, is_watching=True)
                screen.greet_watcher(self._client)

    def _refuse(self, kind: str, why: str) -> None:
        self._client.send_message(message("error", code="refused", message=f"{kind}: {why}"))

    def _stop(self) -> None:
        if self._screen is not None:
            self._screen.leave(self._client)
            self._screen = None

    def leave(self) -> None:
        """Stop watching and unsubscribe from the list, because the socket is closed."""
        self._stop()
        self._switchboard.unsubscribe(self._client)
