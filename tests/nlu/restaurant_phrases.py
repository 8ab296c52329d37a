"""Phrases of three intents, and messages with the intent of each."""

from __future__ import annotations

PHRASES = [
    ("book a table", "reserve a table for two", "I need a table tonight"),
    ("cancel my booking", "call off the reservation", "I can't come tonight"),
    ("what is on the menu", "do you have soup", "which dishes are there"),
]
ASKED = [("a table for six", 0), ("please cancel the reservation", 1), ("which soup is on the menu", 2)]
