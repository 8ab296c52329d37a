"""Dialogue: decides what a user message means for a flow. It is pure: it uses no clock, network or model."""
