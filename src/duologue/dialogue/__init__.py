"""Dialogue: decides what a user message means for a flow. Pure: no clock, network or model."""
