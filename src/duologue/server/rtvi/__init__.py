"""A server for clients of the RTVI protocol, such as Pipecat's clients. The translation of the protocol is pure, and is
the same for WebSockets and WebRTC."""
