"""Observes a conversation: its steps, states, metrics, labels, journals and telemetry."""
