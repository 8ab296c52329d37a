"""The agent's voice: sentences as they complete, what was heard of them, and voices that speak."""
