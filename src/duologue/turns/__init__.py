"""Turn-taking: decides whether the user's turn is over, and whether a sound interrupts the agent. The only I/O is that
the phrases of a language are read from a file, one time for each language."""
