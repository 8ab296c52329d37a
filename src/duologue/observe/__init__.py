"""Observing a conversation: steps, states, metrics, labels, journals and telemetry."""
