"""Explores state machines: checks every law in every reachable state, with a shortest trace to each violation."""
