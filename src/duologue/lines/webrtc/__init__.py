"""The line over WebRTC: sends and receives sound as Opus, counts how much of the agent's sound was heard, and handles
late and lost packets. Only the modules `peer` and `aiortc_internals` use aiortc."""
