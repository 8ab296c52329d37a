"""The line of a phone call: messages to and from the phone carriers, codecs, the order of frames, keys that the caller
presses, and playback."""
