"""Plays recordings to a whole agent in simulated time, and records what it decides, when and why."""
