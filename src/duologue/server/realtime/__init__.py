"""A server for clients of the OpenAI Realtime protocol."""
