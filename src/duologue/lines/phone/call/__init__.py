"""The state machine of a telephone call, as pure functions. It handles what happens around the agent's conversation:
dialling, answering machines, hold and transfers."""
