"""What parcel_es.yaml does: functions with the names that the file uses."""

from __future__ import annotations


def order_pickup(from_city: str, to_city: str, size: str, weight: float, day: str) -> None:
    """Orders the pickup; a real one would call the carrier."""


def find_parcel(tracking_number: str) -> dict[str, str]:
    return {"place": "Valencia"}
