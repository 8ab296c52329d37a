"""Lines: the audio connections of a conversation (browser, phone, local microphone, scripted)."""
