"""The conversation machine, explored: its alphabet, its abstraction, its laws and promises, and its mutants."""
