"""The agent's voice: cuts text into sentences, speaks the sentences, and records how much of them the user heard."""
