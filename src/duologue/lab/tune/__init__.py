"""Decides recorded calls again under other policies, to find a better setting."""
