"""Converts errors from PostgreSQL to one line that says what to do.

Rule: a message from PostgreSQL is never repeated, because messages from the server may quote values, and messages from
libpq may quote the address with its password. The line names only the class of the error, the host, the port and the
database.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from duologue.ports.store import StoreFailed

BAD_ADDRESS = "not an address of a PostgreSQL server; write it as postgresql://user:password@host:port/database"
# Hints by SQLSTATE, for errors while connecting and while running a statement.
CONNECTING: Mapping[str, str] = {
    "28P01": "wrong user or password; check them in the address, or in the password file",
    "28000": "this user may not connect; check the user, and the server's pg_hba.conf",
    "3D000": "no such database; create it, or use another one in the address",
    "53300": "no connection is left; raise the server's max_connections, or close other connections",
    "57P03": "the server is starting up or shutting down; try again soon",
}
RUNNING: Mapping[str, str] = {
    "25006": "the server is read-only, perhaps a standby; use the primary server in the address",
    "42501": "this user lacks a permission; grant this user access to the schema, or use another user",
    "53100": "the server's disk is full, nothing was written; free some space there",
    "53200": "the server is out of memory, nothing was written; try again",
    "55P03": "another transaction holds a row lock, nothing was written; try again",
    "57014": "timed out, nothing was written; the server is overloaded, or another transaction holds a row lock",
    "3F000": "the schema is missing; restart to create it again",
    "42P01": "a table is missing; restore it from a backup",
}
# libpq reports no SQLSTATE if connecting fails, so it is found by these phrases. The first match counts.
PATTERNS: tuple[tuple[str, str], ...] = (
    ("no password supplied", "28P01"),
    ("password authentication failed", "28P01"),
    ("authentication failed", "28000"),
    ("no pg_hba.conf entry", "28000"),
    ("role ", "28000"),
    ("does not exist", "3D000"),
    ("too many clients", "53300"),
    ("remaining connection slots", "53300"),
    ("starting up", "57P03"),
    ("shutting down", "57P03"),
)
PERMANENT = {"28P01", "28000", "3D000"}  # a retry can't help
AGAIN = {"40001", "40P01"}  # a conflict of two transactions: one of them is retried


class CantConnect(StoreFailed):
    """A connection couldn't be opened. If `is_permanent` is true, a retry won't help."""

    def __init__(self, message: str, is_permanent: bool) -> None:
        self.is_permanent = is_permanent
        super().__init__(message)


def read_address(url: str) -> dict[str, Any]:
    """The connection parameters in an address. Raises `CantConnect` if the address is invalid; the error doesn't quote
    it."""
    try:
        return conninfo_to_dict(url)
    except (psycopg.Error, UnicodeError):
        raise CantConnect(BAD_ADDRESS, True) from None  # the reason would quote the address


def place(address: Mapping[str, Any]) -> str:
    """The host, port and database of the server as text for error messages. User and password are left out."""
    host = address.get("host") or address.get("hostaddr") or "this machine"
    port = f":{address['port']}" if address.get("port") else ""
    database = f", database {address['dbname']}" if address.get("dbname") else ""
    return f"PostgreSQL at {host}{port}{database}"


def connecting(error: psycopg.Error, where: str) -> CantConnect:
    """The error to raise after a connection couldn't be opened."""
    words = str(error).lower()
    state = error.sqlstate or next((state for pattern, state in PATTERNS if pattern in words), "")
    if isinstance(error, psycopg.ProgrammingError):
        return CantConnect(BAD_ADDRESS, True)
    if hint := CONNECTING.get(state):
        return CantConnect(f"{where}: {hint}", state in PERMANENT)
    if "translate host name" in words or "resolve host" in words:
        return CantConnect(f"{where}: unknown host name; check the address", False)
    if "timeout" in words:
        return CantConnect(f"{where}: no answer; check the address and the network", False)
    return CantConnect(f"{where}: can't be reached; check that the server runs, and the address", False)


def running(error: psycopg.Error, where: str) -> StoreFailed:
    """The error to raise after an SQL statement has failed."""
    if not error.sqlstate:
        return StoreFailed(f"{where}: the connection was lost; try again")
    hint = RUNNING.get(error.sqlstate)
    return StoreFailed(f"{where}: {hint or f'the statement failed ({type(error).__name__}, {error.sqlstate})'}")
