"""WebRTC: Opus both ways, what was heard, jitter and loss. Only `peer` and `aiortc_internals` know aiortc."""
