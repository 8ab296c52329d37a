"""What trains.yaml does: functions with the names that the file uses."""

from __future__ import annotations

from typing import Any

TRAINS = {
    "Chicago": [
        {"value": "T100", "label": "the train at 9:30", "also": ["nine thirty"], "minutes": 210, "price": 48},
        {"value": "T120", "label": "the train at 11:15", "also": ["eleven fifteen"], "minutes": 190, "price": 62},
        {"value": "T180", "label": "the night train", "minutes": 400, "price": 39},
    ],
    "Boston": [{"value": "T7", "label": "the train at noon", "minutes": 95, "price": 25}],
}


def search_trains(city: str, day: str) -> dict[str, list[dict[str, Any]]]:
    return {"found": TRAINS.get(city, [])}


def buy_ticket(city: str, day: str, train: str, passenger: str, key: str) -> None:
    """Buys the ticket; a real one would call the railway, with the key against double bookings."""
