"""Recordings, heard by a whole agent in simulated time: what it would have decided, when and why."""
