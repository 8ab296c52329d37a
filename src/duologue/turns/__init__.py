"""Turn-taking: decides whether the user's turn is over, and whether a sound interrupts the agent. Does no I/O, except
that it reads the phrases of a language once."""
