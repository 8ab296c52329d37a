"""Servers: agents that are reached over a network."""
