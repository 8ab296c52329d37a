"""The calls that go on, on whichever line, and the operators who look at the list of them or at one.

Calls are named by the hash of their id, which opens nothing. Rule: a call is listed from the moment it begins until
it is over, and looking at it changes nothing of it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from urllib.parse import urlsplit

from duologue.observe import signals as sg

from . import server_messages
from .client_messages import ClientMessage
from .client_outbox import ClientOutbox
from .screen import Screen
from .server_messages import ServerMessage, message
from .settings import ServerSettings, is_loopback

LOG = logging.getLogger("duologue.server")
LIST_S_MIN = 0.25  # from one list to the next
_OF_A_SOUND = ("played", "finished", "stopped", "unplayable")


class Switchboard:
    """Every call, and who wants the list."""

    def __init__(self) -> None:
        self._screens: dict[str, Screen] = {}
        self._clients: dict[ClientOutbox, None] = {}
        self._alarm: asyncio.TimerHandle | None = None

    def add(self, screen: Screen) -> None:
        """List this one once it begins. One that never begins is never listed."""
        talk = screen.conversation
        talk.on(sg.StateEntered, lambda entered: self._note(screen, entered))
        talk.on(sg.Ended, lambda _: self.remove(screen))
        if talk.state != "idle":  # it began elsewhere
            self._screens[screen.id] = screen

    def find(self, id_: str) -> Screen | None:
        return self._screens.get(id_)

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
        self._clients[client] = None
        client.tell(self._list(client))

    def unsubscribe(self, client: ClientOutbox) -> None:
        self._clients.pop(client, None)

    def _note_change(self) -> None:
        """Many calls change all the time: they are told together."""
        if self._clients and self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(LIST_S_MIN, self._tell)

    def _tell(self) -> None:
        self._alarm = None
        for client in tuple(self._clients):
            client.tell(self._list(client))

    def _list(self, client: ClientOutbox) -> ServerMessage:
        """Oldest first. `own` is the conversation that this very client is in."""
        return message("calls", calls=[_entry(screen, client) for screen in self._screens.values()])


def _entry(screen: Screen, client: ClientOutbox) -> dict[str, Any]:
    agent = screen.conversation.agent
    return {
        "id": screen.id,
        "line": screen.line,
        "agent": agent.name,
        "phase": screen.conversation.phase,
        "since": server_messages.iso(screen.began, 0),
        "private": agent.private,
        "own": screen.is_of(client),
    }


class Operator:
    """What one socket sees of the calls of others."""

    def __init__(self, switchboard: Switchboard, client: ClientOutbox, may_watch: bool) -> None:
        self._switchboard = switchboard
        self._client = client
        self.may_watch = may_watch
        self._screen: Screen | None = None

    @property
    def is_watching(self) -> bool:
        return self._screen is not None

    def do(self, incoming: ClientMessage, language: str, is_busy: bool) -> None:
        """Obey, or say why not. `is_busy`: this client is in a conversation of its own."""
        kind, given = incoming.type, incoming.payload
        if kind in ("calls", "watch") and not self.may_watch:
            self._refuse(kind, "this server does not let you watch calls")
        elif kind == "calls":
            act = self._switchboard.subscribe if given.get("on", True) else self._switchboard.unsubscribe
            act(self._client)
        elif kind == "watch":
            self._watch(given["id"], language, is_busy)
        elif kind == "debug" and self._screen is not None:
            self._screen.debug(self._client, given["on"])
        elif kind not in _OF_A_SOUND:
            self._refuse(kind, "whoever watches a call does nothing in it")

    def _watch(self, id_: str | None, language: str, is_busy: bool) -> None:
        screen = self._switchboard.find(id_) if id_ is not None else None
        if id_ is not None and is_busy:
            self._refuse("watch", "you are in a conversation of your own")
        elif id_ is not None and screen is None:
            self._client.tell(message("error", code="no_call", message="watch: there is no such call, or it is over"))
        else:
            self._stop()
            if screen is not None:
                LOG.info("%s: is being watched", screen.id)
                self._screen = screen
                screen.enter(self._client, language, is_watching=True)
                screen.greet_watcher(self._client)

    def _refuse(self, kind: str, why: str) -> None:
        self._client.tell(message("error", code="refused", message=f"{kind}: {why}"))

    def _stop(self) -> None:
        if self._screen is not None:
            self._screen.leave(self._client)
            self._screen = None

    def leave(self) -> None:
        """The socket is gone, and with it the list and the view."""
        self._stop()
        self._switchboard.unsubscribe(self._client)


def may_watch(scope: dict[str, Any], settings: ServerSettings) -> bool:
    """With the server's token, which hello asks for; without one, only somebody at this very machine: a proxy on it
    brings others, and says so or names another host."""
    if not settings.watchable or settings.token:
        return settings.watchable
    named = {name: value.decode("latin-1") for name, value in scope["headers"]}
    if named.keys() & {b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip"}:
        return False
    hosts = (f"//{named.get(b'host', '')}", named.get(b"origin", "//localhost"))
    return is_loopback((scope.get("client") or ("", 0))[0]) and all(_is_local(host) for host in hosts)


def _is_local(address: str) -> bool:
    try:
        return is_loopback(urlsplit(address).hostname or "")
    except ValueError:
        return False
