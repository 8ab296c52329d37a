"""What flights.yaml does: functions with the names that the file uses."""

from __future__ import annotations


def is_another_city(destination: str, origin: str = "") -> bool | str:
    """The destination must differ from the origin."""
    return destination != origin or f"You are in {destination} already."


def search_flights(origin: str, destination: str, departure_date: str) -> dict[str, str]:
    """Find a flight and book it. This example always finds one."""
    return {"booking_ref": "BK-98765"}
