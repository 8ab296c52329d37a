"""Packets and sockets between the parent and one server process, over a pair of Unix sockets.

Sending never waits: packets that the other side hasn't read are queued. Rule: a socket that is passed on is closed here
as soon as it is sent, or when it can't be sent any more.
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
    """Was this process started by a parent, as one of several server processes?"""
    return VARIABLE in os.environ


def channel_pair() -> tuple[socket.socket, socket.socket]:
    """Both ends of a channel. Only Linux has sockets of this kind."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


class TooLarge(ValueError):
    """A message doesn't fit in a packet."""


class Channel:
    """One end. `receive` gets each message, and the socket that came with it, if any. `on_closed` is called once, when
    the other side is gone."""

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
        """Read from now on."""
        self._end.setblocking(False)
        self._is_open = True
        asyncio.get_running_loop().add_reader(self._end, self._read)

    def close(self) -> None:
        """Stop reading and writing. What is queued is dropped."""
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
        """Send a message, and with it a socket, by its file descriptor. The descriptor is closed. Without an open
        channel nothing is sent. Raises TooLarge."""
        packet = encode(message)
        if len(packet) > PACKET_BYTES_MAX:
            self._drop(passed)
            raise TooLarge(f"a message of {len(packet)} bytes")
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
    """One packet, and the socket that came with it. An empty packet means that the other side is gone."""
    packet, passed, _, _ = socket.recv_fds(end, PACKET_BYTES_MAX + 1, 1)
    return packet, socket.socket(fileno=passed[0]) if passed else None
