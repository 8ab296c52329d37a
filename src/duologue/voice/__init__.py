"""The agent's voice: cuts text into sentences, speaks them, and records how much of them was heard."""
