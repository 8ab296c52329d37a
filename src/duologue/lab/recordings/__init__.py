"""Plays recordings to a whole agent in simulated time: what it decides, when and why."""
