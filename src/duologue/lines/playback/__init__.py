"""The pure playback machine of a line: how much of the agent's voice a client, which may reconnect, has got and
played."""
