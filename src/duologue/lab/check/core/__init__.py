"""The exploration of the conversation machine: its alphabet, abstraction, laws, promises and mutants."""
