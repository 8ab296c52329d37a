"""What PostgreSQL says when something fails, as one line that says what to do.

A server's own words may quote values, and libpq's may quote the address with its password. Rule: neither is ever
repeated; a failure is told by its class and by the host, port and database alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from duologue.ports.store import StoreFailed

BAD_ADDRESS = "not an address of a PostgreSQL server; write it as postgresql://user:password@host:port/database"
# By SQLSTATE.
CONNECTING: Mapping[str, str] = {
    "28P01": "it refuses the user or the password; check them in the address, or in the password file",
    "28000": "it refuses this user; check the user, and what pg_hba.conf allows",
    "3D000": "it has no such database; create it, or name another one in the address",
    "53300": "it has no connection left; raise max_connections, or close others",
    "57P03": "it is starting up or shutting down; try again soon",
}
RUNNING: Mapping[str, str] = {
    "25006": "it is read-only, perhaps a standby; name the primary server in the address",
    "42501": "this user may not do that; grant it the schema, or name another user",
    "53100": "its disk is full, nothing was written; free some space there",
    "53200": "it has no memory left, nothing was written; try again",
    "55P03": "somebody keeps a row locked, nothing was written; try again",
    "57014": "it took too long, nothing was written; the server is overloaded, or somebody keeps a row locked",
    "3F000": "the schema is gone; open the store anew",
    "42P01": "a table is gone; open the store anew, or restore it from a backup",
}
# libpq gives no SQLSTATE for a connection that it never got, so these go by its words. Order matters.
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
HOPELESS = {"28P01", "28000", "3D000"}  # to try again changes nothing
AGAIN = {"40001", "40P01"}  # two transactions in each other's way: one of them simply goes again


class CantConnect(StoreFailed):
    """No connection. `is_hopeless`: trying again changes nothing."""

    def __init__(self, message: str, is_hopeless: bool) -> None:
        self.is_hopeless = is_hopeless
        super().__init__(message)


def read_address(url: str) -> dict[str, Any]:
    try:
        return conninfo_to_dict(url)
    except psycopg.Error:
        raise CantConnect(BAD_ADDRESS, True) from None  # the reason would quote the address
    except UnicodeError:
        raise CantConnect(BAD_ADDRESS, True) from None


def place(address: Mapping[str, Any]) -> str:
    """The server, without user or password."""
    host = address.get("host") or address.get("hostaddr") or "this machine"
    port = f":{address['port']}" if address.get("port") else ""
    database = f", database {address['dbname']}" if address.get("dbname") else ""
    return f"PostgreSQL at {host}{port}{database}"


def connecting(error: psycopg.Error, where: str) -> CantConnect:
    words = str(error).lower()
    state = error.sqlstate or next((state for pattern, state in PATTERNS if pattern in words), "")
    if isinstance(error, psycopg.ProgrammingError):
        return CantConnect(BAD_ADDRESS, True)
    if told := CONNECTING.get(state):
        return CantConnect(f"{where}: {told}", state in HOPELESS)
    if "translate host name" in words or "resolve host" in words:
        return CantConnect(f"{where}: no machine has that name; check the address", False)
    if "timeout" in words:
        return CantConnect(f"{where}: no answer; check the address and the network", False)
    return CantConnect(f"{where}: can't be reached; check that it runs, and the address", False)


def running(error: psycopg.Error, where: str) -> StoreFailed:
    if not error.sqlstate:
        return StoreFailed(f"{where}: the connection was lost; try again")
    told = RUNNING.get(error.sqlstate)
    return StoreFailed(f"{where}: {told or f'it failed ({type(error).__name__}, {error.sqlstate})'}")
