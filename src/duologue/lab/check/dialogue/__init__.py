"""The dialogue machine, explored: its alphabet, its abstraction, its laws and the domains that are visited."""
