"""What dentist_de.yaml does: functions with the names that the file uses."""

from __future__ import annotations

_visits: dict[str, str] = {}


def book_visit(patient: str, birthday: str, reason: str, insurance: str, day: str, time: str) -> None:
    _visits[patient.casefold()] = f"{day}T{time}"


def move_visit(patient: str, day: str) -> None:
    _visits[patient.casefold()] = day
