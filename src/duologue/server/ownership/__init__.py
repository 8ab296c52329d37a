"""Which node (server process) owns a stored conversation: a pure state machine for one conversation on one node."""
