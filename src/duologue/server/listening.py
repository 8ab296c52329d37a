"""The socket on which a server listens, and its address.

Rule: this module imports little, because the parent of several server processes uses it, and the parent needs no other
module of the server.
"""

from __future__ import annotations

import errno
import socket

from duologue.core.errors import DuologueError

UNREAD_MS_MAX = 30_000


def bind_socket(host: str, port: int) -> socket.socket:
    """Open a listening socket. With port 0, any free port is used. Raises DuologueError if the address can't be
    used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # Every connection inherits this. With it a small message is sent at once; without it, a message that follows
        # another one waits until the client has confirmed the first, which takes up to 40 ms.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # the kernel closes a client that reads nothing
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS_MAX)
        made.bind((host, port))
    except (OSError, UnicodeError) as problem:
        made.close()
        if getattr(problem, "errno", None) == errno.EADDRINUSE:
            other = f"--port {port + 1} (make demo PORT={port + 1})"
            raise DuologueError(f"port {port} of {host} is already in use; choose another: {other}") from None
        why = getattr(problem, "strerror", None) or type(problem).__name__
        raise DuologueError(f"can't listen on {host} port {port}: {why}; choose another --host or --port") from None
    made.listen(2_048)
    return made


def server_url(listening: socket.socket, token: str = "") -> str:
    """The URL of the server's web page, with the token if there is one."""
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/" + (f"?token={token}" if token else "")
