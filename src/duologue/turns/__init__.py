"""Turn-taking: decides whether a turn is over and whether a sound is an interruption. Pure functions and values."""
