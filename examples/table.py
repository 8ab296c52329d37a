"""What table.yaml does: functions with the names that the file uses."""

from __future__ import annotations

SEATS = 20
_book: dict[str, dict[str, str]] = {}


def fits_the_house(people: int) -> bool | str:
    if people < 1:
        return "It takes at least one."
    return people <= SEATS or f"We have room for {SEATS}."


def is_open(time: str, day: str = "") -> bool | str:
    """Times are texts such as 19:30, so they can be compared directly. The hours could depend on `day`."""
    return "12:00" <= time < "22:30" or "The kitchen is open from noon to half past ten."


def find_table(people: int, day: str, time: str) -> dict[str, bool | str]:
    """Eight o'clock is always full."""
    return {"is_free": time != "20:00", "other_time": "20:30"}


def book_table(guest: str, day: str, time: str, people: int, seating: str = "", phone: str = "") -> None:
    _book[guest.casefold()] = {"day": day, "time": time}


def find_booking(guest: str) -> dict[str, str]:
    """An action that raises has failed; the flow says what to do then."""
    return _book[guest.casefold()]


def cancel_booking(guest: str) -> None:
    del _book[guest.casefold()]
