"""Clients of the RTVI protocol, such as Pipecat's: the translation is pure, and doesn't know what carries it."""
