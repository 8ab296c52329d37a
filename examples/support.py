"""What support.yaml does: functions with the names that the file uses."""

from __future__ import annotations

_CUSTOMERS = {"A123": "Ms Lovelace", "B456": "Mr Turing"}
_tickets: dict[str, str] = {}


def is_customer(customer_number: str) -> bool | str:
    return customer_number in _CUSTOMERS or "I can't find that number."


def find_customer(customer_number: str) -> dict[str, str]:
    return {"name": _CUSTOMERS[customer_number]}


async def open_ticket(customer_number: str, device: str, symptom: str, key: str) -> dict[str, str]:
    """Functions may be async. `key` stays the same when this ticket is requested again."""
    return {"ticket": _tickets.setdefault(key, f"T{len(_tickets) + 101}")}


def plan_visit(customer_number: str, visit_day: str) -> None:
    """Returns nothing: the flow says the rest."""


def find_bill(customer_number: str) -> dict[str, str | float]:
    return {"bill_amount": 39.9, "bill_due": "2025-12-31"}
