"""The functions that flights.yaml uses. The file calls them by their names."""

from __future__ import annotations

import asyncio
import hashlib


def is_another_city(destination: str, origin: str = "") -> bool | str:
    """Check that the destination differs from the origin. Returns True, or the text that the agent says if they are the
    same."""
    return destination != origin or f"You are in {destination} already."


def is_party(passengers: int) -> bool | str:
    return 1 <= passengers <= 9 or "I can book for one to nine people."


async def book(origin: str, destination: str, departure_date: str, passengers: int, key: str) -> dict[str, str]:
    """Book a flight. Calls with the same key are the same booking, so a retry doesn't book a second time. This demo
    always finds a free seat."""
    await asyncio.sleep(1.5)  # simulates the airline's system
    return {"booking_ref": f"BK{int(hashlib.sha256(key.encode()).hexdigest(), 16) % 10_000:04d}"}


def look_up() -> dict[str, str]:
    return {"status": "Your flight is on time."}
