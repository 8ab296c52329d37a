"""WebRTC: Opus in both directions, what was heard, jitter and loss. Only `peer` and `aiortc_internals` use aiortc."""
