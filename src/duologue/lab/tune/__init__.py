"""Decides recorded calls again under other turn-taking policies, to find a better setting."""
