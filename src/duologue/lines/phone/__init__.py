"""The line of a phone call: messages of the phone carriers, codecs, the order of frames, keys that the caller presses,
and playback."""
