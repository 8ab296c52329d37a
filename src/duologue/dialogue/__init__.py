"""Dialogue: what a message means for a flow. Pure; no clock, no network, no model."""
