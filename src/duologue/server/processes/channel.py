"""Packets and sockets between the parent and one server process, over a pair of Unix sockets.

Sending never waits: packets that the other side hasn't read are queued. Rule: when a socket is passed to the other
side, this process closes its own copy as soon as the socket was sent or can't be sent any more.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections import deque
from collections.abc import Callable
from typing import Any

from .process_messages import ProcessMessage, decode, encode

PACKET_BYTES_MAX = 180_000  # Linux limits a packet by the buffer of its socket, 208 kB by default
VARIABLE = "DUOLOGUE_PROCESS_FD"  # in the environment of a process: the number of its end of the channel
READS_MAX = 64  # packets that are read at a time, so that other work of the loop isn't delayed


def is_one_of_several() -> bool:
    """Is this one of several server processes, started by a parent?"""
    return VARIABLE in os.environ


def channel_pair() -> tuple[socket.socket, socket.socket]:
    """Make a channel and return its two ends. Only Linux has sockets of this kind."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


class TooLarge(ValueError):
    """A message doesn't fit in a packet."""


class Channel:
    """One end of a channel. `receive` is called with each message, and with the socket that came with it, or None.
    `on_closed` is called when the other side has closed its end."""

    def __init__(
        self,
        end: socket.socket,
        receive: Callable[[Any, socket.socket | None], None],
        on_closed: Callable[[], None],
    ) -> None:
        self._end = end
        self._receive = receive
        self._on_closed = on_closed
        self._unsent: deque[tuple[bytes, int | None]] = deque()
        self._is_open = False
        self._is_writing = False

    def open(self) -> None:
        """Start to read packets."""
        self._end.setblocking(False)
        self._is_open = True
        asyncio.get_running_loop().add_reader(self._end, self._read)

    def close(self) -> None:
        """Stop reading and writing. Queued packets are dropped."""
        if self._is_open:
            self._is_open = False
            loop = asyncio.get_running_loop()
            loop.remove_reader(self._end)
            loop.remove_writer(self._end)
        while self._unsent:
            self._drop(self._unsent.popleft()[1])
        self._end.close()

    # -- Sending

    def send(self, message: ProcessMessage, passed: int | None = None) -> None:
        """Send a message. If `passed` is given, the socket with this file descriptor is sent along, and the descriptor
        is closed here afterwards. If the channel isn't open, nothing is sent. Raises TooLarge."""
        packet = encode(message)
        if len(packet) > PACKET_BYTES_MAX:
            self._drop(passed)
            raise TooLarge(f"a message has {len(packet)} bytes, and at most {PACKET_BYTES_MAX} are allowed")
        if not self._is_open:
            self._drop(passed)
            return
        self._unsent.append((packet, passed))
        if not self._is_writing:
            self._write()

    def _write(self) -> None:
        while self._unsent:
            packet, passed = self._unsent[0]
            try:
                socket.send_fds(self._end, [packet], [] if passed is None else [passed])
            except (BlockingIOError, InterruptedError):
                self._wait(True)
                return
            except OSError:  # the other side is gone; reading will notice that
                while self._unsent:
                    self._drop(self._unsent.popleft()[1])
                break
            self._unsent.popleft()
            self._drop(passed)
        self._wait(False)

    def _wait(self, is_writing: bool) -> None:
        if is_writing != self._is_writing:
            self._is_writing = is_writing
            loop = asyncio.get_running_loop()
            if is_writing:
                loop.add_writer(self._end, self._write)
            else:
                loop.remove_writer(self._end)

    @staticmethod
    def _drop(passed: int | None) -> None:
        if passed is not None:
            with contextlib.suppress(OSError):
                os.close(passed)

    # -- Receiving

    def _read(self) -> None:
        for _ in range(READS_MAX):
            try:
                packet, passed = receive_packet(self._end)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                packet, passed = b"", None
            if not packet:
                self.close()
                self._on_closed()
                return
            self._receive(decode(packet), passed)
            if not self._is_open:
                return


def receive_packet(end: socket.socket) -> tuple[bytes, socket.socket | None]:
    """Receive one packet, and the socket that came with it; None if no socket came. An empty packet means that the
    other side has closed its end."""
    packet, passed, _, _ = socket.recv_fds(end, PACKET_BYTES_MAX + 1, 1)
    return packet, socket.socket(fileno=passed[0]) if passed else None
