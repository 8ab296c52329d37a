"""Which node has a stored conversation: a pure machine for one conversation on one node."""
