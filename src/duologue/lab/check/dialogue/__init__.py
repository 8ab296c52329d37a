"""Exploration of the dialogue machine: its alphabet, its abstraction, its laws and the domains that are explored."""
