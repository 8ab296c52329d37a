"""Conversations on a simulated clock, without services: scripts play the world around the machine."""
