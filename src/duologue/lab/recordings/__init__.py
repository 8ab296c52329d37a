"""Plays recordings to a complete agent in simulated time, and records what it decides, when and why."""
