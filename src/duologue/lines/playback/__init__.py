"""What a client that may reconnect has, plays and has heard of the agent's voice: a pure machine of one line."""
