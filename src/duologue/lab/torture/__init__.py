"""Servers that are killed, frozen and cut off while people talk to them, and what became of every conversation."""
