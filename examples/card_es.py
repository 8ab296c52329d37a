"""What card_es.yaml does: functions with the names that the file uses."""

from __future__ import annotations

_blocked: set[str] = set()


def block_card(card: str, last_four: str) -> None:
    _blocked.add(last_four)


def unblock_card(card: str, last_four: str) -> None:
    _blocked.discard(last_four)


def send_card(card: str, address: str) -> None:
    """Orders a new card; a real one would call the bank's system."""
