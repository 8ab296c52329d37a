"""Makes the turn-taking decisions of recorded calls again with other policies, to find a better setting."""
