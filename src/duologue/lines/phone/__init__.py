"""The line of a phone call: carriers' messages, codecs, frame order, keys and playback."""
