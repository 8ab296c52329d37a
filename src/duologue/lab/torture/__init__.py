"""Torture runs: kills, freezes and disconnects real servers during conversations, then checks every conversation."""
