"""Exploring machines: every reachable state, every law, the shortest trace to any violation."""
