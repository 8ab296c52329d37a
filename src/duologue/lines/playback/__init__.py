"""The playback of a line, as a pure state machine. It knows how much of the agent's voice was sent to the client and
played, even if the client reconnects."""
