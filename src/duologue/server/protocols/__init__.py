"""The code that all protocols of other projects (OpenAI Realtime, RTVI) share: admission, limits, queues, and a
conversation whose events are translated for the client."""
