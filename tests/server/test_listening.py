"""The socket of a server, and its address."""

from __future__ import annotations

import socket

import pytest

from duologue.core.errors import DuologueError
from duologue.server.listening import bind_socket, server_url
from tests.needs import needs_ipv6


def test_a_port_that_is_in_use_is_named_with_what_to_do() -> None:
    with bind_socket("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(DuologueError, match=f"port {port} of 127.0.0.1 is already in use"):
            bind_socket("127.0.0.1", port)


def test_a_host_that_does_not_exist_is_one_line() -> None:
    with pytest.raises(DuologueError, match=r"can't listen on a\.\.b port 1"):
        bind_socket("a..b", 1)


def test_the_address_has_the_token() -> None:
    with bind_socket("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        assert server_url(listening) == f"http://127.0.0.1:{port}/"
        assert server_url(listening, "secret") == f"http://127.0.0.1:{port}/?token=secret"


def test_an_ipv6_address_has_brackets() -> None:
    needs_ipv6()
    with bind_socket("::1", 0) as listening:
        assert server_url(listening).startswith("http://[::1]:")


def test_small_messages_are_sent_at_once() -> None:
    with bind_socket("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
