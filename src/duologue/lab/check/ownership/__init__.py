"""Explores who owns a stored conversation: two nodes, one conversation, and a store that fails."""
