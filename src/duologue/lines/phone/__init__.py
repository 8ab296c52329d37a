"""A telephone call as a line: its codecs, the order of its frames, its keys, its sound."""
