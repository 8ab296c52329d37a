"""The line over WebRTC: sound as Opus in both directions, how much of it was heard, and what to do about late and lost
packets. Only `peer` and `aiortc_internals` use aiortc."""
