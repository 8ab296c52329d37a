"""Journals: conversations written down, replayed to the bit, and told as a story."""
