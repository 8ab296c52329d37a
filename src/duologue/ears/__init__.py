"""Ears: speech detection, transcription and end-of-turn detection on incoming audio."""
